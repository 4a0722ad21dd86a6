import { describe, expect, test } from 'vitest';
import { toDownload } from '../browser/download.ts';
import { plan } from '../testing/plan.ts';
import { whyNotNow } from './why-not-now.ts';

const TOTAL_BYTES = 50_000_000;

const received = (bytesReceived: number) =>
  toDownload({ id: 1, url: 'https://origin.example/file.iso', state: 'in_progress', bytesReceived });

const { prediction, direct } = plan();
const times = (calibration: number, of: typeof prediction) => ({
  ...of,
  seconds: calibration * of.seconds,
  calibration,
});

describe('a download over a chain five times as fast', () => {
  test('is taken until four fifths of it are there', () => {
    expect(whyNotNow(received(39_000_000), plan(), TOTAL_BYTES)).toBeUndefined();
    expect(whyNotNow(received(41_000_000), plan(), TOTAL_BYTES)).toBe('nearly-done');
  });

  test('is taken as long where its origin makes all chains take eight times as long as their legs say', () => {
    const slow = plan({ prediction: times(8, prediction) });
    expect(whyNotNow(received(39_000_000), slow, TOTAL_BYTES)).toBeUndefined();
    expect(whyNotNow(received(41_000_000), slow, TOTAL_BYTES)).toBe('nearly-done');
  });

  test('is taken as long where the same is predicted of the direct way', () => {
    const slow = plan({ prediction: times(4, prediction), direct: times(2, direct) });
    expect(whyNotNow(received(39_000_000), slow, TOTAL_BYTES)).toBeUndefined();
    expect(whyNotNow(received(41_000_000), slow, TOTAL_BYTES)).toBe('nearly-done');
  });
});
