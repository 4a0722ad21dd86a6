import type { RatedChain } from './chain-search.ts';
import type { DirectEstimate } from './direct-estimate.ts';
import { type DownloadTimes, fastestFirst } from './download-times.ts';
import { expectedSeconds, secondsAsKnown } from './expected-seconds.ts';
import type { RouteQuery } from './route.ts';
import { gainTaken, type TakenWay, timesDirect, timesTaken, wayFactors } from './taken-ways.ts';

interface LearnedInit {
  readonly times: DownloadTimes;
  readonly query: Pick<RouteQuery, 'sizeBytes' | 'taken' | 'takenDirect' | 'calibration'>;
  /** The chains to choose from, those that were taken among them. */
  readonly rated: readonly RatedChain[];
}

/** The times of the chains that a download chooses from, by their legs and by what downloads over them took. */
export class LearnedTimes {
  readonly #init: LearnedInit;
  readonly #ways: ReadonlyMap<string, TakenWay>;
  readonly #factors: ReadonlyMap<string, number>;

  constructor(init: LearnedInit) {
    const { times, query, rated } = init;
    this.#init = init;
    this.#ways = new Map((query.taken ?? []).map((way) => [way.chain.join(), way]));
    const taken = rated.flatMap((one) => {
      const way = this.#wayOf(one);
      return way ? [{ way, model: times.by(one, expectedSeconds) }] : [];
    });
    this.#factors = wayFactors(taken, query.sizeBytes);
  }

  /** Whether downloads took it. */
  isTaken(rated: RatedChain): boolean {
    return this.#ways.has(rated.chain.join());
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

  /** How many times as long as the likeliest of its legs says a chain is predicted to take; `undefined` where nobody knows. */
  calibrationOf(rated: RatedChain): number | undefined {
    const { calibration } = this.#init.query;
    return this.timesTaken(rated, calibration) ?? calibration;
  }

  /** How many times as long as that downloads over a chain take by themselves, and by what all chains have in common; `undefined` where nobody took it. */
  timesTaken(rated: RatedChain, calibration = 1): number | undefined {
    const { times, query } = this.#init;
    const way = this.#wayOf(rated);
    return way && timesTaken(way, query.sizeBytes, times.by(rated, secondsAsKnown), calibration);
  }

  /** How many times more a chain gains over the direct way than the model of both says; 1 where nobody has told what either took. */
  gainTaken(rated: RatedChain, direct: DirectEstimate['part']): number {
    const { times, query } = this.#init;
    const { sizeBytes, takenDirect: downloads = [] } = query;
    const way = this.#wayOf(rated);
    if (downloads.length === 0 && !way) return 1;
    const chain = way && { way, model: times.by(rated, expectedSeconds) };
    return gainTaken({ downloads, model: times.directBy(direct, expectedSeconds) }, chain, sizeBytes);
  }

  /** How many times as long as is worked out of it the direct way takes, by what downloads took; `undefined` where nobody has told. */
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

  #wayOf({ chain }: RatedChain): TakenWay | undefined {
    return this.#ways.get(chain.join());
  }

  #factorOf({ chain }: RatedChain): number {
    return this.#factors.get(chain.join()) ?? 1;
  }
}
