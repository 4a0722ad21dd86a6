import type { FoundAddresses } from './look-up.ts';

/** Shortest time that an answer is kept: the connections of one download ask for the same name. */
const MIN_LIFE_MS = 5_000;
/** Longest time that an answer is kept, whatever DNS says: an origin that moves is found again. */
const MAX_LIFE_MS = 300_000;
/** How long a name that has no address, or was not answered for, is not asked for again (RFC 9520 wants a second). */
const FAILURE_LIFE_MS = 5_000;
/** Names kept at once, each of a few hundred bytes; the one that was found first makes room. */
const MAX_NAMES = 10_000;

type Known =
  | { readonly addresses: readonly string[]; readonly untilMs: number }
  | { readonly failure: unknown; readonly untilMs: number };

/** What DNS has said of names lately. */
export class NameCache {
  readonly #nowMs: () => number;
  readonly #known = new Map<string, Known>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** The addresses of a name; throws what the look-up failed with; `undefined` where it must be asked for. */
  recall(host: string): readonly string[] | undefined {
    const known = this.#known.get(host);
    if (!known || known.untilMs <= this.#nowMs()) return undefined;
    if ('failure' in known) throw known.failure;
    return known.addresses;
  }

  keep(host: string, { addresses, lifeMs }: FoundAddresses): void {
    this.#put(host, {
      addresses,
      untilMs: this.#nowMs() + Math.min(MAX_LIFE_MS, Math.max(MIN_LIFE_MS, lifeMs)),
    });
  }

  keepFailure(host: string, failure: unknown): void {
    this.#put(host, { failure, untilMs: this.#nowMs() + FAILURE_LIFE_MS });
  }

  #put(host: string, known: Known): void {
    this.#known.delete(host);
    this.#known.set(host, known);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_NAMES) break;
      this.#known.delete(oldest);
    }
  }
}
