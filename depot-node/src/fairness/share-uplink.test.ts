import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shareUplink } from './share-uplink.ts';

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
