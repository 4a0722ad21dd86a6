import { chainKey } from '@longhaul/shared';
import type { DirectEstimate } from '../search/direct-estimate.ts';
import { expectedSeconds, secondsAsKnown } from '../search/expected-seconds.ts';
import type { RatedChain } from '../search/rated-chain.ts';
import { type DownloadTimes, fastestFirst } from './download-times.ts';
import type { RouteQuery, WaitedWay } from './route.ts';
import {
  type AtOneSite,
  type ChainModel,
  type EntryFault,
  entryFault,
  gainTaken,
  timesDirect,
  timesTaken,
  twinFactor,
  wayFactors,
} from './taken-ways.ts';

interface LearnedInit {
  readonly times: DownloadTimes;
  readonly query: Pick<RouteQuery, 'sizeBytes' | 'taken' | 'takenDirect' | 'calibration'>;
  /** The chains to choose from, those that were taken among them. */
  readonly rated: readonly RatedChain[];
  readonly areAtOneSite: AtOneSite;
}

/** The times of the chains that a download chooses from, by their legs and by what downloads over them took. */
export class LearnedTimes {
  readonly #init: LearnedInit;
  readonly #ways: ReadonlyMap<string, WaitedWay>;
  /** Of the chains that were taken. */
  readonly #factors: ReadonlyMap<string, number>;
  /** What is wrong of entry depots; nothing of most. */
  readonly #entryFaults = new Map<string, EntryFault | undefined>();
  /** Of others that were asked for. */
  readonly #twinFactors = new Map<string, number>();

  constructor(init: LearnedInit) {
    const { query, rated, areAtOneSite } = init;
    this.#init = init;
    this.#ways = new Map((query.taken ?? []).map((way) => [chainKey(way.chain), way]));
    this.#factors = wayFactors(this.#taken(rated, expectedSeconds), query.sizeBytes, areAtOneSite);
  }

  /** Whether downloads took it. */
  isTaken(rated: RatedChain): boolean {
    return this.#ways.has(chainKey(rated.chain));
  }

  /** The mean time of a chain with its lanes over all that may be. */
  readonly expected = (rated: RatedChain): number => this.#factorOf(rated) * this.#init.times.expected(rated);

  /** Its times in each of what may be. */
  readonly inEach = (rated: RatedChain): readonly number[] => {
    const factor = this.#factorOf(rated);
    return this.#init.times.inEach(rated).map((seconds) => factor * seconds);
  };

  /** The chains by their expected times. Those as good as each other stay in the order of their point estimates. */
  inOrder(): RatedChain[] {
    return fastestFirst(this.#init.rated, this.expected);
  }

  /**
   * How many times as long as the likeliest of its legs says a chain is predicted to take; `undefined` where
   * nobody knows.
   */
  calibrationOf(rated: RatedChain): number | undefined {
    const { times, query } = this.#init;
    const { calibration, sizeBytes } = query;
    const way = this.#wayOf(rated);
    return way ? timesTaken(way, sizeBytes, times.by(rated, secondsAsKnown), calibration ?? 1) : calibration;
  }

  /**
   * How long the origin thinks before it answers, as downloads over a chain met it, in seconds: over the
   * direct way it would as well. Where direct ones were told of these show it by themselves, and that it is
   * the chain that waits.
   */
  thoughtSeconds(rated: RatedChain): number {
    const { takenDirect = [] } = this.#init.query;
    return takenDirect.length > 0 ? 0 : (this.#wayOf(rated)?.thoughtSeconds ?? 0);
  }

  /**
   * How long this download takes by what others over the chain took, or over all like it of its entry depot,
   * in seconds; `undefined` where nobody took any.
   */
  secondsTaken(rated: RatedChain): number | undefined {
    const { sizeBytes } = this.#init.query;
    const way = this.#wayOf(rated);
    const fault = this.#entryFaultOf(rated);
    if (!way && !fault) return undefined;
    const own = way ? timesTaken(way, sizeBytes, this.#waited(rated, secondsAsKnown), 1) : 1;
    return Math.max(own, fault?.times ?? 1) * (rated.seconds + this.thoughtSeconds(rated));
  }

  /** Whether all chains of its entry depot that were taken took by far too long where it passes, too. */
  isOfSlowEntry(rated: RatedChain): boolean {
    return this.#entryFaultOf(rated) !== undefined;
  }

  /**
   * How many times more a chain gains over the direct way than the model of both says; 1 where nobody has
   * told what either took.
   */
  gainTaken(rated: RatedChain, direct: DirectEstimate['part']): number {
    const { times, query } = this.#init;
    const { sizeBytes, takenDirect: downloads = [] } = query;
    const way = this.#wayOf(rated);
    if (downloads.length === 0 && !way) return 1;
    const chain = way && { way, model: this.#waited(rated, expectedSeconds) };
    const directly = times.directBy(direct, expectedSeconds);
    const model = (bytes: number) => this.thoughtSeconds(rated) + directly(bytes);
    return gainTaken({ downloads, model }, chain, sizeBytes);
  }

  /**
   * How many times as long as is worked out of it the direct way takes, by what downloads took; `undefined`
   * where nobody has told.
   */
  timesDirect(direct: DirectEstimate['part']): number | undefined {
    const { times, query } = this.#init;
    const { sizeBytes, takenDirect: downloads = [] } = query;
    if (downloads.length === 0) return undefined;
    return timesDirect(downloads, sizeBytes, times.directBy(direct, expectedSeconds));
  }

  /** How long a direct download takes by a model of it, and by what direct downloads took. */
  directSeconds(model: (sizeBytes: number) => number): number {
    const { sizeBytes, takenDirect: downloads = [] } = this.#init.query;
    const times = downloads.length === 0 ? 1 : timesDirect(downloads, sizeBytes, model);
    return times * model(sizeBytes);
  }

  /** What a chain's legs say of other bytes and lanes, with what the origin thinks before. */
  #waited(rated: RatedChain, secondsOf: typeof expectedSeconds): ChainModel {
    const byLegs = this.#init.times.by(rated, secondsOf);
    return (sizeBytes, lanes) => this.thoughtSeconds(rated) + byLegs(sizeBytes, lanes);
  }

  #entryFaultOf({ chain }: RatedChain): EntryFault | undefined {
    const [entry = ''] = chain;
    if (!this.#entryFaults.has(entry)) {
      const { rated, query } = this.#init;
      const taken = this.#taken(
        rated.filter((one) => one.chain[0] === entry),
        secondsAsKnown,
      );
      this.#entryFaults.set(entry, entryFault(taken, query.sizeBytes));
    }
    const fault = this.#entryFaults.get(entry);
    return fault?.depots.every((id) => chain.includes(id)) ? fault : undefined;
  }

  /** Those of chains that were taken, with what their legs say. */
  #taken(rated: readonly RatedChain[], secondsOf: typeof expectedSeconds) {
    return rated.flatMap((one) => {
      const way = this.#wayOf(one);
      return way ? [{ way, model: this.#waited(one, secondsOf) }] : [];
    });
  }

  #wayOf({ chain }: RatedChain): WaitedWay | undefined {
    return this.#ways.get(chainKey(chain));
  }

  #factorOf({ chain }: RatedChain): number {
    const key = chainKey(chain);
    const taken = this.#factors.get(key);
    if (taken !== undefined) return taken;
    const factor = this.#twinFactors.get(key) ?? twinFactor(chain, this.#factors, this.#init.areAtOneSite);
    this.#twinFactors.set(key, factor);
    return factor;
  }
}
