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
    expect(whyNotNow(received(39_000_000), plan(), TOTAL_BYTES, 0)).toBeUndefined();
    expect(whyNotNow(received(41_000_000), plan(), TOTAL_BYTES, 0)).toBe('nearly-done');
  });

  test('is taken as long where its origin makes all chains take eight times as long as their legs say', () => {
    const slow = plan({ prediction: times(8, prediction) });
    expect(whyNotNow(received(39_000_000), slow, TOTAL_BYTES, 0)).toBeUndefined();
    expect(whyNotNow(received(41_000_000), slow, TOTAL_BYTES, 0)).toBe('nearly-done');
  });

  test('is taken as long where the same is predicted of the direct way', () => {
    const slow = plan({ prediction: times(4, prediction), direct: times(2, direct) });
    expect(whyNotNow(received(39_000_000), slow, TOTAL_BYTES, 0)).toBeUndefined();
    expect(whyNotNow(received(41_000_000), slow, TOTAL_BYTES, 0)).toBe('nearly-done');
  });
});

test('a download whose origin thinks for long is not taken to have it think again', () => {
  const thinking = plan({ prediction: { ...times(3, prediction), thoughtSeconds: 20 } });
  expect(whyNotNow(received(19_000_000), thinking, TOTAL_BYTES, 0)).toBeUndefined();
  expect(whyNotNow(received(21_000_000), thinking, TOTAL_BYTES, 0)).toBe('nearly-done');
});

describe('a download that has shown how fast it is', () => {
  /** Of 50 MB, which a chain is to bring in 10 s. */
  const shown = (bytesReceived: number, seconds: number) =>
    whyNotNow(received(bytesReceived), plan(), TOTAL_BYTES, seconds);

  test('is left where its rest comes sooner than the chain brings all of it, even at half of that rate', () => {
    expect(shown(10_000_000, 1)).toBe('nearly-done');
    expect(shown(20_000_000, 1)).toBe('nearly-done');
    expect(shown(8_000_000, 1)).toBeUndefined();
  });

  test('has shown nothing by a first burst, without a length, or where nobody knows when it began', () => {
    expect(shown(10_000_000, 0.299)).toBeUndefined();
    expect(shown(10_000_000, Number.NEGATIVE_INFINITY)).toBeUndefined();
    expect(whyNotNow(received(10_000_000), plan(), undefined, 1)).toBeUndefined();
    expect(whyNotNow(received(262_143), plan(), 1_000_000, 0.3)).toBeUndefined();
  });
});
