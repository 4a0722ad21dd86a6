import { beforeEach, expect, test } from 'vitest';
import { OverlayClock } from './overlay-clock.ts';

const HOUR_MS = 3_600_000;
const START_MS = 1_795_000_000_000;

let wallMs: number;
let steadyMs: number;
let doubts: number[];
let sets: number[];
let clock: OverlayClock;
beforeEach(() => {
  wallMs = START_MS;
  steadyMs = 0;
  doubts = [];
  sets = [];
  clock = new OverlayClock({
    wallMs: () => wallMs,
    steadyMs: () => steadyMs,
    onDoubt: (byMs) => doubts.push(byMs),
    onSet: (byMs) => sets.push(byMs),
  });
});

function pass(ms: number): void {
  wallMs += ms;
  steadyMs += ms;
}

/** So many seconds in which each of these depots signs the time that it has, that much ahead of the right one. */
function hear(seconds: number, aheadMs: readonly number[]): void {
  for (let second = 0; second < seconds; second += 1) {
    pass(1000);
    for (const [index, ms] of aheadMs.entries()) clock.hear(`d${index}`, START_MS + steadyMs + ms);
  }
}

test('a clock that drifts, or is set by little, is followed', () => {
  for (let second = 0; second < 100; second += 1) {
    pass(1000);
    wallMs += 100;
    expect(clock.now()).toBe(wallMs);
  }
  expect(sets).toEqual([]);
  wallMs -= 4000;
  expect(clock.now()).toBe(wallMs);
  expect(sets).toEqual([-4000]);
  expect(doubts).toEqual([]);
});

test.each([6 * HOUR_MS, -6 * HOUR_MS])(
  'a clock that is set by %i ms is not followed while depots say that it is wrong, and is once it is set right',
  (byMs) => {
    wallMs += byMs;
    expect(clock.now()).toBe(START_MS);
    expect(doubts).toEqual([byMs]);
    hear(3600, [0, 300, -200]);
    expect(clock.now()).toBe(START_MS + steadyMs);
    wallMs -= byMs - 100;
    expect(clock.now()).toBe(wallMs);
    expect(clock.isInDoubt).toBe(false);
    expect(sets).toEqual([]);
  },
);

test('a clock that most depots agree with is followed, as after a sleep in which the steady one stood still', () => {
  wallMs += HOUR_MS;
  hear(5, [HOUR_MS, HOUR_MS - 50, 0]);
  expect(clock.now()).toBe(START_MS + steadyMs + HOUR_MS);
  expect(clock.isInDoubt).toBe(false);
  expect(sets).toEqual([HOUR_MS]);
});

test('neither half of the depots nor what one has signed before moves it', () => {
  wallMs += HOUR_MS;
  hear(60, [HOUR_MS, 0]);
  expect(clock.now()).toBe(START_MS + steadyMs);
  // Signed by the clock that is wrong now, and recorded.
  clock.hear('d1', START_MS + steadyMs - 1);
  pass(1000);
  expect(clock.now()).toBe(START_MS + steadyMs);
});

test('what is left of a time that was set twice is the first one', () => {
  wallMs += HOUR_MS;
  hear(10, [0]);
  wallMs += 5 * HOUR_MS;
  hear(10, [0]);
  expect(clock.now()).toBe(START_MS + steadyMs);
  expect(doubts).toEqual([HOUR_MS, 6 * HOUR_MS]);
});

test('where nobody speaks a machine has its own clock alone', () => {
  wallMs += HOUR_MS;
  clock.now();
  pass(29_000);
  expect(clock.now()).toBe(START_MS + steadyMs);
  pass(2_000);
  expect(clock.now()).toBe(wallMs);
});
