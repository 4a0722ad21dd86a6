import { domainOf } from '@longhaul/shared';
import { FairMap } from '@longhaul/shared/service';
import type { FoundAddresses } from './look-up.ts';

/** Shortest time that an answer is kept: the connections of one download ask for the same name. */
const MIN_LIFE_MS = 5_000;
/** Longest time that an answer is kept, whatever DNS says: an origin that moves is found again. */
const MAX_LIFE_MS = 300_000;
/** How long a name that has no address, or was not answered for, is not asked for again (RFC 9520 wants a second). */
const FAILURE_LIFE_MS = 5_000;
/** Names kept at once, each of some hundred bytes, fairly shared by domains: one may have names without end. */
const MAX_NAMES = 10_000;

interface Known {
  /** What was found, or what the look-up failed with. */
  readonly outcome: { readonly addresses: readonly string[] } | { readonly failure: unknown };
  readonly foundAtMs: number;
  readonly lifeMs: number;
}

/** What DNS has said of names lately. */
export class NameCache {
  readonly #nowMs: () => number;
  readonly #known = new FairMap<Known>(MAX_NAMES, undefined, (known) => this.#isOver(known));

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** The addresses of a name; throws what the look-up failed with; `undefined` where it must be asked for. */
  recall(host: string): readonly string[] | undefined {
    const known = this.#known.get(host);
    if (!known || this.#isOver(known)) return undefined;
    if ('failure' in known.outcome) throw known.outcome.failure;
    return known.outcome.addresses;
  }

  keep(host: string, { addresses, lifeMs }: FoundAddresses): void {
    this.#put(host, { addresses }, Math.min(MAX_LIFE_MS, Math.max(MIN_LIFE_MS, lifeMs)));
  }

  keepFailure(host: string, failure: unknown): void {
    this.#put(host, { failure }, FAILURE_LIFE_MS);
  }

  #isOver({ foundAtMs, lifeMs }: Known): boolean {
    // A clock that was set back must not make an answer live for longer.
    return Math.abs(this.#nowMs() - foundAtMs) >= lifeMs;
  }

  #put(host: string, outcome: Known['outcome'], lifeMs: number): void {
    this.#known.set(host, { outcome, foundAtMs: this.#nowMs(), lifeMs }, domainOf(host));
  }
}
