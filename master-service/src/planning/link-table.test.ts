import { describe, expect, test } from 'vitest';
import { testConfig } from '../testing/start-master.ts';
import { LinkTable, REPORT_LIFE_MS } from './link-table.ts';

const NOW = 1_795_000_000_000;
const links = testConfig({
  links: [
    { between: ['d1', 'd2'], rttMs: 50, lossRate: 0.01, rateBps: 1e8 },
    { between: ['d2', 'd3'], rttMs: 60, rateBps: 2e8, windowBytes: 500, fixed: true },
  ],
}).links;

describe('a link', () => {
  test('is known in both directions', () => {
    const table = new LinkTable(links, 1000);
    expect(table.estimate('d1', 'd2', NOW)).toMatchObject({ rttMs: 50, windowBytes: 1000, ageMs: undefined });
    expect(table.estimate('d2', 'd1', NOW)).toEqual(table.estimate('d1', 'd2', NOW));
    expect(table.estimate('d1', 'd3', NOW)).toBeUndefined();
  });

  test('is what depots reported last, while that is fresh', () => {
    const table = new LinkTable(links, 1000);
    table.report('d1', { to: 'd2', rttMs: 70 }, NOW);
    table.report('d2', { to: 'd1', rttMs: 80, goodputBps: 9e7 }, NOW + 1000);
    expect(table.estimate('d1', 'd2', NOW + 3000)).toMatchObject({
      rttMs: 80,
      lossRate: 0.01,
      rateBps: 1e8,
      goodputBps: 9e7,
      ageMs: 2000,
    });
    expect(table.estimate('d1', 'd2', NOW + 1000 + REPORT_LIFE_MS + 1)).toMatchObject({ rttMs: 50 });
  });

  test('that is fixed is never overridden', () => {
    const table = new LinkTable(links, 1000);
    table.report('d2', { to: 'd3', rttMs: 1, goodputBps: 1 }, NOW);
    expect(table.estimate('d2', 'd3', NOW)).toMatchObject({ rttMs: 60, rateBps: 2e8, windowBytes: 500 });
  });

  test('that nobody configured needs a measured rate to be used', () => {
    const table = new LinkTable(links, 1000);
    table.report('d1', { to: 'd3', rttMs: 20 }, NOW);
    expect(table.estimate('d1', 'd3', NOW)).toBeUndefined();
    table.report('d1', { to: 'd3', rttMs: 20, goodputBps: 5e6 }, NOW);
    expect(table.estimate('d1', 'd3', NOW)).toMatchObject({ rateBps: 5e6, goodputBps: 5e6, lossRate: 0 });
  });

  test('keeps loss and goodput, which only the sending end can tell, when the other end reports without them', () => {
    const table = new LinkTable([], 1e6);
    table.report('d1', { to: 'd2', rttMs: 30, lossRate: 0.01, goodputBps: 5e7 }, 0);
    table.report('d2', { to: 'd1', rttMs: 29 }, 1000);
    expect(table.estimate('d1', 'd2', 1000)).toMatchObject({ rttMs: 29, lossRate: 0.01, goodputBps: 5e7 });
    table.report('d2', { to: 'd1', rttMs: 28 }, REPORT_LIFE_MS + 1);
    expect(table.estimate('d1', 'd2', REPORT_LIFE_MS + 1)).toBeUndefined();
  });

  test('forgets an old goodput, however often losses are reported since', () => {
    const table = new LinkTable(links, 1000);
    table.report('d1', { to: 'd2', rttMs: 30, goodputBps: 9e6 }, 0);
    for (let atMs = 0; atMs <= REPORT_LIFE_MS; atMs += 60_000) {
      table.report('d1', { to: 'd2', rttMs: 30, lossRate: 0.02 }, atMs);
    }
    expect(table.estimate('d1', 'd2', REPORT_LIFE_MS)).toMatchObject({ goodputBps: 9e6 });
    expect(table.estimate('d1', 'd2', REPORT_LIFE_MS + 1)).toMatchObject({
      lossRate: 0.02,
      goodputBps: undefined,
    });
  });

  test('forgets an old loss, however often goodput is reported since', () => {
    const table = new LinkTable(links, 1000);
    table.report('d1', { to: 'd2', rttMs: 30, lossRate: 0.3 }, 0);
    table.report('d1', { to: 'd2', rttMs: 30, goodputBps: 9e6 }, REPORT_LIFE_MS);
    expect(table.estimate('d1', 'd2', REPORT_LIFE_MS + 1)).toMatchObject({ lossRate: 0.01, goodputBps: 9e6 });
  });

  test('says how old the oldest of its figures is', () => {
    const table = new LinkTable(links, 1000);
    table.report('d1', { to: 'd2', rttMs: 30, goodputBps: 9e6 }, 0);
    table.report('d2', { to: 'd1', rttMs: 31 }, 5000);
    expect(table.estimate('d1', 'd2', 6000)).toMatchObject({ rttMs: 31, goodputBps: 9e6, ageMs: 6000 });
  });
});
