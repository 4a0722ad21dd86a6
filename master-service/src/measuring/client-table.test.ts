import { expect, test } from 'vitest';
import { ClientTable } from './client-table.ts';

const NOW = 1_795_000_000_000;
const HOUR_MS = 3_600_000;
const PREFIX = '198.51.100.0/24';
const seen = { prefix: PREFIX, rttMs: 30, goodputBps: 4e7, sentBytes: 1e8, retransmittedBytes: 1e5 };

test('a client network is known by what transfers to it showed, for each depot by itself', () => {
  const table = new ClientTable();
  for (let report = 0; report < 5; report += 1) table.report('d1', seen, NOW);
  const { rttMs, goodputBps, lossRate } = table.distribution('d1', PREFIX, NOW);
  expect([rttMs.source, goodputBps.source, lossRate.source]).toEqual(['measured', 'measured', 'measured']);
  expect(Math.abs(rttMs.value / 30 - 1)).toBeLessThan(0.05);
  expect(Math.abs(goodputBps.value / 4e7 - 1)).toBeLessThan(0.05);
  expect(Math.abs(lossRate.value / 1e-3 - 1)).toBeLessThan(0.05);
  expect(table.distribution('d2', PREFIX, NOW).rttMs).toMatchObject({ source: 'assumed', samples: 0 });
});

test('what is known of a client network grows old', () => {
  const table = new ClientTable();
  table.report('d1', seen, NOW);
  const spreads = [0, 1, 5, 24].map(
    (hours) => table.distribution('d1', PREFIX, NOW + hours * HOUR_MS).goodputBps.spread,
  );
  expect(spreads).toEqual(spreads.toSorted((one, other) => one - other));
});

test('what clients of other networks showed tells what to expect of a new one', () => {
  const table = new ClientTable();
  for (let index = 0; index < 50; index += 1) {
    table.report('d1', { ...seen, prefix: `198.51.${index}.0/24`, goodputBps: 2e6 }, NOW);
  }
  expect(table.distribution('d1', '203.0.113.0/24', NOW).goodputBps.value).toBeLessThan(3e6);
});
