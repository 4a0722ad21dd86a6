import { expect, test } from 'vitest';
import { FullLine } from './full-line.ts';

const NOW = 1_795_000_000_000;
const MINUTE_MS = 60_000;

test('a line that was full carries what all had together', () => {
  const line = new FullLine();
  expect(line.mostBps(NOW)).toBeUndefined();
  line.note(3e6, 300, NOW);
  expect(line.mostBps(NOW)).toBe(9e8);
});

test('while a crowd leaves, its line is known by the height of it', () => {
  const line = new FullLine();
  line.note(3e6, 300, NOW);
  line.note(3e6, 30, NOW + 5000);
  expect(line.mostBps(NOW + 5000)).toBeGreaterThan(8e8);
});

test('once nobody is in the way of others any more, ever more is believed of the line, and then nothing of it is known', () => {
  const line = new FullLine();
  line.note(3e6, 300, NOW);
  expect(line.mostBps(NOW + MINUTE_MS)).toBe(18e8);
  expect(line.mostBps(NOW + 11 * MINUTE_MS)).toBeUndefined();
});

test('a clock that is set back holds a line for full no longer than otherwise', () => {
  const line = new FullLine();
  line.note(3e6, 300, NOW + 60 * MINUTE_MS);
  expect(line.mostBps(NOW)).toBe(9e8);
  expect(line.mostBps(NOW + MINUTE_MS)).toBe(18e8);
});
