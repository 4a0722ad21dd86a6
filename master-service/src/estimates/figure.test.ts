import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  estimateOf,
  type Figure,
  fellFrom,
  followed,
  later,
  observed,
  type Prior,
  unfallen,
} from './figure.ts';

const HOUR_MS = 3_600_000;
const PRIOR: Prior = { value: 100, between: 1, within: 0.3, source: 'assumed' };
const estimate = (figure: Figure | undefined, passedMs = 0, prior = PRIOR) =>
  estimateOf(figure, passedMs, prior, HOUR_MS);

/** A figure of these measurements, one every second. */
function figureOf(...values: number[]): Figure | undefined {
  return values.reduce<Figure | undefined>(
    (figure, value) => observed(figure, value, 1000, HOUR_MS),
    undefined,
  );
}

describe('a figure', () => {
  test('is the one measurement there is', () => {
    expect(figureOf(40)).toEqual({ value: 40, scatter: 0, weight: 1, ageMs: 0 });
  });

  test('has the mean and the scatter of the logarithms', () => {
    const figure = figureOf(10, 20, 40, 80);
    expect(figure?.value).toBeCloseTo(Math.sqrt(20 * 40), 0);
    expect(figure?.scatter).toBeCloseTo(5 * Math.LN2 ** 2, 1);
    expect(figure?.weight).toBeCloseTo(4, 1);
  });

  test('follows what has changed within some ten measurements, however much was measured before', () => {
    const long = Array.from({ length: 10_000 }, () => 10);
    expect(figureOf(...long, ...Array.from({ length: 20 }, () => 100))?.value).toBeGreaterThan(75);
  });

  test('counts little of what is old', () => {
    const old = figureOf(10, 10, 10, 10);
    const figure = observed(old, 100, 5 * HOUR_MS, HOUR_MS);
    expect(figure.value).toBeGreaterThan(90);
    expect(figure.ageMs).toBe(0);
    expect(later(figure, 7000)).toEqual({ ...figure, ageMs: 7000 });
  });
});

describe('a figure that is followed', () => {
  const followedBy = (...values: number[]) =>
    values.reduce<Figure | undefined>((figure, value) => followed(figure, value, 1000, HOUR_MS), undefined);
  const long = Array.from({ length: 100 }, () => 300);

  test('is what two measurements in a row say, which are far off to the same side', () => {
    expect(followedBy(...long, 10)?.value).toBeGreaterThan(200);
    expect(followedBy(...long, 10, 12)?.value).toBe(12);
    expect(followedBy(...long, 9000, 2000)?.value).toBe(2000);
    expect(followedBy(...long, 10, 12, 290, 280)?.value).toBe(280);
  });

  test('has fallen from the most that it was lately, at once or little by little, until it is about that again', () => {
    const from = (...values: number[]) => {
      const figure = followedBy(...long, ...values);
      return figure && fellFrom(figure, 0, HOUR_MS);
    };
    for (const less of [[10, 12], [10, 12, 12, 4, 4], Array(20).fill(170)])
      expect([from(...less), less]).toEqual([expect.closeTo(300, -1), less]);
    for (const same of [[], [10], [10, 12, 280, 290], [900, 900], Array(20).fill(260)])
      expect([from(...same), same]).toEqual([undefined, same]);
  });

  test('has fallen from nothing once that is forgotten', () => {
    const fallen = followedBy(...long, ...Array(20).fill(170));
    const fromAfter = (hours: number) => fallen && fellFrom(fallen, hours * HOUR_MS, HOUR_MS);
    expect([fromAfter(0.5), fromAfter(1.5)]).toEqual([expect.closeTo(245, 0), undefined]);
  });

  test('is what it was before it fell, as far as that is not forgotten, where that was of something else', () => {
    const fallen = followedBy(...long, ...Array(20).fill(170), 60, 60);
    const before = fallen && unfallen(fallen, 0, HOUR_MS);
    expect(before?.value).toBeCloseTo(300, -1);
    expect(before && [fellFrom(before, 0, HOUR_MS), before.doubted]).toEqual([undefined, undefined]);
    expect(fallen && unfallen(fallen, 5 * HOUR_MS, HOUR_MS).value).toBeLessThan(65);
    const same = followedBy(...long);
    expect(same && unfallen(same, 0, HOUR_MS).value).toBeCloseTo(300);
  });

  test('is back at what it was when two measurements in a row say so, also where it had lost less than half', () => {
    const fallen = [...long, ...Array(20).fill(170)];
    expect(followedBy(...fallen, 290, 280)?.value).toBe(280);
    expect(followedBy(...fallen, 290, 200)?.value).toBeLessThan(200);
    // What it never was needs more.
    expect(followedBy(...Array(20).fill(170), 290, 280)?.value).toBeLessThan(200);
  });

  test('goes on by one measurement after the other while each is further off than the one before', () => {
    expect(followedBy(...long, 900, 3000, 9000, 9000)?.value).toBe(9000);
    expect(followedBy(...long, 100, 30, 10, 10)?.value).toBe(10);
  });

  test('is what all say where they scatter to both sides, by less than a factor of two, or now and then', () => {
    for (const noise of [
      [10, 9000],
      [160, 560],
      [10, 300, 10, 300],
    ])
      for (const value of [followedBy(...long, ...noise)?.value ?? 0])
        expect([value > 200, value < 450]).toEqual([true, true]);
  });

  test('is as slow as it grows old where less is another’s', () => {
    const before = followedBy(...long);
    const after = [10, 10, 10, 10].reduce(
      (figure, value) => followed(figure, value, 1000, HOUR_MS, 0.5),
      before,
    );
    expect(after?.value).toBeGreaterThan(290);
  });
});

describe('what is expected by a figure', () => {
  test('is the prior where nothing is measured, and again when it is old', () => {
    expect(estimate(undefined)).toEqual({
      value: 100,
      spread: Math.hypot(1, 0.3),
      ageMs: undefined,
      samples: 0,
      source: 'assumed',
    });
    const old = estimate(figureOf(10, 10, 10), 100 * HOUR_MS);
    expect(old.value).toBeCloseTo(100);
    expect(old.spread).toBeCloseTo(Math.hypot(1, 0.3));
    expect(old.source).toBe('assumed');
  });

  test('is near to what was measured, and sure as far as that agrees', () => {
    const steady = estimate(figureOf(10, 10, 10, 10, 10, 10));
    const shaky = estimate(figureOf(3, 30, 5, 18, 10, 10));
    expect(steady.value).toBeLessThan(10.5);
    expect(steady.spread).toBeLessThan(0.2);
    expect(shaky.spread).toBeGreaterThan(0.5);
    expect([steady.source, shaky.source]).toEqual(['measured', 'measured']);
  });

  test('is less sure the less is known', () => {
    const spreads = [figureOf(10, 10, 10, 10), figureOf(10, 10), figureOf(10), undefined].map(
      (figure) => estimate(figure).spread,
    );
    expect(spreads).toEqual(spreads.toSorted((one, other) => one - other));
  });

  test('is never moved from what there is no doubt of', () => {
    const fixed = { ...PRIOR, between: 0, within: 0, source: 'configured' } as const;
    expect(estimate(figureOf(10, 11), 0, fixed)).toMatchObject({ value: 100, source: 'configured' });
  });

  test('covers what comes next about as often as it says', () => {
    const measured = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), {
      minLength: 400,
      maxLength: 400,
    });
    fc.assert(
      fc.property(measured, (draws) => {
        let figure: Figure | undefined;
        let within = 0;
        for (const [index, draw] of draws.entries()) {
          // Uniform over the logarithm: 58 % lie within one standard deviation.
          const value = 50 * Math.exp(draw);
          const { value: median, spread } = estimate(figure);
          if (index >= 20 && Math.abs(Math.log(value / median)) <= spread) within += 1;
          figure = observed(figure, value, 1000, HOUR_MS);
        }
        expect(within).toBeGreaterThan(0.4 * 380);
      }),
      { numRuns: 20 },
    );
  });
});

test('one measurement moves what several others say by a fifth at most, however far it is off', () => {
  const first = observed(undefined, 100, 0, 1e9);
  const several = Array.from({ length: 5 }).reduce<Figure>((figure) => observed(figure, 100, 0, 1e9), first);
  expect(observed(several, 1e12, 0, 1e9).value).toBeCloseTo(120, 6);
  expect(observed(several, 1e-9, 0, 1e9).value).toBeCloseTo(100 / 1.2, 6);
  // A change that stays is still followed.
  const changed = Array.from({ length: 20 }).reduce<Figure>(
    (figure) => observed(figure, 400, 0, 1e9),
    several,
  );
  expect(changed.value).toBeGreaterThan(300);
});

test('stays a number, whatever is said in whatever order', () => {
  const extremes = fc.constantFrom(0, 5e-324, 1e-300, 1, 1e13, 1.7e308);
  fc.assert(
    fc.property(
      fc.array(extremes, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 1e12 }),
      (said, passedMs) => {
        let figure: Figure | undefined;
        for (const value of said) figure = observed(figure, value, passedMs, HOUR_MS);
        expect(figure?.value).toBeGreaterThan(0);
        expect(Number.isFinite(figure?.value) && Number.isFinite(figure?.scatter)).toBe(true);
        const { value, spread } = estimate(figure);
        expect(Number.isFinite(value) && Number.isFinite(spread)).toBe(true);
      },
    ),
  );
});
