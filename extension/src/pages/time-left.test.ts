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
  expect(at(times, 0, 0)).toEqual({ secondsLeft: 20, bytesPerSecond: undefined });
  expect(at(times, 1, 500)).toEqual({ secondsLeft: 10, bytesPerSecond: undefined });
});

it('goes by what came in the last ten seconds from then on', () => {
  const times = new TimesLeft();
  at(times, 0, 0);
  expect(at(times, 2, 100)).toEqual({ secondsLeft: 18, bytesPerSecond: 50 });
  at(times, 9, 100);
  // The 100 bytes of long ago count no more.
  expect(at(times, 19, 600)).toEqual({ secondsLeft: 8, bytesPerSecond: 50 });
});

it('knows no end while nothing comes, and none of a file without a length', () => {
  const times = new TimesLeft();
  at(times, 0, 300);
  expect(at(times, 3, 300)).toEqual({ secondsLeft: Infinity, bytesPerSecond: 0 });
  expect(times.of({ key: 'b', bytesReceived: 1, totalBytes: undefined, predictedSeconds: 1 }, 0)).toEqual({
    secondsLeft: undefined,
    bytesPerSecond: undefined,
  });
});

it('begins anew with a download that was started again', () => {
  const times = new TimesLeft();
  at(times, 0, 500);
  at(times, 3, 900);
  expect(at(times, 4, 100).bytesPerSecond).toBeUndefined();
});
