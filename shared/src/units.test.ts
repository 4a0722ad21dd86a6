import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bpsOf, bytesPerMsOf, formatBytes, parseBytes, rateBpsOf, transferSeconds } from './units.ts';

test.each([
  ['734003200', 734_003_200],
  ['0', 0],
  ['700 MB', 700e6],
  ['700MB', 700e6],
  [' 1.5 GiB ', 1.5 * 2 ** 30],
  ['1,5 gb', 1.5e9],
  ['4.7G', 4.7e9],
  ['12 kB', 12_000],
  ['12 KiB', 12_288],
  ['2 TiB', 2 ** 41],
  ['900 B', 900],
  ['900 bytes', 900],
  ['1 byte', 1],
  ['700 000 000', 700e6],
])('a person may write a size as %s', (text, sizeBytes) => {
  expect(parseBytes(text)).toBe(sizeBytes);
});

test.each(['', 'MB', '-1', '1e9', '1,500 MB', '1.2.3', '5 MBit', '5 M B', '0x10', '1000 TB', '9'.repeat(30)])(
  'a size that says nothing, or several things, is none: %s',
  (text) => {
    expect(parseBytes(text)).toBeUndefined();
  },
);

test('a size that is shown can be typed in again', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 9e14 }), (sizeBytes) => {
      const again = parseBytes(formatBytes(sizeBytes)) ?? Number.NaN;
      expect(Math.abs(again - sizeBytes)).toBeLessThanOrEqual(0.05 * sizeBytes);
    }),
  );
});

test('rates, times and sizes tell the same of one transfer', () => {
  expect(rateBpsOf(125_000, 2)).toBe(500_000);
  expect(transferSeconds(125_000, 500_000)).toBe(2);
  expect(bpsOf(125_000 / 2_000)).toBe(500_000);
  expect(bytesPerMsOf(500_000)).toBe(62.5);
});
