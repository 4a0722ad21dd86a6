import { describe, expect, it } from 'vitest';
import type { Download } from '../browser/download.ts';
import { download, NOW_MS } from '../testing/fake-downloads.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { DirectWatch } from './direct-watch.ts';

const STARTED = { id: 1, startedAtMs: NOW_MS };
const whole = download({ state: 'complete', totalBytes: 50_000_000 });

function watch(
  area = memoryArea(),
  get: (id: number) => Promise<Download | undefined> = async () => download(),
) {
  return new DirectWatch({ area, downloads: { get }, now: () => NOW_MS + 40_000 });
}

it('measures a direct download from its start to its end, though the background was unloaded meanwhile', async () => {
  const area = memoryArea();
  await watch(area).begin(STARTED, 'job-1', 'https://master.example');
  const later = watch(area);
  expect(await later.follow(download())).toBeUndefined();
  expect(await later.follow(whole)).toEqual({
    master: 'https://master.example',
    report: { jobId: 'job-1', verdict: 'worked', measured: { bytes: 50_000_000, seconds: 40 } },
  });
  expect(await later.follow(whole)).toBeUndefined();
});

it.each([
  ['was paused', download({ paused: true })],
  ['broke', download({ state: 'interrupted', error: 'NETWORK_FAILED' })],
])('measures none that %s on its way', async (_how, seen) => {
  const own = watch();
  await own.begin(STARTED, 'job-1', 'https://master.example');
  await own.follow(seen);
  expect(await own.follow(whole)).toBeUndefined();
});

describe('of downloads that run beside each other', () => {
  const begin = async (own: DirectWatch, ...startedAfterMs: number[]) => {
    for (const [index, afterMs] of startedAfterMs.entries()) {
      const started = { id: index + 1, startedAtMs: NOW_MS + afterMs };
      await own.begin(started, `job-${index + 1}`, 'https://master.example');
    }
  };
  const end = (own: DirectWatch, id: number) => own.follow({ ...whole, id });

  it('counts none that had ended before its plan was there', async () => {
    const own = watch(undefined, async (id) => (id === 1 ? whole : download()));
    await begin(own, 0, 100);
    expect(await end(own, 2)).toBeDefined();
    expect(await end(own, 1)).toBeUndefined();
  });

  it('measures none, whichever ends first', async () => {
    const own = watch();
    await begin(own, 0, 10_000);
    expect(await end(own, 1)).toBeUndefined();
    expect(await end(own, 2)).toBeUndefined();
  });

  it('measures one beside which others ran for a small part of its time', async () => {
    const own = watch();
    await begin(own, 0, 35_000);
    expect(await end(own, 2)).toBeUndefined();
    expect(await end(own, 1)).toMatchObject({ report: { jobId: 'job-1', measured: { seconds: 40 } } });
  });
});

describe('where it is woken for looks', () => {
  /** A download of 20 s, with a look at each of these times after its start, and whatever sleep lies between. */
  const measured = async (looksAfterMs: readonly number[], endsAfterMs = 20_000) => {
    const area = memoryArea();
    const asked: number[] = [];
    let nowMs = NOW_MS;
    const own = () =>
      new DirectWatch({
        area,
        downloads: { get: async () => download() },
        now: () => nowMs,
        wakeAt: (timeMs) => void asked.push(timeMs - NOW_MS),
      });
    await own().begin(STARTED, 'job-1', 'https://master.example');
    for (const afterMs of looksAfterMs) {
      nowMs = NOW_MS + afterMs;
      // The background may be another one by then.
      await own().look();
    }
    nowMs = NOW_MS + endsAfterMs;
    return { asked, seen: await own().follow(whole) };
  };

  it('measures one through which the machine was awake', async () => {
    const { asked, seen } = await measured([5_000, 10_000, 15_000]);
    expect(asked).toEqual([5_000, 10_000, 15_000, 20_000]);
    expect(seen).toMatchObject({ report: { measured: { seconds: 20 } } });
  });

  it.each([
    ['between two looks', [5_000, 25_000, 30_000], 32_000],
    ['before the first look', [20_000, 25_000], 30_000],
    ['until its end', [5_000], 25_000],
    ['while somebody set the clock back', [15_000, 5_000], 10_000],
  ])('measures none through which the machine slept %s', async (_when, looks, endsAfterMs) => {
    expect((await measured(looks, endsAfterMs)).seen).toBeUndefined();
  });

  it('measures one at whose end a look was under way', async () => {
    let nowMs = NOW_MS;
    let isLooking = (): void => undefined;
    const looking = new Promise<void>((begun) => {
      isLooking = begun;
    });
    const looked = Promise.withResolvers<Download>();
    let gets = 0;
    const own = new DirectWatch({
      area: memoryArea(),
      downloads: {
        get: async () => {
          gets += 1;
          if (gets === 1) return download();
          isLooking();
          return looked.promise;
        },
      },
      now: () => nowMs,
      wakeAt: () => undefined,
    });
    await own.begin(STARTED, 'job-1', 'https://master.example');
    nowMs += 5_000;
    const look = own.look();
    await looking;
    const seen = own.follow(whole);
    nowMs += 1;
    looked.resolve(download());
    await look;
    expect(await seen).toMatchObject({ report: { jobId: 'job-1' } });
  });

  it('looks no more once the machine has slept through all that is watched', async () => {
    expect((await measured([20_000], 21_000)).asked).toEqual([5_000]);
  });

  it('looks no more at what the user has taken out of the list, or what has ended', async () => {
    let found: Download | undefined = download();
    const asked: number[] = [];
    const own = new DirectWatch({
      area: memoryArea(),
      downloads: { get: async () => found },
      now: () => NOW_MS,
      wakeAt: (timeMs) => void asked.push(timeMs),
    });
    await own.begin(STARTED, 'job-1', 'https://master.example');
    await own.begin({ ...STARTED, id: 2 }, 'job-2', 'https://master.example');
    await own.follow(whole);
    found = undefined;
    await own.look();
    await own.look();
    expect(asked).toHaveLength(2);
  });
});

it('measures no download that no plan was asked for', async () => {
  expect(await watch().follow(whole)).toBeUndefined();
  expect(await watch().follow(undefined)).toBeUndefined();
});
