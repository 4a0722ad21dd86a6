import { expect, test } from 'vitest';
import { RandomStream } from './random-stream.ts';

function numbers(text: string, count: number): number[] {
  const stream = new RandomStream(text);
  return Array.from({ length: count }, () => stream.next());
}

test('one text always gives the same numbers', () => {
  expect(numbers('1/a/forward', 100)).toEqual(numbers('1/a/forward', 100));
});

test('texts that hardly differ give streams that have nothing in common', () => {
  const COUNT = 20_000;
  const streams = ['1/a/forward', '2/a/forward', '1/b/forward', '1/a/backward'].map((text) =>
    numbers(text, COUNT),
  );
  for (const [index, one] of streams.entries()) {
    for (const other of streams.slice(index + 1)) {
      const products = one.map((value, at) => (value - 0.5) * ((other[at] ?? 0) - 0.5));
      const correlation = (12 * products.reduce((sum, value) => sum + value, 0)) / COUNT;
      expect(Math.abs(correlation)).toBeLessThan(4 / Math.sqrt(COUNT));
    }
  }
});

test('the numbers fill the range from 0 to below 1 evenly', () => {
  const COUNT = 100_000;
  const BINS = 20;
  const bins = Array.from({ length: BINS }, () => 0);
  const values = numbers('7/link/forward', COUNT);
  expect(values.filter((value) => value < 0 || value >= 1)).toEqual([]);
  for (const value of values) {
    const bin = Math.floor(value * BINS);
    bins[bin] = (bins[bin] ?? 0) + 1;
  }
  const chiSquare = bins.reduce((sum, found) => sum + (found - COUNT / BINS) ** 2 / (COUNT / BINS), 0);
  // 99.9 % point of chi-square with 19 degrees of freedom.
  expect(chiSquare).toBeLessThan(43.8);
});
