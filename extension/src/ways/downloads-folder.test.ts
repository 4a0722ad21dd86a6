import { expect, it } from 'vitest';
import { FakeDownloads } from '../testing/fake-downloads.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { DownloadsFolder } from './downloads-folder.ts';

const USUAL = '/home/u/Downloads';

function setUp() {
  const downloads = new FakeDownloads();
  const clock = { nowMs: 0 };
  const [area, session] = [memoryArea(), memoryArea()];
  const awake = () => new DownloadsFolder({ downloads, area, session, now: () => clock.nowMs });
  return { downloads, clock, awake, folder: awake() };
}

it('learns the usual folder from a download that asks nobody, and leaves nothing of it', async () => {
  const { downloads, folder } = setUp();
  expect(await folder.is(USUAL)).toBe(true);
  expect(downloads.log).toEqual(['start http://127.0.0.1:1/ as longhaul', 'cancel 1', 'erase 1']);
  expect(downloads.items.size).toBe(0);
});

it('knows it from then on, also after a sleep', async () => {
  const { downloads, awake, folder } = setUp();
  await folder.is(USUAL);
  expect(await awake().is(USUAL)).toBe(true);
  expect(downloads.log).toHaveLength(3);
});

it('looks once for all downloads that begin meanwhile', async () => {
  const { downloads, folder } = setUp();
  const asked = [USUAL, '/home/u/Films', USUAL].map((one) => folder.is(one));
  expect(await Promise.all(asked)).toEqual([true, false, true]);
  expect(downloads.log).toHaveLength(3);
});

it('takes another folder for chosen, and looks at most every ten minutes whether it is the usual one now', async () => {
  const { downloads, clock, awake, folder } = setUp();
  expect(await folder.is('/home/u/Films')).toBe(false);
  expect(await folder.is('/home/u/Films')).toBe(false);
  expect(await awake().is('/home/u/Films'), 'after a sleep').toBe(false);
  expect(downloads.log).toHaveLength(3);
  clock.nowMs += 600_000;
  expect(await folder.is('/home/u/Films')).toBe(false);
  expect(downloads.log).toHaveLength(6);
});

it('takes nothing for the usual folder when the browser tells none', async () => {
  const { downloads, folder } = setUp();
  downloads.refused.add('http://127.0.0.1:1/');
  expect(await folder.is('')).toBe(false);
  expect(await folder.is(USUAL)).toBe(false);
});
