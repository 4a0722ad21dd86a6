import { type Chain, formatBps, legGoodput } from '@longhaul/shared';
import { CLIENT, ORIGIN } from '../config.ts';
import { legEnds, limitingLeg } from './chain-legs.ts';
import type { RatedChain } from './chain-search.ts';
import type { DirectEstimate } from './direct-estimate.ts';
import type { LinkEstimate } from './link-table.ts';
import type { PlanningDepot } from './planner.ts';

interface RouteFacts {
  readonly best: RatedChain | undefined;
  readonly runnerUp: RatedChain | undefined;
  /** Whether the best chain was chosen. */
  readonly wins: boolean;
  readonly minimumGain: number;
  /** Whether the client chose the number of lanes. */
  readonly isLanesAsked: boolean;
  readonly direct: { readonly seconds: number; readonly source: DirectEstimate['source'] };
  readonly chainLinks: readonly LinkEstimate[];
  readonly depots: readonly PlanningDepot[];
  readonly avoid: readonly string[];
  readonly linked: (one: string, other: string) => boolean;
}

/** Why a route was chosen, in sentences for people. */
export function explainRoute(facts: RouteFacts): string[] {
  const { best, wins, isLanesAsked } = facts;
  return [
    ...compare(facts),
    ...(best && wins ? explainLanes(best, isLanesAsked) : []),
    ...directSource(facts),
    ...measurements(facts.chainLinks),
    ...exclusions(facts),
  ];
}

/** Why a chain has so many lanes; nothing of a single one. */
export function explainLanes(
  { chain, legs, lanes }: Pick<RatedChain, 'chain' | 'legs' | 'lanes'>,
  isAsked: boolean,
): string[] {
  const name = `${lanes} lanes`;
  if (lanes === 1) return [];
  if (isAsked) return [`${name}, as the client asks.`];
  const index = limitingLeg(legs);
  const leg = legs[index];
  const sender = legEnds(chain)[index]?.[1];
  if (!leg || sender === undefined) return [];
  const from = sender === ORIGIN ? 'the origin' : sender;
  const { goodputBps, limit } = legGoodput(leg);
  if (limit === 'rate' && leg.connectionBps === undefined)
    return [`${name}: they start up faster than one connection from ${from}.`];
  const causes = { rate: 'as measured', loss: 'because of loss', window: 'because of its window' };
  return [
    `${name}: one connection from ${from} is predicted to carry ${formatBps(goodputBps)}, ${causes[limit]}.`,
  ];
}

/** A duration for people. */
export function formatSeconds(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

function compare({ best, runnerUp, wins, minimumGain, direct }: RouteFacts): string[] {
  if (!best) return ['No chain is possible: direct.'];
  const times = `${formatChain(best.chain)} is predicted to take ${formatSeconds(best.seconds)}, direct ${formatSeconds(direct.seconds)}`;
  const gain = direct.seconds / best.seconds;
  const verdict = wins
    ? `${times}: ${gain.toFixed(1)} times faster.`
    : `${times}: a chain must be at least ${minimumGain} times faster, so direct.`;
  if (!runnerUp) return [verdict];
  return [verdict, `Runner-up: ${formatChain(runnerUp.chain)}, ${formatSeconds(runnerUp.seconds)}.`];
}

function directSource({ direct }: RouteFacts): string[] {
  if (direct.source === 'link') return [];
  return direct.source === 'chain'
    ? ["No estimate of the link client - origin: the direct way is derived from the chain's legs."]
    : ['No estimate of the link client - origin: assumptions are used for the direct way.'];
}

function measurements(links: readonly LinkEstimate[]): string[] {
  const ages = links.flatMap((link) => (link.ageMs === undefined ? [] : [link.ageMs]));
  if (ages.length === 0) return [];
  const oldest = formatSeconds(Math.max(...ages) / 1000);
  return [
    `${ages.length} of ${links.length} legs are measured, ${oldest} ago at most; the others are configured.`,
  ];
}

function exclusions({ depots, avoid, linked }: RouteFacts): string[] {
  const usable = depots
    .filter((depot) => depot.state === 'up' && !avoid.includes(depot.id))
    .map(({ id }) => id);
  const fromClient = reachable(CLIENT, usable, linked);
  const fromOrigin = reachable(ORIGIN, usable, linked);
  return depots.flatMap(({ id, state }) => {
    if (avoid.includes(id)) return [`Left out: ${id}, which the client avoids.`];
    if (state === 'lost') return [`Left out: ${id}, which sends no heartbeats.`];
    if (state === 'unproved') return [`Left out: ${id}, which has not proved its address.`];
    if (state === 'draining') return [`Left out: ${id}, which takes no new downloads.`];
    if (fromClient.has(id) && fromOrigin.has(id)) return [];
    const lacking = fromClient.has(id) ? ORIGIN : CLIENT;
    return [`Left out: ${id}, because no known links lead from it to the ${lacking}.`];
  });
}

function reachable(start: string, ids: readonly string[], linked: RouteFacts['linked']): Set<string> {
  const found = new Set<string>();
  const open = [start];
  for (let stop = open.pop(); stop !== undefined; stop = open.pop()) {
    for (const id of ids) {
      if (found.has(id) || !linked(stop, id)) continue;
      found.add(id);
      open.push(id);
    }
  }
  return found;
}

function formatChain(chain: Chain): string {
  return [CLIENT, ...chain, ORIGIN].join(' - ');
}
