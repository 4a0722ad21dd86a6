import { describe, expect, test } from 'vitest';
import type { Scenario } from '../experiment.ts';
import { EXPERIMENTS } from '../experiments/experiments.ts';
import type { EmulatedLink } from '../network/topology.ts';
import { linkEstimates, payloadRateBps } from './link-estimates.ts';

const link = (first: string, second: string, rttMs: number, more: Partial<EmulatedLink> = {}) => ({
  between: [first, second] as const,
  rttMs,
  rateBps: 100e6,
  queue: { bytes: 500_000 },
  ...more,
});

/** Origin, depot and client in a row, and a second depot beside the first on a cable. */
const SCENARIO: Scenario = {
  id: 'line',
  label: 'a line',
  topology: {
    name: 'a line',
    sites: {
      origin: { role: 'origin' },
      depot: { role: 'depot', receiveBufferBytes: 1_000_000 },
      beside: { role: 'depot' },
      client: { role: 'client', receiveBufferBytes: 262_144 },
    },
    links: [
      link('origin', 'depot', 60, { loss: 0.01, backward: { loss: 0.5, rateBps: 1e6 } }),
      link('depot', 'client', 20, { loss: 0.02, rateBps: 50e6, backward: { loss: 0 } }),
      { wire: ['depot', 'beside'] },
    ],
  },
  client: 'client',
  origin: 'origin',
  depots: ['depot', 'beside'],
  sizeBytes: 1e6,
  variants: { direct: { kind: 'direct' } },
};

function estimateOf(scenario: Scenario, one: string, other: string) {
  const found = linkEstimates(scenario).filter(
    ({ between }) => between.includes(one) && between.includes(other),
  );
  expect(found).toHaveLength(1);
  return found[0];
}

describe('what the planner is told of a scenario', () => {
  test('names every two of client, origin and depots once, and nobody else', () => {
    for (const scenario of EXPERIMENTS.flatMap(({ scenarios }) => scenarios)) {
      const ends = ['client', 'origin', ...scenario.depots];
      const pairs = linkEstimates(scenario).map(({ between }) => between.toSorted().join(' '));
      expect(new Set(pairs).size).toBe(pairs.length);
      expect(pairs).toHaveLength((ends.length * (ends.length - 1)) / 2);
      expect(new Set(pairs.flatMap((pair) => pair.split(' ')))).toEqual(new Set(ends));
    }
  });

  test('adds the times of a path, takes its narrowest link, and multiplies what passes', () => {
    const direct = estimateOf(SCENARIO, 'client', 'origin');
    expect(direct?.rttMs).toBe(80);
    expect(direct?.rateBps).toBeCloseTo(payloadRateBps(50e6));
    expect(direct?.lossRate).toBeCloseTo(1 - 0.99 * 0.98);
  });

  test('is about the direction in which a download flows', () => {
    const leg = estimateOf(SCENARIO, 'depot', 'origin');
    expect(leg?.lossRate).toBeCloseTo(0.01);
    expect(leg?.rateBps).toBeCloseTo(payloadRateBps(100e6));
    expect(estimateOf(SCENARIO, 'client', 'depot')?.lossRate).toBeCloseTo(0.02);
  });

  test('has the window of the client where its buffer is known, about 0.6 of it', () => {
    expect(estimateOf(SCENARIO, 'client', 'origin')?.windowBytes).toBe(157_286);
    const { sites } = SCENARIO.topology;
    const unknown = { ...SCENARIO.topology, sites: { ...sites, client: { role: 'client' } as const } };
    expect(estimateOf({ ...SCENARIO, topology: unknown }, 'client', 'origin')).not.toHaveProperty(
      'windowBytes',
    );
  });

  test('takes a cable for fast, near and clean, but finite', () => {
    const cable = estimateOf(SCENARIO, 'depot', 'beside');
    expect(cable).toMatchObject({ rttMs: 0, lossRate: 0 });
    expect(cable?.rateBps).toBeGreaterThan(1e9);
    expect(cable?.rateBps).toBeLessThan(Number.POSITIVE_INFINITY);
  });

  test('says nothing of cross traffic', () => {
    const busy = { ...SCENARIO, crossTraffic: [{ from: 'origin', to: 'client', flows: 9 }] };
    expect(linkEstimates(busy)).toEqual(linkEstimates(SCENARIO));
  });
});

describe('the rate that is left for a file', () => {
  test('is about 94 % of the line: heads of Ethernet, IP and TCP take the rest', () => {
    expect(payloadRateBps(100e6) / 1e6).toBeGreaterThan(94);
    expect(payloadRateBps(100e6) / 1e6).toBeLessThan(96.5);
  });
});
