import { expect, it } from 'vitest';
import { TimesLeft } from './time-left.ts';

const at = (
  times: TimesLeft,
  seconds: number,
  bytesReceived: number,
  totalBytes: number | undefined = 1_000,
) => times.of({ key: 'a', bytesReceived, totalBytes, predictedSeconds: 20 }, seconds * 1_000);

it('counts the prediction down by what has come, until it has watched for two seconds', () => {
  const times = new TimesLeft();
  expect(at(times, 0, 0)).toBe(20);
  expect(at(times, 1, 500)).toBe(10);
});

it('goes by what came in the last ten seconds from then on', () => {
  const times = new TimesLeft();
  at(times, 0, 0);
  expect(at(times, 2, 100)).toBeCloseTo(18);
  at(times, 9, 100);
  // The 100 bytes of long ago count no more.
  expect(at(times, 19, 600)).toBeCloseTo(8);
});

it('knows no end while nothing comes, and none of a file without a length', () => {
  const times = new TimesLeft();
  at(times, 0, 300);
  expect(at(times, 3, 300)).toBe(Infinity);
  expect(
    times.of({ key: 'b', bytesReceived: 1, totalBytes: undefined, predictedSeconds: 1 }, 0),
  ).toBeUndefined();
});
