import { describe, expect, test } from 'vitest';
import { checkScenarios } from '../run/check-scenarios.ts';
import { drawnExperiment, MOST_DRAWN } from './drawn-chains.ts';

const drawn = (seed: number, count: number) => drawnExperiment(seed, count).scenarios;

describe('drawn topologies', () => {
  test('can all be set up, whatever is drawn', () => {
    for (const seed of [1, 2, 3]) expect(() => checkScenarios(drawn(seed, MOST_DRAWN))).not.toThrow();
  });

  test('are the same for one seed, and more of them change nothing of those before', () => {
    expect(drawn(7, 5)).toEqual(drawn(7, 9).slice(0, 5));
    expect(drawn(7, 5)).not.toEqual(drawn(8, 5));
  });

  test('have one to three depots, http and https, CUBIC and BBR, and over each a direct way and a chain', () => {
    const all = drawn(1, MOST_DRAWN);
    expect(new Set(all.map(({ depots }) => depots.length))).toEqual(new Set([1, 2, 3]));
    expect(new Set(all.map(({ tls }) => tls))).toEqual(new Set([true, false]));
    const senders = all.map(({ topology }) => topology.sites['origin']?.congestionControl);
    expect(new Set(senders)).toEqual(new Set(['cubic', 'bbr']));
    for (const { variants } of all)
      expect(Object.keys(variants)).toEqual(expect.arrayContaining(['direct', 'chain']));
  });

  test('have lanes only for files for which the planner takes some', () => {
    for (const { variants, sizeBytes } of drawn(1, MOST_DRAWN)) {
      const hasLanes = Object.keys(variants).some((id) => id.startsWith('chain-lanes'));
      expect(hasLanes).toBe(sizeBytes > 4e6);
    }
  });
});
