import { isSameChain, ORIGIN } from '@longhaul/shared';
import type { ChainSearch } from '../search/chain-search.ts';
import type { PlanningDepot } from '../search/planning-depot.ts';
import type { RatedChain } from '../search/rated-chain.ts';
import type { DownloadMap } from './download-map.ts';
import { MOST_COMPARED } from './download-times.ts';

/**
 * Chains past the one site at which the fastest ones all begin, or end, that are compared beside them: each
 * is one more to try.
 */
const MOST_PAST_SITE = 4;

interface PastOneSiteInit {
  /** The chains that are compared without it. */
  readonly fastest: readonly RatedChain[];
  /** By which they were found. */
  readonly search: ChainSearch | undefined;
  readonly usable: readonly PlanningDepot[];
  readonly map: DownloadMap;
}

/**
 * Where as many chains as are compared all begin at one site, or all end at one, the fastest ones past it;
 * none where they do not. Else a site with many depots would be alone for ever.
 */
export function pastOneSite({ fastest, search, usable, map }: PastOneSiteInit): RatedChain[] {
  if (!search || fastest.length < MOST_COMPARED) return [];
  const found: RatedChain[] = [];
  for (const place of [0, -1]) {
    const ends = fastest.map(({ chain }) => chain.at(place) ?? '');
    const [site = ''] = ends;
    if (!ends.every((end) => map.areAtOneSite(site, end))) continue;
    const isAtSite = ({ id }: PlanningDepot) => map.areAtOneSite(site, id);
    // Where nothing else leads to the origin a search would try all that there is.
    if (!usable.some((depot) => !isAtSite(depot) && map.link(depot.id, ORIGIN))) continue;
    const past = search.best(MOST_PAST_SITE, { without: usable.filter(isAtSite).map(({ id }) => id) });
    found.push(...past.filter(({ chain }) => !found.some((one) => isSameChain(one.chain, chain))));
  }
  return found;
}
