import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchForSlowness } from './slow-watch.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const PROMISED_BPS = 80_000_000;

/** Lets seconds pass in which the transfer grows by so many bytes each. */
function watch({ alternativeBps = PROMISED_BPS, sharedBy = (): number => 1 } = {}) {
  let bytes = 0;
  let isClientBehind = false;
  let found = 0;
  const stop = watchForSlowness({
    promisedBps: PROMISED_BPS,
    alternativeBps,
    sharedBy,
    share: 0.25,
    seconds: 10,
    bytes: () => bytes,
    isClientBehind: () => isClientBehind,
    onSlow: () => {
      found += 1;
      stop();
    },
  });
  const pass = (seconds: number, bytesEach: number, behind = false) => {
    isClientBehind = behind;
    for (let second = 0; second < seconds; second += 1) {
      bytes += bytesEach;
      vi.advanceTimersByTime(1000);
    }
    return found;
  };
  return { pass, stop };
}
/** A tenth of the plan's rate, and all of it. */
const SLOW_BYTES = 1_000_000;
const FAST_BYTES = 10_000_000;

test('a transfer far below its plan for ten seconds is too slow, its start not counted', () => {
  const { pass } = watch();
  expect(pass(12, SLOW_BYTES)).toBe(0);
  expect(pass(1, SLOW_BYTES)).toBe(1);
});

test('a good second in between begins the count anew', () => {
  const { pass } = watch();
  pass(12, SLOW_BYTES);
  pass(1, FAST_BYTES);
  expect(pass(9, SLOW_BYTES)).toBe(0);
  expect(pass(1, SLOW_BYTES)).toBe(1);
});

test('seconds in which the client is behind do not count', () => {
  const { pass } = watch();
  pass(10, SLOW_BYTES);
  expect(pass(600, 0, true)).toBe(0);
  expect(pass(3, SLOW_BYTES)).toBe(1);
});

test('there is no reason to leave when nothing promises twice as much', () => {
  const { pass } = watch({ alternativeBps: SLOW_BYTES * 8 * 1.9 });
  expect(pass(60, SLOW_BYTES)).toBe(0);
});

test('one of several connections is held to its share of the promise, as many as there are just then', () => {
  let connections = 6;
  const { pass } = watch({ sharedBy: () => connections });
  expect(pass(60, FAST_BYTES / 6), 'a sixth of the promise, by one of six').toBe(0);
  connections = 1;
  expect(pass(9, FAST_BYTES / 6), 'as much, by the only one left').toBe(0);
  expect(pass(1, FAST_BYTES / 6)).toBe(1);
});

test('what another way promises is shared as well', () => {
  const { pass } = watch({ sharedBy: () => 6 });
  expect(pass(60, SLOW_BYTES / 6), 'a tenth of its share, and the other way promises ten times that').toBe(1);
  const { pass: passSlower } = watch({ sharedBy: () => 6, alternativeBps: SLOW_BYTES * 8 * 1.9 });
  expect(passSlower(60, SLOW_BYTES / 6)).toBe(0);
});
