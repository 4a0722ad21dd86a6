import type { Chain, SizeReport } from '@longhaul/shared';
import { LruMap } from '@longhaul/shared/service';

/** URLs whose size is remembered, and URLs whose size some depots may tell; about 100 bytes each. */
const MAX_SIZES = 100_000;
/** Depots that may tell the size of one URL: the newest plan with all its alternatives, and some of older ones. */
const MAX_WITNESSES = 8;

/**
 * Sizes that depots saw in origins' answers, by the ticket's URL hash. A depot is believed only about what a ticket of this
 * master let it fetch as entry depot.
 */
export class SizeMemory {
  readonly #sizes = new LruMap<string, Omit<SizeReport, 'urlHash'>>(MAX_SIZES);
  readonly #witnesses = new LruMap<string, readonly string[]>(MAX_SIZES);

  /** Notes a ticket: the entry depots of its chains will see the file. */
  noteTicket(urlHash: string, chains: readonly Chain[]): void {
    const entries = chains.flatMap(([entry]) => (entry === undefined ? [] : [entry]));
    if (entries.length === 0) return;
    const all = new Set([...entries, ...(this.#witnesses.get(urlHash) ?? [])]);
    this.#witnesses.set(urlHash, [...all].slice(0, MAX_WITNESSES));
  }

  /** Takes in what `depot` reports; the newest report of a URL counts. */
  report(depot: string, reports: readonly SizeReport[]): void {
    for (const { urlHash, ...seen } of reports) {
      if (this.#witnesses.get(urlHash)?.includes(depot)) this.#sizes.set(urlHash, seen);
    }
  }

  recall(urlHash: string): number | undefined {
    return this.#sizes.get(urlHash)?.sizeBytes;
  }

  /** Whether a depot has told that no part of the file can be asked for. */
  isWholeOnly(urlHash: string): boolean {
    return this.#sizes.get(urlHash)?.isWholeOnly === true;
  }
}
