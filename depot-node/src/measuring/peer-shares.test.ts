import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PeerShares } from './peer-shares.ts';

const HOUR_MS = 3_600_000;
const BYTES_PER_HOUR = 20_000_000;
const LONGEST = 4_000_000;

function shares(bytesPerHour = BYTES_PER_HOUR) {
  const had = new PeerShares(bytesPerHour);
  return (depot: string, bytes: number, atMs = 0): boolean => {
    const hasRoom = had.hasRoomFor(depot, bytes, atMs);
    if (hasRoom) had.note(depot, bytes, atMs);
    return hasRoom;
  };
}

test('a depot that has had nothing lately has a test as long as any, however few bytes an hour has', () => {
  const take = shares(1000);
  expect(take('d1', LONGEST)).toBe(true);
  expect(take('d2', LONGEST)).toBe(true);
});

test('a depot that asks for the least again and again has some tests, and others theirs all the same', () => {
  const take = shares();
  const taken = Array.from({ length: 100 }, () => take('d1', 1)).filter(Boolean);
  expect(taken).toHaveLength(9);
  expect(take('d2', LONGEST)).toBe(true);
  expect(take('d1', 1, HOUR_MS / 4)).toBe(true);
});

test('a depot that keeps asking has its quarter of the bytes each hour, beside the half of that which it had at once', () => {
  const take = shares();
  const bytes = 500_000;
  const takenAt = (atMs: number) => {
    let takenBytes = 0;
    while (take('d1', bytes, atMs)) takenBytes += bytes;
    return takenBytes;
  };
  expect(takenAt(0)).toBe(BYTES_PER_HOUR / 8);
  const later = Array.from({ length: 20 }, (_, tenth) => takenAt(((tenth + 1) * HOUR_MS) / 10));
  expect(later.reduce((sum, taken) => sum + taken)).toBe((2 * BYTES_PER_HOUR) / 4);
});

test('no depot has more than a quarter of the bytes for long, and one test', () => {
  const wish = fc.record({ afterMs: fc.nat(HOUR_MS / 10), bytes: fc.integer({ min: 1, max: LONGEST }) });
  fc.assert(
    fc.property(fc.array(wish, { minLength: 100, maxLength: 200 }), (wishes) => {
      const take = shares();
      let atMs = 0;
      let bytes = 0;
      for (const { afterMs, bytes: wanted } of wishes) {
        atMs += afterMs;
        if (take('d1', wanted, atMs)) bytes += wanted;
      }
      expect(bytes).toBeLessThanOrEqual(LONGEST + (BYTES_PER_HOUR / 4) * (atMs / HOUR_MS + 1));
    }),
  );
});

test('a clock that is set back gives nothing back', () => {
  const take = shares();
  expect(take('d1', LONGEST, HOUR_MS)).toBe(true);
  expect(take('d1', 1, 0)).toBe(false);
});
