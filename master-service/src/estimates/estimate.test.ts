import { describe, expect, test } from 'vitest';
import { combine, decayed, type Estimate, pointsOf, sumOf } from './estimate.ts';

const HOUR_MS = 3_600_000;
const PRIOR: Estimate = { value: 100, spread: 1, ageMs: undefined, samples: 0, source: 'assumed' };
const measured = (value: number, spread: number, ageMs = 0, samples = 1): Estimate => {
  return { value, spread, ageMs, samples, source: 'measured' };
};

describe('what several estimates say together', () => {
  test('lies in the middle of equals, by factors, and is surer than each', () => {
    const both = combine([measured(10, 0.2), measured(40, 0.2, 5000)]);
    expect(both.value).toBeCloseTo(20);
    expect(both.spread).toBeCloseTo(0.2 / Math.SQRT2);
    expect(both).toMatchObject({ samples: 2, ageMs: 0, source: 'measured' });
  });

  test('is near to the surer one and has its source', () => {
    const both = combine([PRIOR, measured(10, 0.1, 7000)]);
    expect(both.value).toBeGreaterThan(10);
    expect(both.value).toBeLessThan(10.3);
    expect(both).toMatchObject({ ageMs: 7000, source: 'measured' });
  });

  test('is what one says of which there is no doubt', () => {
    const fixed: Estimate = { value: 7, spread: 0, ageMs: undefined, samples: 0, source: 'configured' };
    expect(combine([fixed, measured(10, 0.1)]).value).toBeCloseTo(7);
    expect(combine([fixed]).source).toBe('configured');
  });
});

describe('an estimate that grows old', () => {
  test('is itself when it is new, and the prior in the end', () => {
    const { value, spread, ...rest } = decayed(measured(10, 0.1), PRIOR, HOUR_MS);
    expect([value, spread]).toEqual([expect.closeTo(10), expect.closeTo(0.1)]);
    expect(rest).toEqual({ ageMs: 0, samples: 1, source: 'measured' });
    const old = decayed(measured(10, 0.1, 100 * HOUR_MS), PRIOR, HOUR_MS);
    expect(old.value).toBeCloseTo(100);
    expect(old.spread).toBeCloseTo(1);
    expect(old.samples).toBeCloseTo(0);
    expect(old.source).toBe('assumed');
  });

  test('is less sure the older it is, and never less than the prior', () => {
    const spreads = [0, 0.1, 0.5, 1, 3].map((hours) => {
      return decayed(measured(10, 0.1, hours * HOUR_MS), PRIOR, HOUR_MS).spread;
    });
    expect(spreads).toEqual(spreads.toSorted((one, other) => one - other));
    expect(spreads.at(-1)).toBeLessThan(1);
  });

  test('is not made younger than new by a clock that was set back', () => {
    expect(decayed(measured(10, 0.1, -HOUR_MS), PRIOR, HOUR_MS).value).toBeCloseTo(10);
  });

  test('stays when nothing of it is measured', () => {
    expect(decayed(PRIOR, measured(1, 1), 1)).toEqual(PRIOR);
  });
});

describe('a sum of estimates', () => {
  test('of which there is no doubt is their sum', () => {
    expect(sumOf([measured(10, 0, 1000, 5), measured(30, 0, 2000, 3)])).toEqual({
      value: 40,
      spread: 0,
      ageMs: 2000,
      samples: 3,
      source: 'derived',
    });
  });

  test('has the mean and the variance of the sum', () => {
    const { value, spread } = sumOf([measured(10, 0.5), measured(30, 0.3)]);
    const mean = 10 * Math.exp(0.125) + 30 * Math.exp(0.045);
    const variance =
      (10 * Math.exp(0.125)) ** 2 * Math.expm1(0.25) + (30 * Math.exp(0.045)) ** 2 * Math.expm1(0.09);
    expect(value * Math.exp(spread ** 2 / 2)).toBeCloseTo(mean);
    expect((value * Math.exp(spread ** 2 / 2)) ** 2 * Math.expm1(spread ** 2)).toBeCloseTo(variance);
  });
});

describe('the points of an estimate', () => {
  test('have its mean, its variance and its skewness of logarithms', () => {
    const points = pointsOf(measured(10, 0.4));
    const moment = (power: number) =>
      points.reduce((sum, { value, weight }) => sum + weight * Math.log(value / 10) ** power, 0);
    expect(moment(0)).toBeCloseTo(1);
    expect(moment(1)).toBeCloseTo(0);
    expect(moment(2)).toBeCloseTo(0.16);
    expect(moment(4)).toBeCloseTo(3 * 0.4 ** 4);
  });

  test('are one where there is no doubt', () => {
    expect(pointsOf(measured(10, 0))).toEqual([{ value: 10, weight: 1 }]);
  });
});
