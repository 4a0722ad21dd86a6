import {
  CONGESTION_CONTROL_NAMES,
  chainSeconds,
  type LegEstimate,
  secondsWithBreaks,
} from '@longhaul/shared';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LinkEstimate } from '../links/link-view.ts';
import { ChainSearch } from './chain-search.ts';
import { OverlayGraph } from './overlay-graph.ts';
import { OverlayLeg } from './overlay-leg.ts';
import { SearchSpace } from './search-space.ts';

const link = fc.record({
  rttMs: fc.oneof(fc.double({ min: 0.1, max: 300, noNaN: true }), fc.constantFrom(0, 1, 20, 20, 100)),
  lossRate: fc.constantFrom(0, 0, 0.00001, 0.0005, 0.005, 0.02, 0.2),
  rateBps: fc.oneof(fc.constantFrom(2e7, 1e8, 1e9), fc.double({ min: 1e5, max: 1e10, noNaN: true })),
  windowBytes: fc.constantFrom(20_000, 65_536, 3_145_728, 100_000_000),
  goodputBps: fc.option(fc.double({ min: 1e5, max: 1e9, noNaN: true }), { nil: undefined, freq: 4 }),
  ageMs: fc.constant(undefined),
});

interface Drawn {
  readonly ids: readonly string[];
  readonly links: ReadonlyMap<string, LinkEstimate>;
  readonly tls: readonly boolean[];
  readonly roomBps: readonly (number | undefined)[];
  readonly senders: { readonly origin: 'bbr' | 'cubic' | 'reno'; readonly depot: 'bbr' | 'cubic' | 'reno' };
  readonly question: {
    readonly maxDepots: number;
    readonly sizeBytes: number;
    readonly originTls: boolean;
    readonly laneChoices: readonly number[];
    readonly depotBreaksPerSecond: number;
  };
}

/** Any overlay of up to `most` depots, of whose links every fourth is unknown, and any download. */
function drawn(most: number): fc.Arbitrary<Drawn> {
  return fc.integer({ min: 1, max: most }).chain((count) => {
    const ids = Array.from({ length: count }, (_, index) => `d${index}`);
    const ends = ['client', 'origin', ...ids];
    const pairs = ends.flatMap((one, index) => ends.slice(index + 1).map((other) => `${one} ${other}`));
    const each = <Value>(value: fc.Arbitrary<Value>, length: number) =>
      fc.array(value, { minLength: length, maxLength: length });
    return fc.record({
      ids: fc.constant(ids),
      links: each(fc.option(link, { nil: undefined, freq: 4 }), pairs.length).map(
        (all) =>
          new Map(
            pairs.flatMap((pair, index) => {
              const known = all[index];
              return known ? [[pair, known] as const] : [];
            }),
          ),
      ),
      tls: each(fc.boolean(), count),
      roomBps: each(
        fc.option(fc.double({ min: 1e5, max: 1e9, noNaN: true }), { nil: undefined, freq: 1 }),
        count,
      ),
      senders: fc.record({
        origin: fc.constantFrom(...CONGESTION_CONTROL_NAMES),
        depot: fc.constantFrom(...CONGESTION_CONTROL_NAMES),
      }),
      question: fc.record({
        maxDepots: fc.integer({ min: 0, max: 4 }),
        sizeBytes: fc.double({ min: 0, max: 27, noNaN: true }).map((log) => Math.ceil(Math.exp(log))),
        originTls: fc.boolean(),
        laneChoices: fc.constantFrom([1], [1, 2, 4, 8], [5]),
        depotBreaksPerSecond: fc.constantFrom(0, 0, 1e-6, 1e-3),
      }),
    });
  });
}

function spaceOf({ ids, links, tls, roomBps, senders, question }: Drawn): SearchSpace {
  const estimate = (one: string, other: string) =>
    links.get(`${one} ${other}`) ?? links.get(`${other} ${one}`);
  const pairs = () => [...links.keys()].map((key) => key.split(' ') as [string, string]);
  const graph = new OverlayGraph({ estimate, pairs, onChange: () => {} }, senders);
  graph.refresh(0);
  const legTo = (one: string, other: string) => {
    const known = estimate(one, other);
    return known && new OverlayLeg(known, [one, other], senders);
  };
  const depots = ids.map((id, index) => {
    const room = roomBps[index];
    return {
      id,
      tls: tls[index] ?? false,
      client: legTo('client', id),
      origin: legTo(id, 'origin'),
      ...(room === undefined ? {} : { roomBps: room }),
    };
  });
  return new SearchSpace(graph, depots, question);
}

/** Every chain with its time, by nothing of the search. */
function everyChain({ ids, links, tls, roomBps, senders, question }: Drawn) {
  const { sizeBytes, originTls, laneChoices, depotBreaksPerSecond } = question;
  const legOf = (one: string, other: string): LegEstimate | undefined => {
    const known = links.get(`${one} ${other}`) ?? links.get(`${other} ${one}`);
    if (!known) return undefined;
    const { goodputBps, ageMs: _, ...figures } = known;
    const sender = other === 'origin' ? senders.origin : senders.depot;
    if (goodputBps === undefined) return { ...figures, sender };
    const rateBps = goodputBps >= 0.8 * known.rateBps ? goodputBps : known.rateBps;
    return { ...figures, rateBps, sender, connectionBps: goodputBps };
  };
  const chains = (length: number): string[][] =>
    length === 0
      ? [[]]
      : chains(length - 1).flatMap((chain) =>
          ids.filter((id) => !chain.includes(id)).map((id) => [...chain, id]),
        );
  return Array.from({ length: question.maxDepots }, (_, index) => chains(index + 1))
    .flat()
    .flatMap((chain) => {
      const stops = ['client', ...chain, 'origin'];
      const legs = stops.slice(1).map((stop, index) => legOf(stops[index] ?? '', stop));
      if (!legs.every((leg) => leg !== undefined)) return [];
      const clientTls = tls[ids.indexOf(chain[0] ?? '')] ?? false;
      const rooms = chain.map((id) => (roomBps[ids.indexOf(id)] ?? Number.POSITIVE_INFINITY) / 8 / 1448);
      const times = laneChoices.map((lanes) =>
        chainSeconds(legs, sizeBytes, { clientTls, originTls }, lanes, Math.min(...rooms)),
      );
      const time = times.find((one) => one <= 1.03 * Math.min(...times)) ?? 0;
      return [{ chain, seconds: secondsWithBreaks(time, chain.length * depotBreaksPerSecond) }];
    })
    .filter(({ seconds }) => seconds < Number.POSITIVE_INFINITY)
    .toSorted((one, other) => one.seconds - other.seconds);
}

function expectSameTimes(
  found: readonly { readonly seconds: number }[],
  all: readonly { readonly seconds: number }[],
): void {
  for (const [index, { seconds }] of found.entries())
    expect(Math.abs(seconds / (all[index]?.seconds ?? 0) - 1)).toBeLessThan(1e-9);
}

describe('the search for chains', () => {
  test('finds the sixteen that trying every chain finds, over any overlay and for any download', () => {
    fc.assert(
      fc.property(drawn(6), (overlay) => {
        const found = new ChainSearch(spaceOf(overlay)).best(16);
        const all = everyChain(overlay);
        expect(found).toHaveLength(Math.min(16, all.length));
        expectSameTimes(found, all);
        for (const { chain, seconds } of found) {
          const same = all.filter((one) => one.chain.join() === chain.join());
          expectSameTimes([{ seconds }], same);
        }
      }),
      { numRuns: 600 },
    );
  });

  test('finds the best one where there are many', () => {
    fc.assert(
      fc.property(drawn(9), (overlay) => {
        const [found, all] = [new ChainSearch(spaceOf(overlay)).best(1), everyChain(overlay)];
        expect(found).toHaveLength(Math.min(1, all.length));
        expectSameTimes(found, all);
      }),
      { numRuns: 60 },
    );
  });

  test('finds those with or without an entry depot, past others, and of a length', () => {
    const wish = fc.record({
      entry: fc.option(fc.constantFrom('d0', 'd1'), { nil: undefined }),
      otherEntry: fc.option(fc.constantFrom('d0', 'd2'), { nil: undefined }),
      without: fc.subarray(['d1', 'd2', 'd3']),
      minDepots: fc.integer({ min: 1, max: 3 }),
    });
    fc.assert(
      fc.property(drawn(5), wish, (overlay, { entry, otherEntry, without, minDepots }) => {
        const found = new ChainSearch(spaceOf(overlay)).best(3, {
          ...(entry === undefined ? {} : { entry }),
          ...(otherEntry === undefined ? {} : { otherEntry }),
          without,
          minDepots,
        });
        const fitting = everyChain(overlay).filter(
          ({ chain }) =>
            (entry === undefined || chain[0] === entry) &&
            (otherEntry === undefined || chain[0] !== otherEntry) &&
            !chain.some((id) => without.includes(id)) &&
            chain.length >= minDepots,
        );
        expect(found).toHaveLength(Math.min(3, fitting.length));
        expectSameTimes(found, fitting);
      }),
      { numRuns: 300 },
    );
  });
});

test('what the ways on from a depot cost at least is the least of all walks to the origin over so many depots', () => {
  fc.assert(
    fc.property(drawn(9), (overlay) => {
      const space = spaceOf(overlay);
      const { graph, question, numbers, origin } = space;
      const rowOf = (number: number) => {
        const { ends, rttSeconds, count } = graph.row(number);
        return Array.from(
          { length: count },
          (_, index) => [ends[index] ?? 0, rttSeconds[index] ?? 0] as const,
        );
      };
      const alone = new Map([...numbers].map((number) => [number, origin[number]?.rttSeconds ?? Infinity]));
      let [rounds, longest] = [alone, alone];
      for (let more = 0; more < question.maxDepots; more += 1) {
        for (const entry of space.entries) {
          expect(space.level(more).rounds[entry]).toBe(rounds.get(entry));
          expect(space.level(more).longest[entry]).toBe(longest.get(entry));
        }
        expect(space.level(more).leastRounds).toBe(Math.min(Infinity, ...rounds.values()));
        const onward = (below: Map<number, number>, join: (rtt: number, rest: number) => number) =>
          new Map(
            [...below].map(([number, least]) => {
              const over = rowOf(number).flatMap(([end, rtt]) => {
                const rest = below.get(end);
                return rest === undefined ? [] : [join(rtt, rest)];
              });
              return [number, Math.min(least, ...over)] as const;
            }),
          );
        rounds = onward(rounds, (rtt, rest) => rtt + rest);
        longest = onward(longest, (rtt, rest) => Math.max(rtt, rest));
      }
    }),
    { numRuns: 300 },
  );
});
