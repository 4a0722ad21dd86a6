import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HourlyBudget } from './hourly-budget.ts';

const HOUR_MS = 3_600_000;

test('a quarter may be spent at once, and comes back within the hour', () => {
  const budget = new HourlyBudget(4000);
  expect(budget.take(600, HOUR_MS)).toBe(true);
  expect(budget.take(600, HOUR_MS)).toBe(false);
  expect(budget.take(400, HOUR_MS)).toBe(true);
  expect(budget.take(751, 1.25 * HOUR_MS)).toBe(false);
  expect(budget.take(750, 1.25 * HOUR_MS)).toBe(true);
  expect(budget.take(1001, 9 * HOUR_MS)).toBe(false);
});

test('no hour has more than its bytes', () => {
  const wish = fc.record({ afterMs: fc.nat(HOUR_MS / 4), bytes: fc.nat(800) });
  fc.assert(
    fc.property(fc.array(wish, { minLength: 50, maxLength: 100 }), (wishes) => {
      const budget = new HourlyBudget(4000);
      const spent: { atMs: number; bytes: number }[] = [];
      let atMs = HOUR_MS;
      for (const { afterMs, bytes } of wishes) {
        atMs += afterMs;
        if (budget.take(bytes, atMs)) spent.push({ atMs, bytes });
        const ofHour = spent.filter((one) => one.atMs > atMs - HOUR_MS);
        expect(ofHour.reduce((sum, one) => sum + one.bytes, 0)).toBeLessThanOrEqual(4000);
      }
    }),
  );
});

test('what is given back may be spent again, and no more than that', () => {
  const budget = new HourlyBudget(4000);
  expect(budget.take(1000, HOUR_MS)).toBe(true);
  budget.giveBack(600, HOUR_MS);
  expect(budget.take(601, HOUR_MS)).toBe(false);
  expect(budget.take(600, HOUR_MS)).toBe(true);
  budget.giveBack(5000, HOUR_MS);
  expect(budget.take(1001, HOUR_MS)).toBe(false);
});

test('a clock that is set back gives nothing back', () => {
  const budget = new HourlyBudget(4000);
  expect(budget.take(1000, HOUR_MS)).toBe(true);
  expect(budget.take(1, 0)).toBe(false);
  expect(budget.take(1, HOUR_MS / 2)).toBe(true);
});
