import { expect, test } from 'vitest';
import { PauseMeter } from './pause-meter.ts';

test('a pause counts from the fault on, ends with a new byte, and the longest is kept', () => {
  const meter = new PauseMeter();
  meter.saw(10, 0);
  meter.saw(20, 9000);
  meter.begin(9100);
  expect(meter.longestMs).toBeUndefined();
  meter.saw(20, 9500);
  meter.saw(21, 9900);
  expect(meter.longestMs).toBe(800);
  meter.saw(30, 9950);
  expect(meter.longestMs).toBe(800);
  meter.saw(31, 12_000);
  expect(meter.longestMs).toBe(2050);
});

test('a client that never gets another byte has no length of a pause', () => {
  const meter = new PauseMeter();
  meter.saw(10, 0);
  meter.begin(1);
  meter.saw(10, 60_000);
  expect(meter.longestMs).toBeUndefined();
});
