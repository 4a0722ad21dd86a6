import { expect, test } from 'vitest';
import { LaneGrowth, needsLanes } from './lane-growth.ts';

/** A path that loses nothing, on a line of 100 Mbit/s. */
const CLEAN = { rateBps: 90e6, worstRttMs: 20, worstLossRate: 0 };
const STEP_MS = 10;

/** Brings bytes at these rates, each for 100 ms; gives which of them made the lane want others. */
function bring(ratesMbps: readonly number[], promise = CLEAN): number | undefined {
  let clockMs = 0;
  const growth = new LaneGrowth({ planned: 8, promise, nowMs: () => clockMs });
  expect(growth.isAlone).toBe(true);
  for (const [index, mbps] of ratesMbps.entries())
    for (let ms = 0; ms < 100; ms += STEP_MS) {
      clockMs += STEP_MS;
      if (growth.noteBytes((mbps * 1e6 * STEP_MS) / 8000)) return index;
      expect(growth.isAlone).toBe(true);
    }
  return undefined;
}

const steady = (mbps: number) => Array.from({ length: 50 }, () => mbps);

test('a lane that brings what the plan promises stays alone', () => {
  expect(bring([5, 20, 80, ...steady(88)])).toBeUndefined();
});

test('a lane that grows is waited for, however little it brings at first', () => {
  expect(bring([1, 2, 4, 6, 9, 13, 18, 25, 35, 50, 65, 80, ...steady(85)])).toBeUndefined();
});

test('a lane that has found its rate and brings too little gets others', () => {
  expect(bring([5, 15, ...steady(20)])).toBeGreaterThan(3);
});

test('a lane whose rate falls for good gets others', () => {
  expect(bring([20, ...steady(90).slice(0, 20), ...steady(40)])).toBeGreaterThan(20);
});

test('a rate that falls for a moment is let rise again', () => {
  // The losses with which a connection's start ends.
  expect(bring([20, 90, 90, 90, 0.1, 0.1, 0.1, 0.1, ...steady(90)])).toBeUndefined();
});

test('time in which the client reads nothing says nothing of the lane', () => {
  let clockMs = 0;
  const growth = new LaneGrowth({ planned: 8, promise: CLEAN, nowMs: () => clockMs });
  for (let ms = 0; ms < 10_000; ms += STEP_MS) {
    clockMs += STEP_MS;
    growth.noteWaiting();
    growth.noteBytes(1000);
  }
  expect(growth.isAlone).toBe(true);
});

test.each([
  ['losses leave one connection a fifth of the plan', { ...CLEAN, worstLossRate: 2.5e-3 }, true],
  ['losses leave one connection more than half of it', { ...CLEAN, worstLossRate: 1e-4 }, false],
  ['nothing is lost', CLEAN, false],
  ['the plan does not say', undefined, true],
])('all lanes begin at once where %s: %#', (_why, promise, isNeeded) => {
  expect(needsLanes(promise)).toBe(isNeeded);
  expect(new LaneGrowth({ planned: 8, promise, nowMs: () => 0 }).isAlone).toBe(!isNeeded);
});

test('one planned lane has no others to wait for', () => {
  expect(new LaneGrowth({ planned: 1, promise: CLEAN, nowMs: () => 0 }).isAlone).toBe(false);
});
