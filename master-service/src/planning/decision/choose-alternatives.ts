import { isSameChain } from '@longhaul/shared';
import type { ChainSearch } from '../search/chain-search.ts';
import type { RatedChain } from '../search/rated-chain.ts';

interface AlternativesInit {
  readonly best: RatedChain;
  readonly search: ChainSearch;
  /** Whether the client can still be led to another entry depot. */
  readonly canBeginElsewhere: boolean;
  readonly most: number;
  /**
   * Of two chains that avoid a depot, one avoids others as well. The other one is taken only if it is so many
   * times faster.
   */
  readonly minimumGain: number;
}

/**
 * The chains to go on with when a depot of the best one fails. The entry depot holds the client's connection,
 * so it can use only chains of its own: first the best one that shares no other depot with the plan, then for
 * each depot, the exit depot first, the best one without it. Last of all the best one that begins elsewhere,
 * for a client whose entry depot failed. The entry depot alone is every ticket's last way and is not named.
 */
export function chooseAlternatives({
  best,
  search,
  canBeginElsewhere,
  most,
  minimumGain,
}: AlternativesInit): RatedChain[] {
  const [entry = '', ...others] = best.chain;
  const sameEntry: RatedChain[] = [];
  const add = (rated: RatedChain | undefined): void => {
    if (rated && !isListed(rated, [best, ...sameEntry])) sameEntry.push(rated);
  };
  const fastestWithout = (ids: readonly string[]): RatedChain | undefined => {
    const rated = search.best(2, { entry, without: ids, minDepots: 2, lanes: best.lanes });
    return rated.find((one) => !isListed(one, [best]));
  };

  if (most > 0) add(fastestWithout(others));
  const single = most > 0 && others.length > 1 ? others.toReversed() : [];
  const withoutEach = single.map((id) => ({ id, rated: fastestWithout([id]) }));
  for (const { id, rated } of withoutEach) {
    if (!sameEntry.some(({ chain }) => !chain.includes(id))) add(rated);
  }
  for (const { id, rated } of withoutEach) {
    const known = sameEntry.filter(({ chain }) => !chain.includes(id)).map(({ seconds }) => seconds);
    if (rated && Math.min(...known) >= minimumGain * rated.seconds) add(rated);
  }
  const [otherEntry] = most > 0 && canBeginElsewhere ? search.best(1, { otherEntry: entry }) : [];
  const room = otherEntry && most > 1 ? most - 1 : most;
  return [...sameEntry.slice(0, room), ...(otherEntry ? [otherEntry] : [])].slice(0, most);
}

function isListed({ chain }: RatedChain, list: readonly RatedChain[]): boolean {
  return list.some((listed) => isSameChain(listed.chain, chain));
}
