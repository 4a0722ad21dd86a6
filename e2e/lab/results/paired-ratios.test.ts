import { describe, expect, test } from 'vitest';
import { lowEnd, medianOfRatios, type Pair } from './paired-ratios.ts';

describe('ratios within pairs', () => {
  test('see what two widely spread sides have in common', () => {
    const pairs = [10, 20, 40, 80, 160].map((below): Pair => [below * 1.1, below]);
    const ratio = medianOfRatios(pairs);
    expect(ratio?.value).toBeCloseTo(1.1);
    expect(ratio?.low).toBeCloseTo(1.1);
    expect(ratio?.high).toBeCloseTo(1.1);
    expect(ratio?.pairs).toBe(5);
  });

  test('are a median: one pair that went wrong does not decide', () => {
    const pairs: Pair[] = [
      [2, 1],
      [2.2, 1],
      [50, 1],
    ];
    expect(medianOfRatios(pairs)).toMatchObject({ value: 2.2, low: 2, high: 50 });
  });

  test('leave out a pair whose other side carried nothing', () => {
    expect(
      medianOfRatios([
        [3, 0],
        [3, 1],
      ]),
    ).toMatchObject({ value: 3, pairs: 1 });
    expect(medianOfRatios([[3, 0]])).toBeNull();
    expect(medianOfRatios([])).toBeNull();
  });

  test('are the same whenever they are computed', () => {
    const pairs = Array.from({ length: 10 }, (_, at): Pair => [at + 1, 3]);
    expect(medianOfRatios(pairs)).toEqual(medianOfRatios(pairs));
  });
});

describe('the low end', () => {
  test('is the least of few values, and says so', () => {
    expect(lowEnd([5, 3, 9])).toEqual({ value: 3, kind: 'least' });
  });

  test('is the 5th percentile of many', () => {
    const values = Array.from({ length: 101 }, (_, at) => at);
    expect(lowEnd(values)).toEqual({ value: 5, kind: 'fifth-percentile' });
  });
});
