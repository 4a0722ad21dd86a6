import { CONGESTION_CONTROL_NAMES, chainSeconds, type LegEstimate } from '@longhaul/shared';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { searchChains, searchFrom } from './chain-search.ts';

const IDS = ['d1', 'd2', 'd3', 'd4'];
const LANES = [1, 2, 4, 8];

/** Legs between all ends, on which losses and windows leave much for further lanes. */
const lossyLeg = fc.record({
  rttMs: fc.double({ min: 1, max: 200, noNaN: true }),
  lossRate: fc.constantFrom(0, 0.0005, 0.005, 0.02),
  rateBps: fc.constantFrom(2e7, 1e8, 1e9),
  windowBytes: fc.constantFrom(65_536, 1_000_000, 100_000_000),
  sender: fc.constantFrom(...CONGESTION_CONTROL_NAMES),
});
const ends = ['client', 'origin', ...IDS];
const pairs = ends.flatMap((one) => ends.filter((other) => other !== one).map((other) => `${one} ${other}`));
const legs = fc
  .array(lossyLeg, { minLength: pairs.length, maxLength: pairs.length })
  .map((all) => new Map(pairs.map((pair, index) => [pair, all[index]] as const)));

describe('the search', () => {
  test('misses no chain that wins by its lanes', () => {
    fc.assert(
      fc.property(
        legs,
        fc.integer({ min: 1e5, max: 1e9 }),
        fc.integer({ min: 1, max: 4 }),
        (known, size, most) => {
          const found = searchChains({
            depots: IDS.map((id) => ({ id, tls: false })),
            maxDepots: most,
            sizeBytes: size,
            originTls: false,
            laneChoices: LANES,
            legBetween: (one, other) => known.get(`${one} ${other}`),
          });
          const all = chainsUpTo(most).map((chain) => ({ chain, seconds: secondsOf(chain, known, size) }));
          for (const entry of IDS) {
            const times = all
              .filter(({ chain }) => chain[0] === entry)
              .map(({ seconds }) => seconds)
              .toSorted((one, other) => one - other);
            const rated = found.filter(({ chain }) => chain[0] === entry);
            expect(rated).toHaveLength(Math.min(2, times.length));
            for (const [index, { seconds }] of rated.entries())
              expect(seconds).toBeCloseTo(times[index] ?? 0, 9);
          }
        },
      ),
    );
  });

  test('from one entry depot gives chains of the length that is asked for', () => {
    fc.assert(
      fc.property(legs, (known) => {
        const space = {
          depots: IDS.map((id) => ({ id, tls: false })),
          maxDepots: 3,
          sizeBytes: 1e8,
          originTls: false,
          laneChoices: [1],
          legBetween: (one: string, other: string) => known.get(`${one} ${other}`),
        };
        for (const { chain } of searchFrom(space, 'd2', 2)) {
          expect(chain[0]).toBe('d2');
          expect(chain.length).toBeGreaterThan(1);
        }
      }),
    );
  });
});

function chainsUpTo(most: number): string[][] {
  const longer = (chain: string[]): string[][] => [
    ...(chain.length > 0 ? [chain] : []),
    ...(chain.length < most
      ? IDS.filter((id) => !chain.includes(id)).flatMap((id) => longer([...chain, id]))
      : []),
  ];
  return longer([]);
}

/** With the least number of lanes whose time is within 3 % of the best. */
function secondsOf(
  chain: readonly string[],
  known: ReadonlyMap<string, LegEstimate | undefined>,
  sizeBytes: number,
): number {
  const stops = ['client', ...chain, 'origin'];
  const all = stops.slice(1).flatMap((stop, index) => known.get(`${stops[index]} ${stop}`) ?? []);
  const noTls = { clientTls: false, originTls: false };
  const times = LANES.map((lanes) => chainSeconds(all, sizeBytes, noTls, lanes));
  return times.find((time) => time <= 1.03 * Math.min(...times)) ?? 0;
}
