import fc from 'fast-check';
import { expect, test } from 'vitest';
import { agreedBounds, type RttBounds } from './agreed-bounds.ts';

const bounds = (leastMs: number, mostMs: number): RttBounds => ({ leastMs, mostMs });
const interval = fc
  .tuple(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 0, max: 300 }))
  .map(([leastMs, wideMs]) => bounds(leastMs, leastMs + wideMs));

test('bounds that agree leave what all of them allow', () => {
  expect(agreedBounds([bounds(10, 100), bounds(20, 150), bounds(5, 90)], 'nearest')).toEqual(bounds(20, 90));
  expect(agreedBounds([bounds(10, 20), bounds(20, 30)], 'nearest')).toEqual(bounds(20, 20));
  expect(agreedBounds([], 'nearest')).toBeUndefined();
});

test('who contradicts two that agree is outvoted, and of two that contradict each other the asker says who counts', () => {
  for (const lie of [bounds(0, 1), bounds(900, 1000)])
    expect(agreedBounds([lie, bounds(80, 120), bounds(90, 150)], 'nearest')).toEqual(bounds(90, 120));
  const two = [bounds(1, 2), bounds(80, 120)];
  expect(agreedBounds(two, 'furthest')).toEqual(bounds(80, 120));
  expect(agreedBounds(two, 'nearest')).toEqual(bounds(1, 2));
});

test('one that lies among several that tell the truth leads nowhere that none of them allows', () => {
  const truth = fc.integer({ min: 1, max: 300 });
  const around = fc.array(fc.tuple(fc.nat(100), fc.nat(100)), { minLength: 2, maxLength: 6 });
  fc.assert(
    fc.property(truth, around, interval, fc.constantFrom('nearest', 'furthest'), (rtt, wide, lie, split) => {
      const honest = wide.map(([below, above]) => bounds(rtt - below, rtt + above));
      const found = agreedBounds([...honest, lie], split);
      const isAllowed = honest.some(
        ({ leastMs, mostMs }) => leastMs <= (found?.leastMs ?? 0) && (found?.mostMs ?? 0) <= mostMs,
      );
      expect(isAllowed).toBe(true);
    }),
  );
});
