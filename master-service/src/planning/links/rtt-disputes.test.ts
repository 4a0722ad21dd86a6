import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ClientTable } from '../../measuring/client-table.ts';
import { masterOf } from '../../measuring/measured-by.ts';
import { OriginTable } from '../../measuring/origin-table.ts';
import { EndLinks } from './end-links.ts';
import { LinkTable } from './link-table.ts';

const NOW = 1_795_000_000_000;
const OVERLAY = { around: () => [], isUsable: () => true };
const ENDS = { client: '198.51.100.7', origin: 'origin.example' };

/** All links are 80 ms long; `liar` says that its own ones are `saysMs`. */
function overlay({ depots = 6, liar = 'd0', saysMs }: { depots?: number; liar?: string; saysMs: number }) {
  const links = new LinkTable([], 4e6);
  const [clients, origins] = [new ClientTable(), new OriginTable()];
  const ids = Array.from({ length: depots }, (_, number) => `d${number}`);
  for (const from of ids)
    for (const to of ids)
      if (from !== to)
        links.report(from, { to, rttMs: from === liar ? saysMs : 80, goodputBps: 1e8, lossRate: 0 }, NOW);
  for (const id of ids) {
    const rttMs = id === liar ? saysMs : 80;
    clients.report(id, { prefix: '198.51.100.0/24', rttMs }, NOW);
    origins.report(id, { host: ENDS.origin, rttMs }, NOW);
  }
  const ends = new EndLinks({ links, clients, origins, windowBytes: 4e6 });
  return { links, clients, between: () => ends.between(ENDS, OVERLAY, NOW) };
}

test('a depot makes no link shorter than its neighbour says', () => {
  const { links } = overlay({ depots: 3, saysMs: 8 });
  expect(links.estimate('d0', 'd1', NOW)?.rttMs).toBeCloseTo(80);
  expect(links.distribution('d1', 'd0', NOW).rttMs.value).toBeGreaterThan(70);
});

test('a depot makes no link shorter by more than a fifth than its neighbour says, however often and lately it tells', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 80 }), fc.nat(60), (rttMs, times) => {
      const { links } = overlay({ depots: 3, saysMs: 80 });
      for (let time = 0; time < times; time += 1)
        links.report('d0', { to: 'd1', rttMs }, NOW + time * 10_000);
      const atMs = NOW + times * 10_000;
      expect(links.estimate('d0', 'd1', atMs)?.rttMs).toBeGreaterThanOrEqual(80 / 1.2 - 1e-9);
      expect(links.estimate('d1', 'd0', atMs)?.rttMs).toBeGreaterThanOrEqual(80 / 1.2 - 1e-9);
    }),
  );
});

test('a depot that seems near to everybody is not believed of clients and origins either', () => {
  const view = overlay({ saysMs: 40 }).between();
  expect(view.linkedWith?.('client')).toEqual(new Set(['d1', 'd2', 'd3', 'd4', 'd5']));
  expect(view.linkedWith?.('origin')).toEqual(new Set(['d1', 'd2', 'd3', 'd4', 'd5']));
});

test('a depot whose line is full, and says that all others are far, costs nobody his belief', () => {
  const view = overlay({ saysMs: 400 }).between();
  expect(view.linkedWith?.('client')?.size).toBe(6);
});

test('a depot is believed again when its neighbours say the same', () => {
  const { links, between } = overlay({ saysMs: 40 });
  expect(links.isBelieved('d0')).toBe(false);
  for (let round = 0; round < 20; round += 1)
    for (const to of ['d1', 'd2', 'd3', 'd4', 'd5'])
      links.report('d0', { to, rttMs: 80, goodputBps: 1e8, lossRate: 0 }, NOW);
  expect(links.isBelieved('d0')).toBe(true);
  expect(between().linkedWith?.('client')?.has('d0')).toBe(true);
});

test('what the master of a site has seen of a client stands where its depot is not believed', () => {
  const { clients, between } = overlay({ saysMs: 40 });
  clients.report(masterOf('d0'), { prefix: '198.51.100.0/24', rttMs: 80 }, NOW);
  expect(between().linkedWith?.('client')?.size).toBe(6);
  expect(between().estimate('client', 'd0', NOW)?.rttMs).toBeGreaterThan(75);
  // A depot that is believed speaks for itself: it has carried downloads.
  clients.report(masterOf('d1'), { prefix: '198.51.100.0/24', rttMs: 8 }, NOW);
  expect(between().estimate('client', 'd1', NOW)?.rttMs).toBeGreaterThan(70);
});
