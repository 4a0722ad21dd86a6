import type { Prior } from './figure.ts';

/** Ends of the RTT classes: within a city, a country, a continent, over an ocean, round the world. */
const CLASS_ENDS_MS: readonly number[] = [5, 20, 60, 150];
/** What is assumed counts as much as so many links of the class. */
const ASSUMED_LINKS = 3;
/** How much the rates of links of one class differ where nothing is known: a factor of three. */
const ASSUMED_BETWEEN = 1.1;
/** How much the rates differ that one link gives one connection after the other. */
const USUAL_WITHIN = 0.3;
/** What is assumed of losses counts as much as so many bytes sent. */
const ASSUMED_BYTES = 100_000_000;
/** The mean of what links lose, where nothing is known: most lose much less, some ten times as much. */
const ASSUMED_LOSS = 3e-4;

/** What is known of one link of a class. */
export interface ClassMember {
  readonly rttMs: number;
  readonly goodputBps: number | undefined;
  readonly sentBytes: number;
  readonly lostBytes: number;
}

interface Sums {
  links: number;
  logs: number;
  squares: number;
  sentBytes: number;
  lostBytes: number;
}

/** What is to be expected of a link of which only the round trip is known: what others of its RTT class have shown. */
export class LearnedPriors {
  readonly #classes: readonly Sums[];
  readonly #assumedBps: number;

  constructor(assumedBps: number) {
    this.#assumedBps = assumedBps;
    this.#classes = [...CLASS_ENDS_MS, Number.POSITIVE_INFINITY].map(() => {
      return { links: 0, logs: 0, squares: 0, sentBytes: 0, lostBytes: 0 };
    });
  }

  /** Counts a link, or (-1) counts it no more, with the same figures. */
  count({ rttMs, goodputBps, sentBytes, lostBytes }: ClassMember, times: 1 | -1): void {
    const sums = this.#classOf(rttMs);
    if (!sums) return;
    sums.sentBytes += times * sentBytes;
    sums.lostBytes += times * lostBytes;
    if (goodputBps === undefined) return;
    const log = Math.log(goodputBps / this.#assumedBps);
    sums.links += times;
    sums.logs += times * log;
    sums.squares += times * log ** 2;
  }

  /** The goodput of one connection. */
  goodput(rttMs: number): Prior {
    const { links = 0, logs = 0, squares = 0 } = this.#classOf(rttMs) ?? {};
    const mean = logs / (links + ASSUMED_LINKS);
    const variance =
      (ASSUMED_LINKS * (ASSUMED_BETWEEN ** 2 + mean ** 2) + squares - 2 * mean * logs + links * mean ** 2) /
      (links + ASSUMED_LINKS);
    return {
      value: this.#assumedBps * Math.exp(mean),
      between: Math.sqrt(Math.max(0, variance)),
      within: USUAL_WITHIN,
      source: links > ASSUMED_LINKS ? 'derived' : 'assumed',
    };
  }

  /** The mean loss rate. */
  loss(rttMs: number): number {
    const { sentBytes = 0, lostBytes = 0 } = this.#classOf(rttMs) ?? {};
    return (lostBytes + ASSUMED_LOSS * ASSUMED_BYTES) / (sentBytes + ASSUMED_BYTES);
  }

  #classOf(rttMs: number): Sums | undefined {
    const place = CLASS_ENDS_MS.findIndex((endMs) => rttMs < endMs);
    return this.#classes.at(place);
  }
}
