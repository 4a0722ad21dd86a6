import type { Fact, FactKind, Stamp } from './fact.ts';
import { FactStore } from './fact-store.ts';

interface FactsInit {
  readonly kinds: readonly FactKind<unknown>[];
  /** The name of this master among the sources. */
  readonly source?: string;
  /** Greater than that of every process of this master before. */
  readonly epoch?: number;
  /** When this process began, by its clock. */
  readonly startedAtMs?: number;
}

/** What this master knows: it learns facts by itself, and holds those of others beside them. */
export class Facts {
  readonly store: FactStore;
  readonly source: string;
  readonly epoch: number;
  readonly startedAtMs: number;
  #sequence = 0;
  #onLearned: ((fact: Fact) => void) | undefined;

  constructor({ kinds, source = 'here', epoch = 1, startedAtMs = 0 }: FactsInit) {
    this.store = new FactStore(kinds);
    this.source = source;
    this.epoch = epoch;
    this.startedAtMs = startedAtMs;
  }

  /** The stamp of what was learned last. */
  get newest(): Stamp {
    return { epoch: this.epoch, sequence: this.#sequence };
  }

  /** What only this master says of a thing. */
  own<Value>(kind: FactKind<Value>, key: string): Fact<Value> | undefined {
    return this.store.of(kind, key, this.source);
  }

  /**
   * Learns something: `value` is now all that this master says of it. Everybody who watches is told before this returns; `false`
   * where there is no room for it. `timeMs` is when it was so, for what is not of this moment.
   */
  learn<Value>(kind: FactKind<Value>, key: string, value: Value, nowMs: number, timeMs = nowMs): boolean {
    this.#sequence += 1;
    const { source, epoch } = this;
    const fact = { kind: kind.name, key, source, epoch, sequence: this.#sequence, timeMs, value };
    const taken = this.store.take(fact, nowMs);
    if (taken.ok && taken.value) this.#onLearned?.(fact);
    return taken.ok;
  }

  /** Calls `tell` with everything that is learned from now on. */
  tellOthers(tell: (fact: Fact) => void): void {
    this.#onLearned = tell;
  }
}
