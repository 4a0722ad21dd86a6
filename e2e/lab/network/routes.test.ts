import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { endsOf, nextLinks, pathBetween, siteAddresses } from './routes.ts';
import type { EmulatedLink, Topology, Wire } from './topology.ts';

const SITES = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Connected: every site after the first hangs on an earlier one, and further links join where none is yet. */
const topologies = fc
  .record({
    parents: fc.array(fc.nat(), { minLength: SITES.length - 1, maxLength: SITES.length - 1 }),
    chords: fc.array(fc.tuple(fc.nat(SITES.length - 1), fc.nat(SITES.length - 1)), { maxLength: 8 }),
    // Few different values, so that equally good ways are common; 0 stands for a wire.
    rttsMs: fc.array(fc.constantFrom(0, 0.1, 0.2, 0.3, 10), { minLength: 13, maxLength: 13 }),
    losses: fc.array(fc.constantFrom(0, 1e-3, 0.5), { minLength: 13, maxLength: 13 }),
  })
  .map(({ parents, chords, rttsMs, losses }): Topology => {
    const pairs = new Map<string, readonly [string, string]>();
    const join = (one: number, other: number) => {
      const [low, high] = [Math.min(one, other), Math.max(one, other)];
      if (low !== high) pairs.set(`${low}-${high}`, [SITES[low] ?? '', SITES[high] ?? '']);
    };
    for (const [index, parent] of parents.entries()) join(index + 1, parent % (index + 1));
    for (const [one, other] of chords) join(one, other);
    const links = [...pairs.values()].map((between, index): EmulatedLink | Wire => {
      const rttMs = rttsMs[index] ?? 0;
      if (rttMs === 0) return { wire: between };
      return { between, rttMs, rateBps: 1e6 * (index + 1), queue: { packets: 10 }, loss: losses[index] ?? 0 };
    });
    return {
      name: 'random',
      sites: Object.fromEntries(SITES.map((site) => [site, { role: 'router' }])),
      links,
    };
  });

const pairs = fc.tuple(fc.constantFrom(...SITES), fc.constantFrom(...SITES));

/** Least sum of round-trip times over all ways without a loop, by trying every one. */
function leastRttMs(topology: Topology, from: string, to: string, visited: readonly string[] = []): number {
  if (from === to) return 0;
  const ways = topology.links.flatMap((link) => {
    const [first, second] = endsOf(link);
    if (from !== first && from !== second) return [];
    const neighbour = from === first ? second : first;
    if (visited.includes(neighbour)) return [];
    const rttMs = 'wire' in link ? 0 : link.rttMs;
    return [rttMs + leastRttMs(topology, neighbour, to, [...visited, from])];
  });
  return Math.min(...ways, Number.POSITIVE_INFINITY);
}

describe('routes', () => {
  test('lead every packet to its destination over the least round-trip time', () => {
    fc.assert(
      fc.property(topologies, pairs, (topology, [from, to]) => {
        expect(pathBetween(topology, from, to).rttMs).toBeCloseTo(leastRttMs(topology, from, to), 9);
      }),
    );
  });

  test('are the same there and back', () => {
    fc.assert(
      fc.property(topologies, pairs, (topology, [from, to]) => {
        const there = pathBetween(topology, from, to);
        const back = pathBetween(topology, to, from);
        expect(back.sites).toEqual(there.sites.toReversed());
        expect(back.links).toEqual(there.links.toReversed());
      }),
    );
  });

  test('of the sites on a path go on along it', () => {
    fc.assert(
      fc.property(topologies, pairs, (topology, [from, to]) => {
        const next = nextLinks(topology);
        const { links, sites } = pathBetween(topology, from, to);
        expect(sites.slice(0, -1).map((site) => next.get(site)?.get(to))).toEqual(links);
      }),
    );
  });

  test('give every site an address of its own', () => {
    fc.assert(
      fc.property(topologies, (topology) => {
        expect(new Set(siteAddresses(topology).values()).size).toBe(SITES.length);
      }),
    );
  });
});

describe('a path', () => {
  const line: Topology = {
    name: 'line',
    sites: { a: { role: 'origin' }, b: { role: 'router' }, c: { role: 'router' }, d: { role: 'client' } },
    links: [
      {
        between: ['a', 'b'],
        rttMs: 20,
        rateBps: 100e6,
        queue: { packets: 100 },
        loss: 0.1,
        backward: { rateBps: 10e6, loss: 0 },
      },
      {
        between: ['c', 'b'],
        rttMs: 30,
        rateBps: 50e6,
        queue: { packets: 100 },
        loss: { kind: 'gilbert-elliott', toBad: 0.1, toGood: 0.3, lossInGood: 0, lossInBad: 0.8 },
      },
      { wire: ['c', 'd'] },
    ],
  };

  test('sums delays, combines losses and knows its narrowest link', () => {
    const { rttMs, lossRate, rateBps, sites } = pathBetween(line, 'a', 'd');
    expect({ rttMs, rateBps, sites }).toEqual({ rttMs: 50, rateBps: 50e6, sites: ['a', 'b', 'c', 'd'] });
    expect(lossRate).toBeCloseTo(1 - 0.9 * 0.8, 12);
  });

  test('is seen in the direction of the packets', () => {
    const { lossRate, rateBps } = pathBetween(line, 'd', 'a');
    expect(rateBps).toBe(10e6);
    expect(lossRate).toBeCloseTo(0.2, 12);
  });

  test('to the site itself costs nothing', () => {
    expect(pathBetween(line, 'a', 'a')).toMatchObject({ links: [], rttMs: 0, lossRate: 0 });
  });
});
