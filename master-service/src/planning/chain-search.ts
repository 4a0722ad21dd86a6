import { type Chain, chainSeconds, type LegEstimate, legSeconds } from '@longhaul/shared';
import { CLIENT, ORIGIN } from '../config.ts';
import type { LegBetween } from './chain-legs.ts';

export interface SearchSpace {
  readonly depots: readonly { readonly id: string; readonly tls: boolean }[];
  readonly maxDepots: number;
  readonly sizeBytes: number;
  readonly originTls: boolean;
  readonly legBetween: LegBetween;
}

export interface RatedChain {
  /** The entry depot first. */
  readonly chain: Chain;
  readonly legs: readonly LegEstimate[];
  /** Predicted completion time. */
  readonly seconds: number;
}

/**
 * Exact search over all chains of 1 to `maxDepots` different depots whose legs are all known: the two fastest chains of
 * every entry depot, the fastest of all first. Depth first; a branch ends where a lower bound of its time is no better
 * than the second chain its entry depot has already.
 */
export function searchChains(space: SearchSpace): RatedChain[] {
  return space.depots
    .flatMap((entry) => searchFromEntry(space, entry))
    .toSorted((one, other) => one.seconds - other.seconds || one.chain.length - other.chain.length);
}

function searchFromEntry(space: SearchSpace, entry: SearchSpace['depots'][number]): RatedChain[] {
  const { sizeBytes, originTls, legBetween } = space;
  const setUp = { clientTls: entry.tls, originTls };
  const best: RatedChain[] = [];

  const visit = (chain: readonly string[], legs: readonly LegEstimate[]): void => {
    if (lowerBoundSeconds(legs, sizeBytes) >= (best[1]?.seconds ?? Number.POSITIVE_INFINITY)) return;
    const last = chain.at(-1) ?? CLIENT;
    const toOrigin = legBetween(last, ORIGIN);
    if (toOrigin) {
      const complete = [...legs, toOrigin];
      best.push({ chain, legs: complete, seconds: chainSeconds(complete, sizeBytes, setUp) });
      best.sort((one, other) => one.seconds - other.seconds);
      best.length = Math.min(best.length, 2);
    }
    if (chain.length >= space.maxDepots) return;
    for (const { id } of space.depots) {
      const leg = chain.includes(id) ? undefined : legBetween(last, id);
      if (leg) visit([...chain, id], [...legs, leg]);
    }
  };

  const first = legBetween(CLIENT, entry.id);
  if (first && space.maxDepots > 0) visit([entry.id], [first]);
  return best;
}

/**
 * No chain that begins with these legs is faster: of `chainSeconds`, set-up costs at least two round trips of every leg,
 * and the slowest leg with half a round trip of the others only grows with more legs.
 */
function lowerBoundSeconds(legs: readonly LegEstimate[], sizeBytes: number): number {
  let setUp = 0;
  let slowest = 0;
  let slowestRtt = 0;
  let pipeline = 0;
  for (const leg of legs) {
    const seconds = legSeconds(leg, sizeBytes);
    setUp += leg.rttMs / 500;
    pipeline += leg.rttMs / 2000;
    if (seconds > slowest) {
      slowest = seconds;
      slowestRtt = leg.rttMs / 2000;
    }
  }
  return setUp + slowest + pipeline - slowestRtt;
}
