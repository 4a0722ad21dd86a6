import { type Authority, formatAuthority, plainAddress } from '@longhaul/shared';

/**
 * The places are gathered again after so long, and whenever a depot is heard of: each time goes through all
 * of them.
 */
const GATHER_MS = 1_000;

/** Where depots and masters listen, for every target to be held against: one look-up, however many there are. */
export class OverlayPlaces {
  readonly #list: () => Iterable<Authority>;
  readonly #now: () => number;
  #known: { readonly places: ReadonlySet<string>; readonly atMs: number } | undefined;

  constructor(list: () => Iterable<Authority>, now: () => number) {
    this.#list = list;
    this.#now = now;
  }

  /** Whether something of the overlay listens there, by name or address. */
  has(host: string, port: number): boolean {
    const nowMs = this.#now();
    if (!this.#known || Math.abs(nowMs - this.#known.atMs) >= GATHER_MS) {
      const places = Array.from(this.#list(), (place) =>
        formatAuthority(plainAddress(place.host), place.port),
      );
      this.#known = { places: new Set(places), atMs: nowMs };
    }
    return this.#known.places.has(formatAuthority(plainAddress(host), port));
  }

  /** Gathers again, the next time that it matters. */
  noteChange(): void {
    this.#known = undefined;
  }
}
