import { describe, expect, test } from 'vitest';
import type { Scenario } from '../experiment.ts';
import { EXPERIMENTS } from '../experiments/experiments.ts';
import { checkScenarios } from './check-scenarios.ts';

const GOOD: Scenario = {
  id: 'good',
  label: 'good',
  topology: {
    name: 'two links',
    sites: { web: { role: 'origin' }, middle: { role: 'depot' }, home: { role: 'client' } },
    links: [
      { between: ['web', 'middle'], rttMs: 20, rateBps: 1e8, queue: { bytes: 100_000 } },
      { between: ['middle', 'home'], rttMs: 20, rateBps: 1e8, queue: { bytes: 100_000 } },
    ],
  },
  client: 'home',
  origin: 'web',
  depots: ['middle'],
  sizeBytes: 1000,
  variants: { direct: { kind: 'direct' }, chain1: { kind: 'chain', depots: ['middle'] } },
};

describe('scenarios', () => {
  test.each(EXPERIMENTS)('of $name can be run', ({ scenarios }) => {
    expect(() => checkScenarios(scenarios)).not.toThrow();
  });

  test('are refused with every mistake, before anything is set up', () => {
    const bad: Scenario = {
      ...GOOD,
      client: 'nowhere',
      sizeBytes: 1e12,
      variants: {
        chain1: { kind: 'chain', depots: ['far'] },
        ranges0: { kind: 'ranges', connections: 0 },
      },
    };
    expect(() => checkScenarios([GOOD, bad])).toThrow(
      /^Scenario good: there is no site 'nowhere', only web, middle, home; .*sizeBytes is 1000000000000: .*chain1 names 'far'.*ranges0 has 0 connections.*two scenarios are called good\.$/,
    );
  });

  test('are refused when their cross traffic begins or ends nowhere', () => {
    expect(() =>
      checkScenarios([{ ...GOOD, crossTraffic: [{ from: 'web', to: 'moon', flows: 1 }] }]),
    ).toThrow(/moon/);
  });

  test('with rivals or chains are refused without depots', () => {
    const variants = { haproxy3: { kind: 'relays', through: 'haproxy' } } as const;
    expect(() => checkScenarios([{ ...GOOD, depots: [], variants }])).toThrow(/haproxy3 needs depots/);
  });
});
