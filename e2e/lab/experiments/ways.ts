import { MIB } from '@longhaul/shared';
import type { Experiment, Scenario, Variant } from '../experiment.ts';
import type { EmulatedLink, Topology } from '../network/topology.ts';

/** Half of rate times the round-trip time of a whole way. */
const queueOf = (rateBps: number) => ({ bytes: Math.round((rateBps / 8000) * 50) });

function link(one: string, other: string, rttMs: number, rateBps: number, loss = 0): EmulatedLink {
  return { between: [one, other], rttMs, rateBps, queue: queueOf(rateBps), loss };
}

/** Two ways that share no link but the client's own; both meet at the entry depot. */
function twoWays(name: string, lowerBps: number, lowerRttMs: number, loss: number): Topology {
  return {
    name: `two ways from the entry depot, ${name}`,
    sites: {
      client: { role: 'client' },
      near: { role: 'depot' },
      upper: { role: 'depot' },
      lower: { role: 'depot' },
      origin: { role: 'origin' },
      before: { role: 'traffic' },
      after: { role: 'traffic' },
    },
    links: [
      link('client', 'near', 20, 100e6),
      link('near', 'upper', 30, 50e6, loss),
      link('upper', 'origin', 20, 50e6, loss),
      link('near', 'lower', lowerRttMs, lowerBps, loss),
      link('lower', 'origin', lowerRttMs, lowerBps, loss),
      { wire: ['before', 'lower'] },
      { wire: ['after', 'near'] },
    ],
  };
}

const lanes = (laneSetup: 'coupled-spread' | 'plain-spread', count: number): Variant => ({
  kind: 'auto',
  lanes: count,
  laneSetup,
});

const VARIANTS: Readonly<Record<string, Variant>> = {
  direct: { kind: 'direct' },
  upper: { kind: 'chain', depots: ['near', 'upper'] },
  lower: { kind: 'chain', depots: ['near', 'lower'] },
  'lanes4-coupled': lanes('coupled-spread', 4),
  'lanes4-plain': lanes('plain-spread', 4),
  'lanes8-coupled': lanes('coupled-spread', 8),
  'lanes8-plain': lanes('plain-spread', 8),
};

interface Case extends Pick<Scenario, 'id' | 'label' | 'why'> {
  readonly topology: Topology;
  readonly crossTraffic?: Scenario['crossTraffic'];
}

const UNLIKE = twoWays('of 50 Mbit/s at 50 ms and 25 Mbit/s at 120 ms', 25e6, 60, 0);

const CASES: readonly Case[] = [
  {
    id: 'alike',
    label: 'two ways of 50 Mbit/s',
    why: 'Where ways are alike, equal loads are right.',
    topology: twoWays('both of 50 Mbit/s at 50 ms', 50e6, 25, 0),
  },
  {
    id: 'unlike',
    label: 'ways of 50 and 25 Mbit/s',
    why: 'Equal loads leave the fast way waiting for the slow one.',
    topology: UNLIKE,
  },
  {
    id: 'unlike-lossy',
    label: 'the same, with a loss of 0.2 % on each link',
    why: 'Rates that swing: what a lane showed last is not what it brings next.',
    topology: twoWays(
      'of 50 Mbit/s at 50 ms and 25 Mbit/s at 120 ms, with a loss of 0.2 % on each link',
      25e6,
      60,
      2e-3,
    ),
  },
  {
    id: 'unlike-shared',
    label: 'ways of 50 and 25 Mbit/s, two long flows on the slower one',
    why: 'What lanes take from others on a way that they would not need.',
    topology: UNLIKE,
    crossTraffic: [{ from: 'before', to: 'after', flows: 2 }],
  },
];

/** What lanes over ways of their own are worth, by either control, and what they take from others. */
export const WAYS: Experiment = {
  name: 'ways',
  title: 'Lanes over two ways',
  question:
    'How fast is a file of 30 MiB over two ways at once, when lanes are asked for equal loads or by their share of the rate, and what is left to others?',
  scenarios: CASES.map((one) => ({
    ...one,
    client: 'client',
    origin: 'origin',
    depots: ['near', 'upper', 'lower'],
    sizeBytes: 30 * MIB,
    variants: VARIANTS,
  })),
  full: { repeats: 10 },
  quick: { repeats: 3 },
  cutSeconds: 20,
  repeatsPerTurn: 1,
};
