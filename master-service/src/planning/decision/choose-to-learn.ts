import { type Chain, isSameChain } from '@longhaul/shared';
import type { RatedChain } from '../search/rated-chain.ts';

/** It must win as much where it turns out better: less is not worth a try. */
const LEAST_WIN = 1.05;

/** A download that may be used to learn. */
export interface Exploring {
  /** It may take longer than the best by this share at most, whatever turns out. */
  readonly mostRegret: number;
  /** Only to meet a depot that may be much nearer to the client than those that have measured it. */
  readonly isToMeet?: boolean;
  /** Exactly this chain: it was given already, and is to be explained. */
  readonly chain?: Chain;
}

interface LearnFacts {
  readonly ranked: readonly RatedChain[];
  /** What is taken otherwise; `undefined` for direct. */
  readonly chosen: RatedChain | undefined;
  /** Its times in all that may be; `undefined` where nobody knows, and nothing can be compared. */
  readonly chosenTimes: readonly number[] | undefined;
  readonly times: (rated: RatedChain) => readonly number[];
  readonly exploring: Exploring | undefined;
}

/**
 * The chain to learn by: of those that turn out better in some of what may be, and in none of it much worse,
 * the one that may win most. `undefined` where there is none, or nothing is to be explored.
 */
export function chooseToLearn({
  ranked,
  chosen,
  chosenTimes,
  times,
  exploring,
}: LearnFacts): RatedChain | undefined {
  if (!exploring || !chosenTimes) return undefined;
  const { mostRegret, chain } = exploring;
  let best: { readonly rated: RatedChain; readonly win: number } | undefined;
  for (const rated of ranked) {
    const isWanted = chain === undefined || isSameChain(chain, rated.chain);
    if (rated === chosen || !isWanted) continue;
    const shares = times(rated).map((seconds, scenario) => seconds / (chosenTimes[scenario] ?? 0));
    const win = 1 / Math.min(...shares);
    const isBounded = Math.max(...shares) <= 1 + mostRegret;
    if (isBounded && win >= LEAST_WIN && win > (best?.win ?? 0)) best = { rated, win };
  }
  return best?.rated;
}
