import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecentRate } from './recent-rate.ts';

test('a rate is what came in the last ten seconds, whenever it came', () => {
  const steps = fc.array(fc.record({ pause: fc.nat(15), bytes: fc.nat(1_000_000) }), { maxLength: 50 });
  fc.assert(
    fc.property(steps, fc.nat(15), (notes, rest) => {
      let now = 1_700_000_000;
      const rate = new RecentRate(() => now);
      const noted: { at: number; bytes: number }[] = [];
      for (const { pause, bytes } of notes) {
        now += pause;
        rate.note('a', bytes);
        noted.push({ at: now, bytes });
      }
      now += rest;
      const recent = noted.filter(({ at }) => now - at < 10).reduce((sum, { bytes }) => sum + bytes, 0);
      expect(rate.of('a')).toBe((recent * 8) / 10);
      expect(rate.of('b')).toBe(0);
    }),
  );
});

test('who rests is forgotten', () => {
  let now = 100;
  const rate = new RecentRate(() => now);
  for (const key of ['a', 'b', 'c']) rate.note(key, 1);
  now += 10;
  rate.note('b', 1);
  expect(rate.size).toBe(1);
});

test('a clock that is set back neither loses nor keeps for ever', () => {
  let now = 1000;
  const rate = new RecentRate(() => now);
  rate.note('a', 10);
  now = 998;
  rate.note('a', 10);
  expect(rate.of('a')).toBe(16);
  now = 500;
  rate.note('a', 30);
  expect(rate.of('a')).toBe(24);
  now = 510;
  expect(rate.of('a')).toBe(0);
});
