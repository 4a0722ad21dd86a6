import { expect, test } from 'vitest';
import { ClientTable } from './client-table.ts';

const NOW = 1_795_000_000_000;
const DAY_MS = 86_400_000;
const PREFIX = '198.51.100.0/24';
const USUAL = 3_145_728;
/** What a scale of three, of seven and none can express. */
const [SMALL_SCALE, USUAL_SCALE, UNSCALED] = [524_280, 8_388_480, 65_535];

function world() {
  const table = new ClientTable();
  return {
    tell: (depot: string, more: object, atMs = NOW) =>
      table.report(depot, { prefix: PREFIX, rttMs: 4, goodputBps: 36e6, ...more }, atMs),
    windowBytes: (atMs = NOW) => table.window(PREFIX, USUAL, atMs).likelyBytes,
    mostBytes: (atMs = NOW) => table.window(PREFIX, USUAL, atMs).mostBytes,
  };
}

test('the window of a client network is assumed until a connection shows it', () => {
  const { tell, windowBytes } = world();
  tell('d1', {});
  expect(windowBytes()).toBe(USUAL);
  tell('d1', { leastWindowBytes: 100_000, mostWindowBytes: USUAL_SCALE });
  expect(windowBytes()).toBe(USUAL);
});

test('a window that holds connections back is known within a few looks, and forgotten after a day', () => {
  const { tell, windowBytes, mostBytes } = world();
  const small = { windowBytes: 150_000, leastWindowBytes: 155_000, mostWindowBytes: USUAL_SCALE };
  tell('d1', small);
  expect(windowBytes()).toBeLessThan(300_000);
  for (let look = 0; look < 3; look += 1) tell('d1', small);
  expect(windowBytes()).toBeLessThan(220_000);
  // It may be another client's.
  expect(mostBytes()).toBe(USUAL);
  expect(windowBytes(NOW + 1.1 * DAY_MS)).toBe(USUAL);
});

test('no window is larger than its scale can express, nor taken for much less', () => {
  const { tell, windowBytes, mostBytes } = world();
  tell('d1', { mostWindowBytes: SMALL_SCALE });
  expect(mostBytes()).toBe(SMALL_SCALE);
  expect(windowBytes()).toBe(SMALL_SCALE / 2);
  for (let look = 0; look < 9; look += 1) tell('d1', { windowBytes: 70_000, mostWindowBytes: SMALL_SCALE });
  expect(windowBytes()).toBe(SMALL_SCALE / 4);
  const other = world();
  other.tell('d1', { mostWindowBytes: UNSCALED });
  expect(other.windowBytes()).toBe(UNSCALED);
});

test('who offers more shows at once that not all of a network have a small window', () => {
  for (const more of [{ leastWindowBytes: 400_000 }, { windowBytes: 150_000, leastWindowBytes: 400_000 }]) {
    const { tell, windowBytes } = world();
    for (let look = 0; look < 9; look += 1) tell('d1', { windowBytes: 150_000, leastWindowBytes: 150_000 });
    expect(windowBytes()).toBeLessThan(170_000);
    tell('d2', more);
    expect(windowBytes()).toBe(USUAL);
  }
});

test('who scales more shows at once that not all of a network have a small scale', () => {
  const { tell, windowBytes } = world();
  for (let look = 0; look < 9; look += 1) tell('d1', { mostWindowBytes: UNSCALED });
  tell('d2', { mostWindowBytes: USUAL_SCALE });
  expect(windowBytes()).toBe(USUAL);
});

test('a larger client that has left for a day is forgotten', () => {
  const { tell, windowBytes } = world();
  tell('d1', { mostWindowBytes: USUAL_SCALE });
  const later = NOW + DAY_MS + 1000;
  tell('d1', { mostWindowBytes: UNSCALED }, later);
  expect(windowBytes(later)).toBe(UNSCALED);
});

test('no depot makes a window smaller than every host can offer, or larger than is assumed', () => {
  const { tell, windowBytes } = world();
  for (let time = 0; time < 50; time += 1)
    tell('d1', { windowBytes: 0, leastWindowBytes: 0, mostWindowBytes: 0 });
  expect(windowBytes()).toBeGreaterThanOrEqual(65_535);
  const other = world();
  other.tell('d1', { windowBytes: 1e12, leastWindowBytes: 1e12, mostWindowBytes: 1e12 });
  expect(other.windowBytes()).toBe(USUAL);
});
