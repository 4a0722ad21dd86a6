import { expect, it } from 'vitest';
import { NOW_MS } from '../testing/fake-downloads.ts';
import { job } from '../testing/job.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { KEPT_DOWNLOADS, NO_HISTORY, withJob } from './history.ts';
import { HistoryStore } from './history-store.ts';

const done = (patch: Parameters<typeof job>[0] = {}) =>
  job({ state: 'done', bytes: 1_000, doneAtMs: NOW_MS + 2_000, ...patch });

it('keeps the last downloads, and the sums of all', () => {
  let history = NO_HISTORY;
  for (let index = 0; index < KEPT_DOWNLOADS + 5; index += 1)
    history = withJob(history, done({ name: `${index}` }));
  expect(history.downloads).toHaveLength(KEPT_DOWNLOADS);
  expect(history.downloads[0]).toMatchObject({
    name: `${KEPT_DOWNLOADS + 4}`,
    seconds: 2,
    directSeconds: 50,
  });
  const count = KEPT_DOWNLOADS + 5;
  expect(history.totals).toEqual({
    sinceMs: NOW_MS,
    count,
    bytes: count * 1_000,
    seconds: count * 2,
    directSeconds: count * 50,
  });
});

it('counts no time of what was paused, nor what would have been saved then', () => {
  const { totals, downloads } = withJob(withJob(NO_HISTORY, done()), done({ wasPaused: true }));
  expect(totals).toMatchObject({ count: 2, bytes: 2_000, seconds: 2, directSeconds: 50 });
  expect(downloads.map(({ wasPaused }) => wasPaused)).toEqual([true, undefined]);
});

it('claims nothing of a download that came directly in the end, and keeps no address', () => {
  expect(withJob(NO_HISTORY, done({ way: 'direct' }))).toBe(NO_HISTORY);
  expect(JSON.stringify(withJob(NO_HISTORY, done()))).not.toContain('origin.example');
});

it('loses none of two that end at once, is erased as a whole, and begins anew where the storage is damaged', async () => {
  const store = new HistoryStore(memoryArea({ history: 'damaged' }));
  await Promise.all([store.add(done({ name: 'a' })), store.add(done({ name: 'b' }))]);
  expect((await store.get()).downloads.map(({ name }) => name)).toEqual(['b', 'a']);
  await store.erase();
  expect(await store.get()).toEqual(NO_HISTORY);
});

it('is empty after it was erased while a download that had ended before was being added', async () => {
  const store = new HistoryStore(memoryArea());
  await Promise.all([store.add(done()), store.erase()]);
  expect(await store.get()).toEqual(NO_HISTORY);
});
