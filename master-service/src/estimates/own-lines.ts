import { DepotRates } from './depot-rates.ts';

/**
 * Where so many links tell of a depot's own line, no other one is expected to carry more than so many times
 * the most of them. A link tells of it where its other end was seen to do so many times as much elsewhere:
 * else that one may be what bounds it.
 */
export const OWN_LINE = { telling: 3, times: 1.5 } as const;

/** What was seen of a depot's own line, in one direction. */
export interface SeenLine {
  /**
   * How many of its links tell what it carries: of more than enough no more are counted. Of a line that was
   * seen to carry about what is asked for, and bounds nothing, each does.
   */
  readonly links: number;
  /** The most that it was seen to carry, in bits per second; 0 where nothing is known. */
  readonly mostBps: number;
}

/** What was seen to go over a link, in bits per second. */
export interface SeenRate {
  readonly bps: number;
  /** It may carry more: its sender had met no limit. */
  readonly isLeast: boolean;
}

/** What depots were seen to send to each other, and to receive: what one sends to nobody faster may be its own line. */
export class OwnLines {
  readonly #sent = new Seen();
  readonly #received = new Seen();

  /** Takes in what is known now of the link on which `from` sends to `to`; `undefined` for nothing. */
  replace(from: string, to: string, now: SeenRate | undefined): void {
    this.#sent.replace(from, to, now);
    this.#received.replace(to, from, now);
  }

  /** The most that a depot was seen to send to another one, in bits per second; 0 where nothing is known. */
  mostSentBps(depot: string): number {
    return this.#sent.mostBps(depot);
  }

  /**
   * The most that a depot was seen to receive from another one, in bits per second, or to send: hardly a line
   * receives less than it sends.
   */
  mostReceivedBps(depot: string): number {
    return Math.max(this.#received.mostBps(depot), this.mostSentBps(depot));
  }

  /**
   * What is known of the lines of both ends, the sender's first, as far as that may bound a link that is
   * asked to carry so much.
   */
  of(from: string, to: string, askedBps: number): readonly SeenLine[] {
    return [
      this.#sent.lineOf(from, askedBps, (depot) => this.mostReceivedBps(depot)),
      this.#received.lineOf(to, askedBps, (depot) => this.mostSentBps(depot)),
    ];
  }
}

/** What was seen in one direction. */
class Seen {
  /** By depot, and by the other end. */
  readonly #rates = new Map<string, Map<string, SeenRate>>();
  readonly #most = new DepotRates();

  replace(depot: string, end: string, now: SeenRate | undefined): void {
    const rates = this.#rates.get(depot) ?? new Map<string, SeenRate>();
    this.#most.replace(depot, rates.get(end)?.bps, now?.bps);
    if (now) rates.set(end, now);
    else rates.delete(end);
    if (rates.size > 0) this.#rates.set(depot, rates);
    else this.#rates.delete(depot);
  }

  mostBps(depot: string): number {
    return this.#most.mostBps(depot);
  }

  lineOf(depot: string, askedBps: number, mostOfEnd: (end: string) => number): SeenLine {
    const rates = this.#rates.get(depot) ?? new Map<string, SeenRate>();
    const mostBps = this.mostBps(depot);
    // Most lines are wide: their links, which may be a thousand, need not be looked at.
    if (OWN_LINE.times * mostBps >= askedBps)
      return { links: Math.min(rates.size, OWN_LINE.telling), mostBps };
    let links = 0;
    for (const [end, { bps, isLeast }] of rates) {
      if (!isLeast && mostOfEnd(end) >= OWN_LINE.times * bps) links += 1;
      if (links === OWN_LINE.telling) break;
    }
    return { links, mostBps };
  }
}
