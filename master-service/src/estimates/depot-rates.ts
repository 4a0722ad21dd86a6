import { isSameSaid, Voices } from './voices.ts';

/**
 * The rates at which depots were seen to send, each to whomever, or to receive: what one sends to nobody
 * faster may be its own line.
 */
export class DepotRates {
  readonly #rates = new Map<string, Voices>();

  /**
   * Counts what a depot sends to one end in place of what it sent there before, in bits per second; either
   * may be left out.
   */
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
}
