import { describe, expect, test } from 'vitest';
import { testConfig } from '../../testing/start-master.ts';
import { LinkTable } from '../links/link-table.ts';
import { Planner } from './planner.ts';
import type { Route } from './route.ts';

/** The backbone of the first paper: 12, 12 and 4 ms round trip in a row, depots at the two places between. */
function routeOver(link: object, sizeBytes: number, lastWindowBytes = 64e6): Route {
  const stops = ['origin', 'far', 'near', 'client'];
  const rtts = [12, 12, 4];
  const links = stops.flatMap((one, start) =>
    stops.slice(start + 1).map((other, index) => ({
      between: [one, other],
      rttMs: rtts.slice(start, start + index + 1).reduce((sum, rttMs) => sum + rttMs, 0),
      windowBytes: other === 'client' ? lastWindowBytes : 64e6,
      ...link,
    })),
  );
  const config = testConfig({ links, planner: { maxDepots: 2 } });
  const planner = new Planner(config.planner, new LinkTable(config.links, 64e6));
  const depots = ['far', 'near'].map((id) => ({ id, tls: false, state: 'up' as const }));
  const planned = planner.plan({ sizeBytes, originTls: false }, depots, 0);
  if (!planned.ok) throw planned.error;
  return planned.value;
}

describe('as the paper on chained connections saw it', () => {
  test('no chain is taken where the narrowest line alone holds the download back', () => {
    for (const sizeBytes of [30e6, 100e6, 1e9])
      expect(routeOver({ rateBps: 100e6 }, sizeBytes)).toMatchObject({ decision: 'direct', chain: [] });
  });

  test('no chain is taken for a mouse', () => {
    for (const sizeBytes of [1, 1448, 5000])
      expect(routeOver({ rateBps: 1e9 }, sizeBytes).decision).toBe('direct');
  });

  test('a small window at the client is met at the depot beside it, not at the one far away', () => {
    const { decision, chain, direct, prediction } = routeOver({ rateBps: 1e9 }, 1e9, 156_000);
    expect(decision).toBe('chain');
    expect(chain[0]).toBe('near');
    expect(direct.goodputBps / 1e6).toBeCloseTo(44.6, 0);
    expect(prediction.goodputBps / 1e6).toBeCloseTo(312, 0);
  });
});
