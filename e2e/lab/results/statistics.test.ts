import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RandomStream } from '../emulator/random-stream.ts';
import {
  mean,
  meanInterval,
  median,
  medianInterval,
  quantile,
  ratioOfMedians,
  stratifiedMeanInterval,
} from './statistics.ts';

const values = fc.array(fc.double({ min: 0.1, max: 1000, noNaN: true }), { minLength: 1, maxLength: 40 });

describe('quantiles', () => {
  it('agree with the textbook', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(quantile([1, 2, 3, 4, 5], 0.25)).toBe(2);
    expect(quantile([10], 0.9)).toBe(10);
    expect(median([])).toBeNaN();
  });
});

describe('the interval of a mean', () => {
  it('agrees with a worked example', () => {
    // Variance 32/7, standard error 0.7559, t for 7 degrees 2.365.
    const { value, low, high } = meanInterval([2, 4, 4, 4, 5, 5, 7, 9]);
    expect(value).toBe(5);
    expect(low).toBeCloseTo(3.2125, 3);
    expect(high).toBeCloseTo(6.7875, 3);
  });

  it('goes on smoothly where the table ends', () => {
    const half = (count: number) => {
      const alternating = Array.from({ length: count }, (_, at) => (at % 2 === 0 ? 1 : -1));
      const { low, high } = meanInterval(alternating);
      return ((high - low) / 2) * Math.sqrt(count - 1);
    };
    expect(half(32)).toBeCloseTo(2.0395, 3);
    expect(half(121)).toBeCloseTo(1.9798, 3);
  });

  it('covers the true mean in 95 % of all samples', () => {
    const random = new RandomStream('coverage');
    let covered = 0;
    const rounds = 2000;
    for (let round = 0; round < rounds; round += 1) {
      const { low, high } = meanInterval(
        Array.from({ length: 10 }, () => random.next() + random.next() + random.next()),
      );
      if (low <= 1.5 && 1.5 <= high) covered += 1;
    }
    expect(covered / rounds).toBeGreaterThan(0.935);
    expect(covered / rounds).toBeLessThan(0.965);
  });

  it('of several levels is not widened by what lies between the levels', () => {
    const low = meanInterval([9, 10, 11]);
    const both = stratifiedMeanInterval([
      [9, 10, 11],
      [99, 100, 101],
    ]);
    expect(both.value).toBe(55);
    expect(both.high - both.low).toBeLessThan(low.high - low.low);
  });

  it('is the value itself when there is only one', () => {
    expect(meanInterval([7])).toEqual({ value: 7, low: 7, high: 7 });
  });
});

describe('the interval of a median', () => {
  it('takes the order statistics of the published tables', () => {
    const upTo = (n: number) => Array.from({ length: n }, (_, at) => at + 1);
    expect(medianInterval(upTo(6))).toMatchObject({ low: 1, high: 6 });
    expect(medianInterval(upTo(10))).toMatchObject({ low: 2, high: 9 });
    expect(medianInterval(upTo(30))).toMatchObject({ low: 10, high: 21 });
    expect(medianInterval(upTo(10)).coverage).toBeCloseTo(0.9785, 4);
  });

  it('says how little a few values are worth', () => {
    expect(medianInterval([5, 1, 3])).toEqual({ value: 3, low: 1, high: 5, coverage: 0.75 });
    expect(medianInterval([2]).coverage).toBe(0);
  });

  it('holds the median and promises 95 % from six values on', () => {
    fc.assert(
      fc.property(values, (sample) => {
        const { value, low, high, coverage } = medianInterval(sample);
        expect(low).toBeLessThanOrEqual(value);
        expect(high).toBeGreaterThanOrEqual(value);
        if (sample.length >= 6) expect(coverage).toBeGreaterThanOrEqual(0.95);
      }),
    );
  });
});

describe('the ratio of two medians', () => {
  it('is the same each time, and lies in its interval', () => {
    fc.assert(
      fc.property(values, values, (above, below) => {
        const ratio = ratioOfMedians(above, below);
        expect(ratio).toEqual(ratioOfMedians(above, below));
        expect(ratio?.value).toBe(median(above) / median(below));
        expect(ratio?.low).toBeLessThanOrEqual((ratio?.value ?? 0) * (1 + 1e-9));
        expect(ratio?.high).toBeGreaterThanOrEqual((ratio?.value ?? 0) * (1 - 1e-9));
      }),
      { numRuns: 20 },
    );
  });

  it('is none when there is nothing to divide by', () => {
    expect(ratioOfMedians([1, 2], [])).toBeNull();
    expect(ratioOfMedians([1, 2], [0, 0, 0])).toBeNull();
  });

  it('stays a number when a few transfers failed', () => {
    const ratio = ratioOfMedians([50, 60, 0], [10, 0, 12]);
    expect(ratio?.value).toBe(5);
    expect(ratio?.low).not.toBeNaN();
    expect(ratio?.high).not.toBeNaN();
  });

  it('takes the plain mean of an empty list as no number', () => {
    expect(mean([])).toBeNaN();
  });
});
