import { isSameSaid, Voices } from './voices.ts';

/** Where a depot was seen to send over so many links, or to receive, no other one is expected to carry more than so many times the most of them: its own line may be what bounds them all. */
export const OWN_LINE = { telling: 3, times: 1.5 } as const;

/** What was seen of a depot's own line, in one direction. */
export interface SeenLine {
  /** Of how many of its links it is known what they carry. */
  readonly links: number;
  /** The most of that, in bits per second; 0 where nothing is known. */
  readonly mostBps: number;
}

/** The rates at which depots were seen to send, each to whomever, or to receive: what one sends to nobody faster may be its own line. */
export class DepotRates {
  readonly #rates = new Map<string, Voices>();

  /** Counts what a depot sends to one end in place of what it sent there before, in bits per second; either may be left out. */
  replace(depot: string, beforeBps: number | undefined, nowBps: number | undefined): void {
    // What is measured anew each second mostly says the same.
    if (beforeBps && nowBps && isSameSaid(Math.log(beforeBps), Math.log(nowBps))) return;
    const rates = this.#rates.get(depot) ?? new Voices();
    if (beforeBps !== undefined) rates.count(Math.log(beforeBps), -1);
    if (nowBps !== undefined) rates.count(Math.log(nowBps), 1);
    if (rates.total > 0) this.#rates.set(depot, rates);
    else this.#rates.delete(depot);
  }

  /** How many ends tell what a depot sends. */
  count(depot: string): number {
    return this.#rates.get(depot)?.total ?? 0;
  }

  /** The highest of them, in bits per second, by a few per cent; 0 where none is known. */
  mostBps(depot: string): number {
    const most = this.#rates.get(depot)?.said.at(-1);
    return most ? Math.exp(most[0]) : 0;
  }

  /** What is known of a depot's own line by that. */
  lineOf(depot: string): SeenLine {
    return { links: this.count(depot), mostBps: this.mostBps(depot) };
  }
}
