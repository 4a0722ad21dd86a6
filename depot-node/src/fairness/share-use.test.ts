import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ShareUse, sharesByUse, shareUplink } from './share-use.ts';

const rates = fc.double({ min: 1e6, max: 1e11, noNaN: true });
const demand = fc.oneof(fc.double({ min: 0, max: 1e11, noNaN: true }), fc.constant(Infinity), fc.constant(0));
const demands = fc.array(demand, { minLength: 1, maxLength: 200 });
const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);
/** Room for the last digits. */
const EXACT = 1e-9;

test('the shares are the whole rate and never more, and nobody is left without', () => {
  fc.assert(
    fc.property(rates, demands, (rateBps, wanted) => {
      const shares = shareUplink(rateBps, wanted);
      expect(sum(shares)).toBeLessThanOrEqual(rateBps * (1 + EXACT));
      expect(sum(shares)).toBeGreaterThanOrEqual(rateBps * (1 - EXACT));
      for (const share of shares)
        expect(share * wanted.length * 8).toBeGreaterThanOrEqual(rateBps * (1 - EXACT));
    }),
  );
});

test('whoever gets less than he wants gets as much as anybody', () => {
  fc.assert(
    fc.property(rates, demands, (rateBps, wanted) => {
      const shares = shareUplink(rateBps, wanted);
      const top = Math.max(...shares);
      const short = shares.filter((share, index) => share < (wanted[index] ?? 0) * (1 - EXACT));
      expect(Math.min(top, ...short)).toBeGreaterThanOrEqual(top * (1 - EXACT));
    }),
  );
});

test('the order of the demands does not matter', () => {
  fc.assert(
    fc.property(rates, demands, (rateBps, wanted) => {
      const backwards = shareUplink(rateBps, wanted.toReversed()).toReversed();
      for (const [index, share] of shareUplink(rateBps, wanted).entries()) {
        expect(Math.abs(share - (backwards[index] ?? 0))).toBeLessThanOrEqual(rateBps * EXACT);
      }
    }),
  );
});

test.each([
  ['all want all', [Infinity, Infinity, Infinity, Infinity], [25, 25, 25, 25]],
  ['one wants little', [10, Infinity, Infinity], [10, 45, 45]],
  ['one rests', [0, Infinity], [6.25, 93.75]],
  ['all want little', [10, 20], [45, 55]],
  ['nobody is there', [], []],
] as const)('of 100, when %s', (_, wanted, shares) => {
  expect(shareUplink(100, wanted)).toEqual(shares);
});

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
