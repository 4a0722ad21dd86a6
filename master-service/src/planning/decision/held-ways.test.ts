import { expect, test } from 'vitest';
import { testConfig } from '../../testing/start-master.ts';
import { LinkTable } from '../links/link-table.ts';
import { type HeldWay, HeldWays, type WayKey } from './held-ways.ts';
import { Planner } from './planner.ts';
import type { Route } from './route.ts';

const NOW = 1_795_000_000_000;

/** Two chains of one depot each; over `d2` all takes so many times longer round trips. */
function planOver(slower: number, held?: HeldWay, direct = { rttMs: 300, lossRate: 0.001 }): Route {
  const rateBps = 1e9;
  const config = testConfig({
    links: [
      { between: ['client', 'origin'], rateBps, ...direct },
      { between: ['client', 'd1'], rttMs: 50, rateBps },
      { between: ['d1', 'origin'], rttMs: 50, rateBps },
      { between: ['client', 'd2'], rttMs: 50 * slower, rateBps },
      { between: ['d2', 'origin'], rttMs: 50 * slower, rateBps },
    ],
  });
  const table = new LinkTable(config.links, config.planner.assumptions.windowBytes);
  const depots = ['d1', 'd2'].map((id) => ({ id, tls: false, state: 'up' as const }));
  const query = { sizeBytes: 1e6, originTls: false, ...(held ? { held } : {}) };
  const planned = new Planner(config.planner, table).plan(query, depots, NOW);
  if (!planned.ok) throw planned.error;
  return planned.value;
}

const had = (chain: readonly string[], seconds = 10): HeldWay => ({ chain, seconds, sizeBytes: 1e6 });

test('a client keeps the chain that it had while another one is faster by less than a twentieth', () => {
  expect(planOver(1.02).chain).toEqual(['d1']);
  const kept = planOver(1.02, had(['d2']));
  expect(kept.chain).toEqual(['d2']);
  expect(kept.reasons.join(' ')).toContain('had this chain already');
});

test('a client leaves the chain that it had for one that is clearly faster', () => {
  expect(planOver(1.3, had(['d2'])).chain).toEqual(['d1']);
});

test('a client leaves the chain that it had for a better one as soon as that has got worse', () => {
  const before = planOver(1.02, had(['d2'])).expectedSeconds;
  expect(planOver(1.02, had(['d2'], before)).chain).toEqual(['d2']);
  expect(planOver(1.02, had(['d2'], 0.9 * before)).chain).toEqual(['d1']);
});

test('a chain that has gone is held by nobody', () => {
  expect(planOver(1.02, had(['d9'])).chain).toEqual(['d1']);
});

test('a client that has a chain leaves it for direct a little later than another one begins it', () => {
  // Somewhere between, the chain is 1.1 times faster, or nearly.
  const routes = Array.from({ length: 100 }, (_, index) => 40 + index).map((rttMs) => {
    const direct = { rttMs, lossRate: 0 };
    return {
      begun: planOver(2, undefined, direct).decision,
      kept: planOver(2, had(['d1']), direct).decision,
    };
  });
  expect(routes.some(({ begun, kept }) => begun === 'direct' && kept === 'chain')).toBe(true);
  expect(routes.some(({ begun, kept }) => begun === 'chain' && kept === 'direct')).toBe(false);
  expect(routes[0]).toEqual({ begun: 'direct', kept: 'direct' });
});

test('a way is remembered for a network, an origin and about a size, for ten minutes', () => {
  const ways = new HeldWays();
  const url = { scheme: 'https', host: 'origin.example', port: 443, path: '/a', query: null } as const;
  const key: WayKey = { address: '192.0.2.1', url, kind: 'get', sizeBytes: 1e8 };
  ways.set(key, had(['d1']), NOW);
  const like = (changes: Partial<WayKey>, nowMs = NOW) => ways.get({ ...key, ...changes }, nowMs)?.chain;
  expect(like({ address: '192.0.2.77', url: { ...url, path: '/b' }, sizeBytes: 1.1e8 })).toEqual(['d1']);
  expect(like({ address: '192.0.3.1' })).toBeUndefined();
  expect(like({ url: { ...url, host: 'other.example' } })).toBeUndefined();
  expect(like({ sizeBytes: 1e5 })).toBeUndefined();
  expect(like({}, NOW + 600_000)).toBeUndefined();
});
