import { describe, expect, test } from 'vitest';
import type { FaultKind, FaultPosition, Scenario } from '../experiment.ts';
import { EXPERIMENTS } from '../experiments/experiments.ts';
import type { Topology } from '../network/topology.ts';
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

/** As good, but that the depot and the client are joined by a wire. */
const WIRED: Topology = {
  ...GOOD.topology,
  links: [...GOOD.topology.links.slice(0, 1), { wire: ['middle', 'home'] }],
};

function faulty(kind: FaultKind, position: FaultPosition): Scenario['variants'] {
  return { broken: { kind: 'chain', depots: ['middle'], fault: { kind, position, atPercent: 50 } } };
}

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

  test.each<[string, Partial<Scenario>, RegExp]>([
    [
      'silence a depot on a wire',
      { topology: WIRED, variants: faulty('silence', 'first') },
      /silences 'middle', which hangs on a wire/,
    ],
    [
      'silence a depot that the planner may choose, on a wire',
      {
        topology: WIRED,
        variants: { auto: { kind: 'auto', fault: { kind: 'silence', position: 'first', atPercent: 50 } } },
      },
      /silences 'middle', which hangs on a wire/,
    ],
    [
      'break the middle one of one',
      { variants: faulty('fin', 'middle') },
      /breaks the middle depot and has 1: give at least 3/,
    ],
    [
      'flap without coming up',
      { flapping: { link: ['web', 'middle'], everyMs: 200, downMs: 200 } },
      /every 200 ms and is down for 200 ms/,
    ],
    [
      'flap without going down',
      { flapping: { link: ['web', 'middle'], everyMs: 200, downMs: 0 } },
      /is down for 0 ms/,
    ],
    [
      'flap where no link is',
      { flapping: { link: ['web', 'home'], everyMs: 200, downMs: 20 } },
      /flapping link web-home is none/,
    ],
    [
      'flap a wire',
      { topology: WIRED, flapping: { link: ['middle', 'home'], everyMs: 200, downMs: 20 } },
      /flapping link middle-home is none/,
    ],
    [
      'have a chain that is too long',
      { variants: { chain5: { kind: 'chain', depots: ['middle', 'b', 'c', 'd', 'e'] } } },
      /chain5 names 5 depots: give at most 4/,
    ],
    [
      'have a chain with a depot twice',
      { variants: { chain2: { kind: 'chain', depots: ['middle', 'middle'] } } },
      /chain2 names 'middle' twice/,
    ],
    [
      'have a chain of too many lanes',
      { variants: { many: { kind: 'chain', depots: ['middle'], lanes: 64 } } },
      /many has 64 lanes: give a whole number from 1 to 8/,
    ],
    [
      'leave half a lane to the planner',
      { variants: { half: { kind: 'auto', lanes: 0.5 } } },
      /half has 0.5 lanes/,
    ],
    [
      'have more connections than aria2 takes',
      { variants: { aria2: { kind: 'aria2', connections: 17 } } },
      /aria2 has 17 connections: give a whole number from 1 to 16/,
    ],
    [
      'have more connections than curl takes',
      { variants: { ranges: { kind: 'ranges', connections: 301 } } },
      /ranges has 301 connections: give a whole number from 1 to 300/,
    ],
    ['have a depot twice', { depots: ['middle', 'middle'] }, /the depot 'middle' is there twice/],
    ['have a depot called client', { depots: ['middle', 'client'] }, /no depot can be called 'client'/],
    ['have a depot called origin', { depots: ['middle', 'origin'] }, /no depot can be called 'origin'/],
    ['have a depot called master', { depots: ['middle', 'master'] }, /no depot can be called 'master'/],
  ])('that %s are refused', (_, change, expected) => {
    expect(() => checkScenarios([{ ...GOOD, ...change }])).toThrow(expected);
  });

  test('with rivals or chains are refused without depots', () => {
    const variants = { haproxy3: { kind: 'relays', through: 'haproxy' } } as const;
    expect(() => checkScenarios([{ ...GOOD, depots: [], variants }])).toThrow(/haproxy3 needs depots/);
  });
});
