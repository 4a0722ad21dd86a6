import { expect, test } from 'vitest';
import { ShareUse, sharesByUse } from './share-use.ts';

/** A share of 8 Mbit/s is a million bytes in the second that ends with the look. */
function afterOneSecond(sentBytes: number): ShareUse {
  const use = new ShareUse(0);
  use.setShare(8e6, 0);
  use.note(sentBytes);
  use.look(1000);
  return use;
}

test('who is new, or was held back by his share, wants all he can get', () => {
  expect(new ShareUse(0).demandBps).toBe(Infinity);
  expect(afterOneSecond(1_000_000).demandBps).toBe(Infinity);
  expect(afterOneSecond(900_000).demandBps).toBe(Infinity);
});

test('who leaves a part of his share to others keeps a third above his use', () => {
  expect(afterOneSecond(300_000).demandBps).toBeCloseTo(3.2e6);
  expect(afterOneSecond(0).demandBps).toBe(0);
});

test('who had begun to use a small share fully has an equal one after the next look', () => {
  const [rested, busy] = [afterOneSecond(0), afterOneSecond(1_000_000)];
  const sharesNow = () =>
    sharesByUse(
      16e6,
      [rested, busy].map((use) => ({ use })),
    ).map(([, share]) => share);
  expect(sharesNow()).toEqual([1e6, 15e6]);
  for (const [{ use }, share] of sharesByUse(16e6, [{ use: rested }, { use: busy }])) {
    use.setShare(share, 1000);
    use.note(share / 8);
    use.look(2000);
  }
  expect(sharesNow()).toEqual([8e6, 8e6]);
});

test('a share that changes between two looks counts for the time it was held', () => {
  const use = new ShareUse(0);
  use.setShare(8e6, 0);
  use.setShare(80e6, 900);
  use.note(1_800_000);
  use.look(1000);
  expect(use.demandBps).toBe(Infinity);
});

test('a short moment is not judged, and not lost either', () => {
  const use = afterOneSecond(100_000);
  const before = use.demandBps;
  use.note(1_000_000);
  use.look(1100);
  expect(use.demandBps).toBe(before);
  use.look(2000);
  expect(use.demandBps).toBe(Infinity);
});
