import { type Chain, CLIENT, isSameChain } from '@longhaul/shared';
import type { ChainSearch } from '../search/chain-search.ts';
import type { PlanningDepot } from '../search/planning-depot.ts';
import type { RatedChain } from '../search/rated-chain.ts';
import type { DownloadMap } from './download-map.ts';
import { type DownloadTimes, MOST_COMPARED } from './download-times.ts';
import { pastOneSite } from './past-one-site.ts';
import type { WaitedWay } from './route.ts';

interface CandidatesInit {
  readonly map: DownloadMap;
  readonly times: DownloadTimes;
  /** The depots that chains may pass. */
  readonly usable: readonly PlanningDepot[];
  /** What downloads of these ends took. */
  readonly taken: readonly WaitedWay[];
}

/**
 * The chains that one download chooses from, each with the lanes that suit it: the fastest by their legs,
 * some past a site at which all of these begin or end, and those that others took.
 */
export class Candidates {
  /** The fastest come first, by their point estimates. */
  readonly all: readonly RatedChain[];
  readonly #init: CandidatesInit;
  /** Where the client is led to depots that are known to lie near it. */
  readonly #entries: ReadonlySet<string> | undefined;
  readonly #search: ChainSearch | undefined;
  #wider: ChainSearch | undefined;

  constructor(init: CandidatesInit) {
    const { map, times, usable, taken } = init;
    this.#init = init;
    this.#entries = map.knownEntries(usable);
    this.#search = this.#over(usable, this.#entries);
    const fastest = suitedOf(this.#search, times);
    const past =
      taken.length > 0 ? pastOneSite({ fastest, search: this.#search, usable, map }).map(times.suited) : [];
    const compared = [...fastest, ...past];
    const others = taken.filter(({ chain }) => !compared.some((one) => isSameChain(one.chain, chain)));
    this.all = [...compared, ...others.flatMap(({ chain }) => this.rate(chain) ?? [])];
  }

  /** The fastest one over exactly these depots; `undefined` where they may not be passed. */
  readonly rate = (chain: Chain): RatedChain | undefined => {
    const { times, usable } = this.#init;
    const search = this.#over(usable.filter(({ id }) => chain.includes(id)));
    return search
      ?.best(MOST_COMPARED)
      .filter((one) => isSameChain(one.chain, chain))
      .map(times.suited)[0];
  };

  /** Chains that begin with depots that may be nearer to the client than all that have measured it. */
  overUnmet(): RatedChain[] {
    const { map, times, usable } = this.#init;
    const unmet = map.unmetEntries(usable);
    return unmet.size > 0 ? suitedOf(this.#over(usable, unmet), times) : [];
  }

  /** The fastest one if these were the depots to pass. */
  fastestOver(depots: readonly PlanningDepot[]): RatedChain | undefined {
    return this.#over(depots, this.#init.map.knownEntries(depots))?.best(1)[0];
  }

  /** Looks for chains from any entry depot: where that of a plan fails, any other one is better than none. */
  wider(): ChainSearch | undefined {
    this.#wider ??= this.#entries ? this.#over(this.#init.usable) : this.#search;
    return this.#wider;
  }

  #over(depots: readonly PlanningDepot[], entries?: ReadonlySet<string>): ChainSearch | undefined {
    const { map, times } = this.#init;
    const known = entries && ((id: string) => (entries.has(id) ? map.link(CLIENT, id) : undefined));
    return depots.length > 0 ? map.search(depots, times.lanesToTry, known) : undefined;
  }
}

function suitedOf(search: ChainSearch | undefined, { suited }: DownloadTimes): RatedChain[] {
  return (search?.best(MOST_COMPARED) ?? []).map(suited);
}
