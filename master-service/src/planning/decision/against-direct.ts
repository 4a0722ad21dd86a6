import { chainSeconds, type Prediction } from '@longhaul/shared';
import { expectedSeconds, secondsAsKnown } from '../search/expected-seconds.ts';
import type { RatedChain } from '../search/rated-chain.ts';
import type { DirectWay } from './download-map.ts';
import { type DownloadTimes, isGuessed } from './download-times.ts';
import { leastGain } from './held-ways.ts';
import type { LearnedTimes } from './learned-times.ts';
import type { RouteQuery } from './route.ts';

/**
 * What a chain must reach of the direct way by what is known alone, where that is worked out from what depots
 * measured of both ends. The direct way is taken to be as short as in one of four cases, and hardly lossy: a
 * chain that reaches so much of that is as fast in the median, and many times faster where it is not so.
 */
const LEAST_GAIN_AS_KNOWN = { usually: 0.9, whereMuch: 0.8 } as const;
/**
 * So much faster in the mean a chain may cost more of that: what set-up costs a small file is little beside
 * what a lossy way costs it.
 */
const MUCH_GAIN = 1.3;

/**
 * So many times as long as the direct way a chain may take by its downloads: what it gains is in the mean,
 * and this is what is likeliest.
 */
const MOST_TIMES_DIRECT = 1.3;

/**
 * How much faster a chain must be in the mean where nobody has measured one of its legs: only such a download
 * teaches what it is like.
 */
const LEAST_GAIN_GUESSED = 1.02;

interface AgainstDirectInit {
  readonly direct: DirectWay;
  readonly times: DownloadTimes;
  readonly learned: LearnedTimes;
  readonly query: Pick<RouteQuery, 'sizeBytes' | 'held'>;
  /** How many times faster than direct a chain must be. */
  readonly minimumGain: number;
}

type SecondsOf = typeof expectedSeconds;

/** Chains held against the direct way: by their legs, and by what downloads over both took. */
export class AgainstDirect {
  readonly #init: AgainstDirectInit;

  constructor(init: AgainstDirectInit) {
    this.#init = init;
  }

  /**
   * Whether a chain is to be taken: it is faster by its legs and by what downloads took of late, and
   * disappoints nobody.
   */
  readonly wins = (rated: RatedChain): boolean =>
    this.#isFaster(rated, (secondsOf) => this.gain(rated, secondsOf)) && !this.#disappoints(rated);

  /** Whether it would be by its legs alone. */
  readonly isFasterByLegs = (rated: RatedChain): boolean =>
    this.#isFaster(rated, (secondsOf) => this.#gainByLegs(rated, secondsOf));

  /** How many times faster a chain is than direct, in the mean over what may be. */
  gain(rated: RatedChain, secondsOf: SecondsOf = expectedSeconds): number {
    const { learned, direct } = this.#init;
    return learned.gainTaken(rated, direct.part) * this.#gainByLegs(rated, secondsOf);
  }

  /**
   * What a direct download takes, told beside that over a chain: an add-on holds the rest of a download that
   * has begun against the chain by it.
   */
  predictedBeside(rated: RatedChain | undefined): Prediction {
    const { direct, learned, query } = this.#init;
    const predicted = direct.predict(query.sizeBytes);
    // What direct downloads took too long is told as well.
    const times = Math.max(1, rated ? learned.gainTaken(rated, direct.part) : 1);
    return { ...predicted, seconds: times * predicted.seconds, goodputBps: predicted.goodputBps / times };
  }

  #isFaster(rated: RatedChain, gainBy: (secondsOf?: SecondsOf) => number): boolean {
    const gain = gainBy();
    if (gain < this.#leastOf(rated)) return false;
    if (this.#init.direct.source !== 'ends') return true;
    const { whereMuch, usually } = LEAST_GAIN_AS_KNOWN;
    return gainBy(secondsAsKnown) >= (gain >= MUCH_GAIN ? whereMuch : usually);
  }

  #leastOf(rated: RatedChain): number {
    const { minimumGain, query } = this.#init;
    const least = leastGain(minimumGain, rated.chain, query.held);
    return Math.min(least, isGuessed(rated) ? LEAST_GAIN_GUESSED : minimumGain);
  }

  /** Whether downloads over a chain take longer than the direct way would: whatever the cause, it brings nothing. */
  #disappoints(rated: RatedChain): boolean {
    const { direct, learned } = this.#init;
    // The origin would think as long for who asks it directly.
    const thoughtSeconds = learned.thoughtSeconds(rated);
    const directSeconds = learned.directSeconds(
      (bytes) => thoughtSeconds + chainSeconds(direct.legs, bytes, direct.setUp, 1),
    );
    return (learned.secondsTaken(rated) ?? 0) > MOST_TIMES_DIRECT * directSeconds;
  }

  #gainByLegs(rated: RatedChain, secondsOf: SecondsOf = expectedSeconds): number {
    const { times, direct } = this.#init;
    return times.gain(rated, direct.part, secondsOf);
  }
}
