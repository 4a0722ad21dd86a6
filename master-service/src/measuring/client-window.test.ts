import { expect, test } from 'vitest';
import { ClientTable } from './client-table.ts';

const NOW = 1_795_000_000_000;
const DAY_MS = 86_400_000;
const PREFIX = '198.51.100.0/24';
const USUAL = 3_145_728;
const seen = { prefix: PREFIX, rttMs: 4, goodputBps: 36e6 };
const windowOf = (table: ClientTable, atMs = NOW) => table.windowBytes(PREFIX, USUAL, atMs);

test('the window of a client network is assumed until a connection shows it', () => {
  const table = new ClientTable();
  table.report('d1', seen, NOW);
  expect(windowOf(table)).toBe(USUAL);
  table.report('d1', { ...seen, leastWindowBytes: 100_000, mostWindowBytes: 8_388_480 }, NOW);
  expect(windowOf(table)).toBe(USUAL);
});

test('a window that holds connections back is known from the first one on, and forgotten within days', () => {
  const table = new ClientTable();
  table.report('d1', { ...seen, windowBytes: 150_000, mostWindowBytes: 524_280 }, NOW);
  expect(Math.abs(windowOf(table) / 150_000 - 1)).toBeLessThan(0.05);
  expect(windowOf(table, NOW + 5 * DAY_MS)).toBeGreaterThan(300_000);
});

test('no window is larger than its scale can express', () => {
  const table = new ClientTable();
  table.report('d1', { ...seen, mostWindowBytes: 65_535 }, NOW);
  expect(Math.abs(windowOf(table) / 65_535 - 1)).toBeLessThan(0.06);
});

test('what one depot saw held back counts, whatever scale others saw', () => {
  const table = new ClientTable();
  table.report('d1', { ...seen, windowBytes: 150_000, mostWindowBytes: 524_280 }, NOW);
  table.report('d2', { ...seen, leastWindowBytes: 140_000, mostWindowBytes: 524_280 }, NOW);
  expect(windowOf(table)).toBeLessThan(160_000);
});

test('a client that is offering more shows that not all of its network have the small window', () => {
  const table = new ClientTable();
  table.report('d1', { ...seen, windowBytes: 150_000 }, NOW);
  table.report('d2', { ...seen, leastWindowBytes: 1_200_000 }, NOW);
  expect(windowOf(table)).toBeGreaterThan(1_000_000);
});

test('no depot makes a window smaller than every host can offer, or larger than is assumed', () => {
  const table = new ClientTable();
  for (let time = 0; time < 50; time += 1)
    table.report('d1', { ...seen, windowBytes: 0, mostWindowBytes: 0 }, NOW);
  expect(windowOf(table)).toBeGreaterThan(65_000);
  const other = new ClientTable();
  other.report('d1', { ...seen, windowBytes: 1e12, mostWindowBytes: 1e12 }, NOW);
  expect(windowOf(other)).toBe(USUAL);
});
