import { chainSeconds } from '@longhaul/shared';
import type { Scenario } from '../experiment.ts';
import { legsOf } from '../experiments/predictions.ts';
import type { LinkChange, Spell, UnknownWorld } from '../experiments/unknown-world.ts';
import { checkTopology } from '../network/check-topology.ts';
import { endsOf, pathBetween } from '../network/routes.ts';
import type { EmulatedLink, Topology, Wire } from '../network/topology.ts';
import { LabRefusal } from '../refusal.ts';
import { seededRandom } from '../results/seeded-random.ts';

/** Who downloads from where. */
export interface Pair {
  readonly client: string;
  readonly origin: string;
}

/** A way of one pair: no depots are `direct`, the entry depot first. */
export interface Way {
  readonly depots: readonly string[];
  readonly lanes: number;
}

/** One download through the master. */
export interface PlannedDownload extends Pair {
  readonly state: string;
  /** Of all states in a row: a spell that comes again is another one. */
  readonly spell: number;
}

const LANES = [1, 2, 4, 8] as const;
const MOST_DEPOTS = 3;
/** A link that carries so much has room for some downloads at once. */
const WIDE_BPS = 250e6;

/** The topology as it is in a state. */
export function topologyIn(world: UnknownWorld, state: string): Topology {
  const { changed = [] } = stateOf(world, state);
  return { ...world.topology, links: world.topology.links.map((link) => asChanged(link, changed)) };
}

/**
 * The downloads in their order: within a spell each pair has its turn before one comes again, in an order
 * drawn anew.
 */
export function drawDownloads(world: UnknownWorld, seed: number): PlannedDownload[] {
  const random = seededRandom(seed);
  return world.spells.flatMap((spell, at) => {
    const pairs = pairsOf(world, spell);
    const turns: PlannedDownload[] = [];
    while (turns.length < spell.downloads) {
      const round = pairs
        .map((pair) => ({ pair, place: random() }))
        .toSorted((one, other) => one.place - other.place);
      turns.push(...round.map(({ pair }) => ({ ...pair, state: spell.state, spell: at })));
    }
    return turns.slice(0, spell.downloads);
  });
}

/** What an oracle has to know: each pair in each state in which it downloads. */
export function measuredPairs(world: UnknownWorld): (Pair & { readonly state: string })[] {
  const all = world.spells.flatMap((spell) =>
    pairsOf(world, spell).map((pair) => ({ state: spell.state, ...pair })),
  );
  return [...new Map(all.map((pair) => [JSON.stringify(pair), pair])).values()];
}

/**
 * The ways that are measured of a pair in a state: direct, and the fastest chains by the true links, each
 * with its best number of lanes.
 */
export function bestWays(world: UnknownWorld, pair: Pair & { readonly state: string }, count: number): Way[] {
  const scenario = scenarioOf(world, pair);
  const rated = chainsOver(world.depots).map((depots) => {
    const legs = legsOf(scenario, { kind: 'chain', depots }) ?? [];
    const seconds = (lanes: number) =>
      chainSeconds(legs, world.sizeBytes, { clientTls: false, originTls: false }, lanes);
    const lanes = LANES.reduce((best, one) => (seconds(one) < 0.99 * seconds(best) ? one : best), 1);
    return { depots, lanes, seconds: seconds(lanes) };
  });
  const best = rated.toSorted((one, other) => one.seconds - other.seconds).slice(0, count);
  return [{ depots: [], lanes: 1 }, ...best.map(({ depots, lanes }) => ({ depots, lanes }))];
}

/** A scenario of the lab for one pair in one state; flows that cross a link leave their share of it. */
export function scenarioOf(
  world: UnknownWorld,
  { client, origin, state }: Pair & { readonly state: string },
): Scenario {
  const { crossTraffic = [] } = stateOf(world, state);
  const topology = topologyIn(world, state);
  const flowsOver = (link: EmulatedLink | Wire) =>
    crossTraffic.reduce(
      (sum, { from, to, flows }) => sum + (pathBetween(topology, from, to).links.includes(link) ? flows : 0),
      0,
    );
  const links = topology.links.map((link) => {
    const flows = 'wire' in link ? 0 : flowsOver(link);
    return flows === 0 || 'wire' in link ? link : { ...link, rateBps: link.rateBps / (flows + 1) };
  });
  return {
    id: `${client}-${origin}-${state}`,
    label: `${client} from ${origin}, ${state}`,
    topology: { ...topology, links },
    client,
    origin,
    depots: world.depots,
    master: world.master,
    sizeBytes: world.sizeBytes,
    variants: {},
  };
}

/**
 * What two downloads must not have in common to go on at the same time: their ends, and links that one of
 * them may fill.
 */
export function occupiedBy(
  world: UnknownWorld,
  pair: Pair & { readonly state: string },
  { depots }: Way,
): Set<string> {
  const topology = topologyIn(world, pair.state);
  const crossed = (stateOf(world, pair.state).crossTraffic ?? []).flatMap(
    ({ from, to }) => pathBetween(topology, from, to).links,
  );
  const stops = [pair.client, ...depots, pair.origin];
  const links = stops.slice(1).flatMap((from, at) => pathBetween(topology, from, stops[at] ?? '').links);
  const narrow = links.filter((one) => !('wire' in one) && (one.rateBps < WIDE_BPS || crossed.includes(one)));
  return new Set([pair.client, pair.origin, ...narrow.map((one) => endsOf(one).join(':'))]);
}

/** Refuses a world that cannot be. */
export function checkWorld(world: UnknownWorld): void {
  for (const [state, { crossTraffic = [] }] of Object.entries(world.states))
    checkTopology(topologyIn(world, state), crossTraffic);
  const sites = new Set(Object.keys(world.topology.sites));
  const named = [world.master, ...world.depots, ...world.clients, ...world.origins];
  const mistakes = [
    ...named.filter((site) => !sites.has(site)).map((site) => `there is no site '${site}'`),
    ...world.spells
      .filter(({ state }) => !(state in world.states))
      .map(({ state }) => `there is no state '${state}'`),
  ];
  if (mistakes.length > 0) throw new LabRefusal('lab-topology-invalid', `${mistakes.join('; ')}.`);
}

export function stateOf(world: UnknownWorld, state: string): UnknownWorld['states'][string] {
  const found = world.states[state];
  if (!found) throw new Error(`the world has no state '${state}'`);
  return found;
}

function pairsOf(world: UnknownWorld, { clients = world.clients, origins = world.origins }: Spell): Pair[] {
  return clients.flatMap((client) => origins.map((origin) => ({ client, origin })));
}

function asChanged(link: EmulatedLink | Wire, changed: readonly LinkChange[]): EmulatedLink | Wire {
  const change = changed.find(({ link: ends }) => endsOf(link).every((end) => ends.includes(end)));
  return change && !('wire' in link) ? { ...link, ...change.to } : link;
}

function chainsOver(depots: readonly string[]): string[][] {
  const chains: string[][] = [];
  const lengthen = (chain: readonly string[]) => {
    for (const depot of depots) {
      if (chain.includes(depot)) continue;
      const longer = [...chain, depot];
      chains.push(longer);
      if (longer.length < MOST_DEPOTS) lengthen(longer);
    }
  };
  lengthen([]);
  return chains;
}
