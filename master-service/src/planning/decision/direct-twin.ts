import { type Chain, CLIENT, ORIGIN } from '@longhaul/shared';
import type { LinkEstimate } from '../links/link-view.ts';
import type { RatedChain } from '../search/rated-chain.ts';
import type { Exploring } from './choose-to-learn.ts';

/** What was measured longer ago says little of how busy a way is now. */
const FRESH_MS = 300_000;

interface TwinFacts {
  /** The depot by whose legs the direct way is worked out. */
  readonly via: string | undefined;
  readonly link: (one: string, other: string) => LinkEstimate | undefined;
  /** The fastest one over exactly these depots; `undefined` where they may not be passed. */
  readonly rate: (chain: Chain) => RatedChain | undefined;
  /** How long a direct download takes in all that may be; `undefined` where nobody knows. */
  readonly directTimes: () => readonly number[] | undefined;
  readonly times: (rated: RatedChain) => readonly number[];
  readonly exploring: Exploring | undefined;
}

/**
 * The chain that shows what the direct way is like: one lane over a depot beside an end meets nearly what a
 * direct download meets, and is measured. Of those nobody hears, so that a way which loses much would stay
 * the chosen one for ever. `undefined` where that has been measured of late, costs more than may be, or
 * nothing is to be explored.
 */
export function directTwin({
  via,
  link,
  rate,
  directTimes,
  times,
  exploring,
}: TwinFacts): RatedChain | undefined {
  if (!exploring || via === undefined) return undefined;
  if (exploring.chain ? exploring.chain.join() !== via : isFresh(via, link)) return undefined;
  const [rated, direct] = [rate([via]), directTimes()];
  if (!rated || !direct) return undefined;
  const twin = { ...rated, lanes: 1 };
  const shares = times(twin).map((seconds, scenario) => seconds / (direct[scenario] ?? 0));
  return Math.max(...shares) <= 1 + exploring.mostRegret ? twin : undefined;
}

/** Whether its long leg, which is nearly the direct way, has carried something lately, or is typed in. */
function isFresh(via: string, link: TwinFacts['link']): boolean {
  const legs = [link(CLIENT, via), link(via, ORIGIN)].flatMap((leg) => leg ?? []);
  const [long] = legs.toSorted((one, other) => other.rttMs - one.rttMs);
  if (!long || long.rateSource === undefined) return true;
  return long.rateSource === 'measured' && (long.ageMs ?? 0) < FRESH_MS;
}
