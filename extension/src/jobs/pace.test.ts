import { expect, it } from 'vitest';
import { isTooSlow, isWorthNewStart, type Pace, paceAt, secondsLeft, slowBps } from './pace.ts';

const PROMISED = { promisedBps: 80e6, directBps: 20e6 };

/** The paces of a job that has so many bytes after each five seconds. */
function paces(bytes: readonly number[], promised = PROMISED): readonly Pace[] {
  let pace: Pace | undefined;
  return bytes.map((now, look) => {
    pace = paceAt(pace, { atMs: look * 5_000, bytes: now }, promised);
    return pace;
  });
}

it('calls a way slow below half of its promise, and only below what direct promises', () => {
  expect(slowBps({ promisedBps: 80e6, directBps: 20e6 })).toBe(20e6);
  expect(slowBps({ promisedBps: 30e6, directBps: 20e6 })).toBe(15e6);
  expect(slowBps({})).toBe(0);
});

it('has had enough after ten slow seconds in a row, also of silence, and not after five', () => {
  const slow = 5_000_000;
  expect(paces([0, slow, 2 * slow]).map(isTooSlow)).toEqual([false, false, true]);
  expect(paces([7, 7, 7]).map(isTooSlow)).toEqual([false, false, true]);
  expect(paces([0, slow, 8 * slow, 9 * slow]).map(isTooSlow)).toEqual([false, false, false, false]);
  expect(paces([0, 4 * slow, 8 * slow, 12 * slow]).some(isTooSlow)).toBe(false);
});

it.each([
  ['closed for a minute', 60_000],
  ['closed for a night', 8 * 3_600_000],
  ['open while its clock was set back', -3_600_000],
])('says nothing of the time in which the lid was %s, and judges what comes after it', (_what, jumpMs) => {
  const first = paceAt(undefined, { atMs: 0, bytes: 0 }, PROMISED);
  let pace = paceAt(first, { atMs: jumpMs, bytes: 1_000_000 }, PROMISED);
  expect(pace).toMatchObject({ atMs: jumpMs, rateBps: undefined, slowSinceMs: undefined });
  const looks = [1, 2].map((look) => {
    pace = paceAt(pace, { atMs: jumpMs + look * 5_000, bytes: 1_000_000 + look }, PROMISED);
    return isTooSlow(pace);
  });
  expect(looks).toEqual([false, true]);
});

it('says nothing of what began anew, nor between two events', () => {
  const pace = { atMs: 0, bytes: 500, rateBps: 1, slowSinceMs: 0 };
  expect(paceAt(pace, { atMs: 20_000, bytes: 0 }, PROMISED)).toMatchObject({ slowSinceMs: undefined });
  expect(paceAt(pace, { atMs: 200, bytes: 900 }, PROMISED)).toBe(pace);
});

it('gives bytes up only for what ends in half of the time left', () => {
  const pace = { atMs: 0, bytes: 1_000_000, rateBps: 8e5, slowSinceMs: 0 };
  const left = secondsLeft(pace, 11_000_000);
  expect(left).toBe(100);
  expect([50, 51].map((seconds) => isWorthNewStart(seconds, left))).toEqual([true, false]);
  expect(secondsLeft({ ...pace, rateBps: 0 }, 11_000_000)).toBe(Number.POSITIVE_INFINITY);
});
