import { describe, expect, test } from 'vitest';
import { MATRIX } from '../experiments/matrix.ts';
import { estimateRun } from './estimate-run.ts';
import { planRun } from './plan-run.ts';

const FOUR_HOURS = 4 * 3600;

describe('the time that a run takes', () => {
  test('is told before it begins, and at most what all cuts and set-ups take', () => {
    const plan = planRun(MATRIX, { quick: false, scenarios: ['loss0-big'], variants: ['direct'], seed: 1 });
    const { likelySeconds, mostSeconds } = estimateRun(plan);
    expect(mostSeconds).toBe(5 * 12 + 5 * 1.2 + 5 * 2 + 12);
    expect(likelySeconds).toBeGreaterThan(5 * 3);
    expect(likelySeconds).toBeLessThan(mostSeconds);
  });

  test.each(Object.keys(MATRIX.sets ?? {}))('is within four hours for the set %s', (set) => {
    expect(estimateRun(planRun(MATRIX, { quick: false, set, seed: 1 })).likelySeconds).toBeLessThan(
      FOUR_HOURS,
    );
  });
});

test('each scenario of the matrix says why it is there, once', () => {
  const reasons = MATRIX.scenarios.map(({ why = '' }) => why);
  expect(reasons.filter((why) => why.length < 10)).toEqual([]);
  expect(new Set(reasons).size).toBe(reasons.length);
});
