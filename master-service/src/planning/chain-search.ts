import {
  type Chain,
  type DepotEntry,
  type LegEstimate,
  legSeconds,
  secondsWithBreaks,
} from '@longhaul/shared';
import { CLIENT, ORIGIN } from '../config.ts';
import type { LegBetween } from './chain-legs.ts';
import { chooseLanes } from './choose-lanes.ts';

/** A registered depot as the planner sees it; only one that is `up` is planned with. */
export interface PlanningDepot extends Pick<DepotEntry, 'id' | 'tls'> {
  readonly state: DepotEntry['state'] | 'unproved';
}

export interface SearchSpace {
  readonly depots: readonly Pick<PlanningDepot, 'id' | 'tls'>[];
  readonly maxDepots: number;
  readonly sizeBytes: number;
  readonly originTls: boolean;
  /** Numbers of lanes to choose from, ascending. */
  readonly laneChoices: readonly number[];
  readonly legBetween: LegBetween;
  /** How often each depot of a chain fails, where that costs everything that has come; 0 where it does not. */
  readonly depotBreaksPerSecond?: number;
}

export interface RatedChain {
  /** The entry depot first. */
  readonly chain: Chain;
  readonly legs: readonly LegEstimate[];
  readonly lanes: number;
  /** Predicted completion time with these lanes, breaks counted. */
  readonly seconds: number;
}

/**
 * Exact search over all chains of 1 to `maxDepots` different depots whose legs are all known, each with its best number of
 * lanes: the two fastest chains of every entry depot, the fastest of all first.
 */
export function searchChains(space: SearchSpace): RatedChain[] {
  return space.depots
    .flatMap((entry) => searchFrom(space, entry.id))
    .toSorted((one, other) => one.seconds - other.seconds || one.chain.length - other.chain.length);
}

/**
 * The two fastest chains that begin with `entry` and have at least `minDepots` depots. Depth first; a branch ends where a
 * lower bound of its time is no better than the second chain found already.
 */
export function searchFrom(space: SearchSpace, entry: string, minDepots = 1): RatedChain[] {
  const { sizeBytes, originTls, laneChoices, legBetween, depotBreaksPerSecond = 0 } = space;
  const clientTls = space.depots.find(({ id }) => id === entry)?.tls ?? false;
  const setUp = { clientTls, originTls };
  const best: RatedChain[] = [];

  const known = new Map<LegEstimate, number>();
  const boundBehind = (before: Bound, leg: LegEstimate): Bound => {
    const least = known.get(leg) ?? leastSeconds(leg, sizeBytes, laneChoices);
    known.set(leg, least);
    return boundWith(before, leg, least);
  };
  const isBeaten = (bound: Bound) => bound.seconds >= (best[1]?.seconds ?? Number.POSITIVE_INFINITY);

  const visit = (chain: readonly string[], legs: readonly LegEstimate[], bound: Bound): void => {
    if (isBeaten(bound)) return;
    const last = chain.at(-1) ?? CLIENT;
    const toOrigin = chain.length < minDepots ? undefined : legBetween(last, ORIGIN);
    if (toOrigin && !isBeaten(boundBehind(bound, toOrigin))) {
      const complete = [...legs, toOrigin];
      const { lanes, seconds } = chooseLanes(complete, sizeBytes, setUp, laneChoices);
      const breaksPerSecond = chain.length * depotBreaksPerSecond;
      best.push({ chain, legs: complete, lanes, seconds: secondsWithBreaks(seconds, breaksPerSecond) });
      best.sort((one, other) => one.seconds - other.seconds);
      best.length = Math.min(best.length, 2);
    }
    if (chain.length >= space.maxDepots) return;
    for (const { id } of space.depots) {
      const leg = chain.includes(id) ? undefined : legBetween(last, id);
      const next = leg && boundBehind(bound, leg);
      if (leg && next && !isBeaten(next)) visit([...chain, id], [...legs, leg], next);
    }
  };

  const first = legBetween(CLIENT, entry);
  if (first && space.maxDepots > 0)
    visit([entry], [first], boundWith(NOTHING, first, leastSeconds(first, sizeBytes, [1])));
  return best;
}

/** No chain that begins with the same legs is faster, whatever its lanes. */
interface Bound {
  readonly seconds: number;
  /** The parts it is made of: the slowest leg's own time, the sum of all round trips, the longest one. */
  readonly slowest: number;
  readonly rttMs: number;
  readonly longestRttMs: number;
}

const NOTHING: Bound = { seconds: 0, slowest: 0, rttMs: 0, longestRttMs: 0 };

/**
 * How much less a leg may take, in round trips, because the others hold it back: it then leaves slow start in the middle of a
 * round. log2 u - u + 1 is at most this (at u = 1 / ln 2).
 */
const START_SLACK_ROUNDS = 0.0861;

/** The least time of a leg by itself, whatever other legs let it carry, with the lanes that suit it best. */
function leastSeconds(leg: LegEstimate, sizeBytes: number, laneChoices: readonly number[]): number {
  const least = Math.min(...laneChoices.map((lanes) => legSeconds(leg, sizeBytes, lanes)));
  return Math.max(0, least - (START_SLACK_ROUNDS * leg.rttMs) / 1000);
}

/**
 * Of `chainSeconds`, set-up costs at least two round trips of every leg, the slowest leg its least time, and all others but one
 * half a round trip; more legs only add to it.
 */
function boundWith(before: Bound, leg: LegEstimate, least: number): Bound {
  const slowest = Math.max(before.slowest, least);
  const rttMs = before.rttMs + leg.rttMs;
  const longestRttMs = Math.max(before.longestRttMs, leg.rttMs);
  const seconds = rttMs / 500 + slowest + (rttMs - longestRttMs) / 2000;
  return { seconds, slowest, rttMs, longestRttMs };
}
