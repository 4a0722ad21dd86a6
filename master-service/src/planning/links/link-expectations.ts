import type { Prior } from '../../estimates/figure.ts';
import { classMemberOf, LearnedPriors } from '../../estimates/learned-priors.ts';
import type { LegFigures } from '../../estimates/leg-figures.ts';
import { OWN_LINE, OwnLines, type SeenLine, type SeenRate } from '../../estimates/own-lines.ts';

/** What one connection is taken to carry while no link has told anything, in bits per second: a usual line. */
const ASSUMED_BPS = 100e6;

/**
 * What a link is expected to be by what was measured of others: those of its length, and those of its two
 * ends, whose lines bound it.
 */
export class LinkExpectations {
  readonly #priors = new LearnedPriors(ASSUMED_BPS);
  readonly #lines = new OwnLines();

  /** Takes in what `from` has measured of its link to `to` in the place of what it had; `undefined` for nothing. */
  replace(from: string, to: string, before: LegFigures | undefined, now: LegFigures | undefined): void {
    this.#priors.replace(from, before && classMemberOf(before), now && classMemberOf(now));
    this.#lines.replace(from, to, now && seenOf(now));
  }

  /** What one connection over a link of such a length usually carries. */
  usual(rttMs: number): Prior {
    return this.#priors.goodput(rttMs);
  }

  /** The mean loss rate of links of such a length. */
  loss(rttMs: number): number {
    return this.#priors.loss(rttMs);
  }

  /** What one connection is expected to carry from `other` to `one`, where nobody has measured that. */
  goodput(one: string, other: string, rttMs: number): Prior {
    const usual = this.usual(rttMs);
    const mostBps = this.mostBps(one, other, usual.value);
    return mostBps < usual.value ? { ...usual, value: mostBps, source: 'derived' } : usual;
  }

  /**
   * The most that it may carry by what these two were seen to send and to receive elsewhere, in bits per
   * second, where that is less than is asked for.
   */
  mostBps(one: string, other: string, askedBps: number): number {
    const telling = this.linesOf(one, other, askedBps).filter(({ links }) => links >= OWN_LINE.telling);
    return OWN_LINE.times * Math.min(...telling.map(({ mostBps }) => mostBps));
  }

  /** The most that a depot was seen to send to another one, in bits per second; 0 where nothing is known. */
  mostSentBps(depot: string): number {
    return this.#lines.mostSentBps(depot);
  }

  /**
   * The most that a depot was seen to receive from another one, or to send, in bits per second; 0 where
   * nothing is known.
   */
  mostReceivedBps(depot: string): number {
    return this.#lines.mostReceivedBps(depot);
  }

  /**
   * What was seen of the lines of both ends of the leg on which `other` sends to `one`, as far as that may
   * bound so much: of what `other` sends, and `one` receives.
   */
  linesOf(one: string, other: string, askedBps: number): readonly SeenLine[] {
    return this.#lines.of(other, one, askedBps);
  }
}

/** What was seen to go over it. */
function seenOf({ goodput, total }: LegFigures): SeenRate | undefined {
  if (!goodput) return undefined;
  const { value, reached = value } = goodput;
  return { bps: Math.max(reached, total?.value ?? 0), isLeast: goodput.reached !== undefined };
}
