import type { Chain, SetUp } from '@longhaul/shared';
import type { PlannerConfig } from '../../config.ts';
import { AS_GOOD_AS_BEST, chooseLanes, laneChoices } from '../search/choose-lanes.ts';
import type { DirectEstimate } from '../search/direct-estimate.ts';
import { expectedSeconds, scenarioSeconds } from '../search/expected-seconds.ts';
import type { PlanningDepot } from '../search/planning-depot.ts';
import type { RatedChain } from '../search/rated-chain.ts';
import type { RouteQuery } from './route.ts';

/** Chains that are compared for one download by what is unsure of them: the fastest by the point estimates. */
export const MOST_COMPARED = 16;

/**
 * Sizes of files of which nobody knows the size, as shares of the assumed one: from a hundred kilobytes to a hundred
 * megabytes. A client that has asked the master has paid for the redirect either way, and then small files gain most.
 */
const USUAL_SHARES: readonly number[] = [1, 0.1, 0.01, 0.001];

interface TimesInit {
  readonly config: Pick<PlannerConfig, 'maxLanes' | 'minLaneBytes'>;
  readonly query: Pick<
    RouteQuery,
    'sizeBytes' | 'isSizeAssumed' | 'originTls' | 'lanes' | 'depotBreaksPerSecond'
  >;
  readonly depots: readonly PlanningDepot[];
}

/** How long one download takes over chains and directly, over all that may be. */
export class DownloadTimes {
  readonly #init: TimesInit;
  /** Numbers of lanes to choose from, ascending. */
  readonly lanesToTry: readonly number[];

  constructor(init: TimesInit) {
    this.#init = init;
    this.lanesToTry = laneChoices(init.config, init.query.sizeBytes, init.query.lanes);
  }

  /** The mean time of a chain with its lanes over all that may be. */
  readonly expected = (rated: RatedChain): number => expectedSeconds(this.#over(rated));

  /** Its times in each of what may be. */
  readonly inEach = (rated: RatedChain): readonly number[] => scenarioSeconds(this.#over(rated));

  /** The same of the direct way. */
  directInEach(direct: DirectEstimate['part']): readonly number[] {
    return scenarioSeconds(this.#directly(direct));
  }

  setUpOf(chain: Chain): SetUp {
    return setUpOf(this.#init.query, chain, this.#init.depots);
  }

  /**
   * A chain of which a leg is guessed, with the fewest lanes that are about as good as the best, over what
   * may be; others as they are.
   */
  readonly suited = (rated: RatedChain): RatedChain => {
    if (!isGuessed(rated)) return rated;
    const tried = this.lanesToTry.map((lanes) => ({ lanes, seconds: this.expected({ ...rated, lanes }) }));
    const best = Math.min(...tried.map(({ seconds }) => seconds));
    const { lanes = rated.lanes } = tried.find(({ seconds }) => seconds <= best * AS_GOOD_AS_BEST) ?? {};
    return { ...rated, lanes };
  };

  /** What is worked out of the direct way for other bytes. */
  directBy(direct: DirectEstimate['part'], secondsOf: typeof expectedSeconds) {
    return (sizeBytes: number): number => secondsOf(this.#directly(direct, sizeBytes));
  }

  /** What a chain's legs say of other bytes and lanes. */
  by(rated: RatedChain, secondsOf: typeof expectedSeconds) {
    return (sizeBytes: number, lanes: number): number =>
      secondsOf(this.#over({ ...rated, lanes }, sizeBytes));
  }

  /**
   * How many times faster a chain is than direct; of a file of which nobody knows the size, the mean over
   * usual sizes.
   */
  gain(rated: RatedChain, direct: DirectEstimate['part'], secondsOf: typeof expectedSeconds): number {
    const { sizeBytes, isSizeAssumed = false, lanes } = this.#init.query;
    const { chain, legs } = rated;
    const setUp = this.setUpOf(chain);
    const sizes = (isSizeAssumed ? USUAL_SHARES : [1]).map((share) => share * sizeBytes);
    const logs = sizes.map((size) => {
      const choices = laneChoices(this.#init.config, size, lanes);
      // Of a leg that nobody knows lanes are insurance: fewer may be enough for what is likeliest.
      const suited = isGuessed(rated)
        ? { lanes: Math.min(rated.lanes, Math.max(...choices)) }
        : chooseLanes(legs, size, setUp, choices);
      const over = secondsOf(this.#over({ ...rated, lanes: suited.lanes }, size));
      return Math.log(secondsOf(this.#directly(direct, size)) / over);
    });
    return Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length);
  }

  /** A chain with its lanes, as its times are worked out. */
  #over(
    { chain, parts, lanes, clientTls, roomPerSecond }: RatedChain,
    sizeBytes = this.#init.query.sizeBytes,
  ) {
    const { originTls, depotBreaksPerSecond = 0 } = this.#init.query;
    const setUp = { clientTls, originTls };
    const breaksPerSecond = chain.length * depotBreaksPerSecond;
    return { parts, lanes, sizeBytes, setUp, roomPerSecond, breaksPerSecond };
  }

  /** The direct way likewise. */
  #directly(direct: DirectEstimate['part'], sizeBytes = this.#init.query.sizeBytes) {
    const { originTls } = this.#init.query;
    const setUp = { clientTls: originTls, originTls };
    const free = { roomPerSecond: Number.POSITIVE_INFINITY, breaksPerSecond: 0 };
    return { parts: [direct], lanes: 1, sizeBytes, setUp, ...free };
  }
}

/** Chains by these times, each worked out once. Those as good as each other stay in their order. */
export function fastestFirst(
  rated: readonly RatedChain[],
  secondsOf: (rated: RatedChain) => number,
): RatedChain[] {
  return rated
    .map((one) => ({ one, seconds: secondsOf(one) }))
    .toSorted((first, second) => first.seconds - second.seconds)
    .map(({ one }) => one);
}

/** Whether nobody has measured one of its legs. */
export function isGuessed({ links }: RatedChain): boolean {
  return links.some(({ source }) => source !== undefined);
}

/** What a chain's first and last connection cost beside round trips: TLS, at each end. */
export function setUpOf(
  { originTls }: Pick<RouteQuery, 'originTls'>,
  chain: Chain,
  depots: readonly PlanningDepot[],
): SetUp {
  const entry = depots.find((depot) => depot.id === chain[0]);
  return { clientTls: entry?.tls ?? false, originTls };
}
