import { KIB, MIB } from '@longhaul/shared';
import type { Experiment, Scenario, Variant } from '../experiment.ts';
import type { CrossTraffic, EmulatedLink, Topology } from '../network/topology.ts';

/** Longest queueing delay on a link, a usual size of a router's buffer. */
const QUEUE_MS = 30;

function link(one: string, other: string, rttMs: number, rateBps: number): EmulatedLink {
  return { between: [one, other], rttMs, rateBps, queue: { bytes: Math.round((rateBps / 8000) * QUEUE_MS) } };
}

/**
 * Six points of presence of the Brazilian research backbone (sc, sp, rj, mg, pe, ce), the hosts of the paper's three
 * measurements, and hosts for cross traffic (`x-`). The paper gives the narrow links (155 Mbit/s between PB and PE, 100
 * Mbit/s at GTA, nothing below 1 Gbit/s between MG and UFSC); the rest is chosen, and docs/lab.md says how.
 */
export const BACKBONE: Topology = {
  name: 'six points of presence of a national backbone',
  sites: {
    sc: { role: 'depot' },
    sp: { role: 'depot' },
    rj: { role: 'depot' },
    mg: { role: 'depot' },
    pe: { role: 'depot' },
    ce: { role: 'depot' },
    pb: { role: 'router' },
    // The receive buffers of 2008; GTA's host was at the end of a short path that its buffer did not limit.
    ufcg: { role: 'client', receiveBufferBytes: 256 * KIB },
    ufsc: { role: 'client', receiveBufferBytes: 256 * KIB },
    gta: { role: 'client' },
    'gta-edge': { role: 'router' },
    ufpr: { role: 'origin' },
    mghost: { role: 'origin' },
    'x-pb': { role: 'traffic' },
    'x-gta': { role: 'traffic' },
    'x-rj': { role: 'traffic' },
    'x-sp': { role: 'traffic' },
    'x-mg': { role: 'traffic' },
    'x-sc': { role: 'traffic' },
  },
  links: [
    link('pb', 'pe', 4, 155e6),
    link('pe', 'ce', 12, 1e9),
    link('pe', 'rj', 36, 1e9),
    link('rj', 'gta-edge', 2, 100e6),
    link('rj', 'sp', 8, 1e9),
    link('rj', 'mg', 8, 1e9),
    link('sp', 'mg', 12, 1e9),
    link('sp', 'sc', 12, 1e9),
    link('sp', 'ufpr', 8, 1e9),
    link('sc', 'ufsc', 4, 1e9),
    { wire: ['ufcg', 'pb'] },
    { wire: ['x-pb', 'pb'] },
    { wire: ['gta', 'gta-edge'] },
    { wire: ['x-gta', 'gta-edge'] },
    { wire: ['mghost', 'mg'] },
    { wire: ['x-rj', 'rj'] },
    { wire: ['x-sp', 'sp'] },
    { wire: ['x-mg', 'mg'] },
    { wire: ['x-sc', 'sc'] },
  ],
};

interface Place {
  readonly id: string;
  readonly label: string;
  readonly client: string;
  readonly origin: string;
  /** From the client on. */
  readonly depots: readonly [string, string];
  readonly sizeBytes: number;
  readonly crossTraffic: Omit<CrossTraffic, 'flows'>;
}

/** The paper's scenarios 1 to 3. With one depot, the one near the client is used: the paper does not say which. */
const PLACES: readonly Place[] = [
  {
    id: 'ufcg-gta',
    label: 'Scenario 1: client UFCG, server UFRJ/GTA',
    client: 'ufcg',
    origin: 'gta',
    depots: ['pe', 'rj'],
    sizeBytes: 10 * MIB,
    crossTraffic: { from: 'x-rj', to: 'x-pb' },
  },
  {
    id: 'gta-ufpr',
    label: 'Scenario 2: client UFRJ/GTA, server UFPR',
    client: 'gta',
    origin: 'ufpr',
    depots: ['rj', 'sp'],
    sizeBytes: 10 * MIB,
    crossTraffic: { from: 'x-sp', to: 'x-gta' },
  },
  {
    id: 'ufsc-mg',
    label: 'Scenario 3: client UFSC, server PoP-MG',
    client: 'ufsc',
    origin: 'mghost',
    depots: ['sc', 'sp'],
    sizeBytes: 25 * MIB,
    crossTraffic: { from: 'x-mg', to: 'x-sc' },
  },
];

/** Hours of the day, as the number of long flows that cross the busiest link. */
const HOURS: Readonly<Record<string, number>> = { night: 0, morning: 2, afternoon: 6 };

const ALL_DEPOTS = ['sc', 'sp', 'rj', 'mg', 'pe', 'ce'];

/** The same backbone with depots that send as all others do. */
const CUBIC_BACKBONE: Topology = {
  ...BACKBONE,
  sites: Object.fromEntries(
    Object.entries(BACKBONE.sites).map(([name, site]) => [name, { ...site, congestionControl: 'cubic' }]),
  ),
};

/** At the busy hour, what of a gain is left when depots do not send with BBR, which takes more than its share. */
function control(scenarios: readonly Scenario[], id: string): Scenario[] {
  return scenarios
    .filter((scenario) => scenario.id === id)
    .map((scenario) => ({
      ...scenario,
      id: `${id}-cubic`,
      topology: CUBIC_BACKBONE,
      label: `${scenario.label}, depots on cubic`,
      group: `Control: ${scenario.group}, depots on CUBIC`,
    }));
}

function scenariosAt(place: Place): Scenario[] {
  const [first, second] = place.depots;
  const variants: Readonly<Record<string, Variant>> = {
    direct: { kind: 'direct' },
    depot1: { kind: 'chain', depots: [first] },
    depot2: { kind: 'chain', depots: [first, second] },
    auto: { kind: 'auto' },
  };
  return Object.entries(HOURS).map(([hour, flows]) => ({
    id: `${place.id}-${hour}`,
    label: `${hour}, ${flows} long flows`,
    group: place.label,
    topology: BACKBONE,
    client: place.client,
    origin: place.origin,
    depots: [first, ...ALL_DEPOTS.filter((depot) => depot !== first)],
    sizeBytes: place.sizeBytes,
    crossTraffic: flows > 0 ? [{ ...place.crossTraffic, flows }] : [],
    variants,
  }));
}

const SCENARIOS = PLACES.flatMap(scenariosAt);

/** The paper's experiment. */
export const RNP: Experiment = {
  name: 'rnp',
  title: 'Chains on a national backbone, as in the paper',
  question:
    'How much faster is a download through one or two depots of the backbone at quiet and at busy hours, and what does the planner choose?',
  scenarios: [...SCENARIOS, ...control(SCENARIOS, 'gta-ufpr-afternoon')],
  full: { repeats: 30 },
  quick: { repeats: 2 },
  cutSeconds: null,
  repeatsPerTurn: 3,
};
