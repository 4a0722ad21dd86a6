import type { Fact, FactKind, Stamp } from './fact.ts';
import { FactStore } from './fact-store.ts';

/**
 * What has hardly changed is told again after this time: others know of a link's newest second, or of one
 * that says the same and is so old at most.
 */
const TELL_AGAIN_MS = 30_000;

interface FactsInit {
  readonly kinds: readonly FactKind<unknown>[];
  /** The name of this master among the sources. */
  readonly source?: string;
  /** Greater than that of every process of this master before. */
  readonly epoch?: number;
  /** When this process began, by its clock. */
  readonly startedAtMs?: number;
}

type Said = Pick<Fact, 'kind' | 'key' | 'timeMs' | 'value'>;
type ToldAs = Pick<Fact, 'source' | 'epoch' | 'sequence'>;
/** A fact as a file keeps it: who has told it, and its stamp, are left out where an older version has written it. */
export type KeptFact = Said & { readonly [part in keyof ToldAs]?: ToldAs[part] | undefined };

/** What this master knows: it learns facts by itself, and holds those of others beside them. */
export class Facts {
  readonly store: FactStore;
  readonly source: string;
  #startedAtMs: number;
  #epoch: number;
  #sequence = 0;
  #onLearned: ((fact: Fact) => void) | undefined;

  constructor({ kinds, source = 'here', epoch = 1, startedAtMs = 0 }: FactsInit) {
    this.store = new FactStore(kinds);
    this.source = source;
    this.#epoch = epoch;
    this.#startedAtMs = startedAtMs;
  }

  /** When this process began, by its clock as it is set now. */
  get startedAtMs(): number {
    return this.#startedAtMs;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** The stamp of what was learned last. */
  get newest(): Stamp {
    return { epoch: this.#epoch, sequence: this.#sequence };
  }

  /** The clock that all times are by was set: what was learned by it is as old as before. */
  shift(byMs: number): void {
    // First, for those who watch what is moved.
    this.#startedAtMs += byMs;
    this.store.shift(byMs);
  }

  /** What only this master says of a thing. */
  own<Value>(kind: FactKind<Value>, key: string): Fact<Value> | undefined {
    return this.store.of(kind, key, this.source);
  }

  /**
   * Learns something: `value` is now all that this master says of it. Everybody who watches is told before
   * this returns, other masters soon, or later where it is hardly news; `false` where there is no room for
   * it. `timeMs` is when it was so, for what is not of this moment.
   */
  learn<Value>(kind: FactKind<Value>, key: string, value: Value, nowMs: number, timeMs = nowMs): boolean {
    if (kind.isNear && this.#revise(kind, key, value, timeMs)) return true;
    return this.#say({ kind: kind.name, key, timeMs, value: kind.toTell?.(value) ?? value }, nowMs);
  }

  /**
   * Knows again what earlier processes have kept, each fact under the stamp that it was told under: where a
   * file is an older copy, what others have heard since of the same source comes after it. Only what has no
   * stamp is learned anew. When the clock turns out to be wrong now, they are as old as their times say.
   */
  recall(kept: readonly KeptFact[], nowMs: number): void {
    const own = kept.flatMap((fact) => (isTold(fact) && fact.source === this.source ? fact.epoch : []));
    const latest = own.reduce((most, epoch) => Math.max(most, epoch), 0);
    // The clock was ahead then, and what else knew of that epoch was lost.
    if (latest >= this.#epoch) this.goOnAfter(latest, nowMs);
    for (const said of kept) {
      if (isTold(said)) this.store.take(said, nowMs);
      else this.#say(said, nowMs);
      this.store.fixTime(said.kind, said.key, said.source ?? this.source);
    }
  }

  /** Whether this master may learn something of a thing: there is room for it. */
  hasRoomFor(kind: FactKind<unknown>, key: string): boolean {
    return this.store.hasRoomFor(kind, key, this.source);
  }

  /**
   * Goes on in an epoch after this one, in which others hold facts by this master's name: the clock was ahead
   * then, and its file was lost. What it says must come after them, so all that this process has learned is
   * learned again: what earlier ones have others know as well, or better. `false` where no epoch comes after.
   */
  goOnAfter(epoch: number, nowMs: number): boolean {
    if (epoch >= Number.MAX_SAFE_INTEGER) return false;
    const learned = [...this.store.facts()].filter(
      (fact) => fact.source === this.source && fact.epoch === this.#epoch,
    );
    this.#epoch = epoch + 1;
    this.#sequence = 0;
    for (const fact of learned) this.#say(fact, nowMs);
    return true;
  }

  /** Says something under the next stamp; `false` where there is no room for it. */
  #say({ kind, key, timeMs, value }: Said, nowMs: number): boolean {
    this.#sequence += 1;
    const fact = { kind, key, timeMs, value, source: this.source, ...this.newest };
    const taken = this.store.take(fact, nowMs);
    if (taken.ok && taken.value) this.#onLearned?.(fact);
    return taken.ok;
  }

  /** Learns what is hardly news under the stamp of what others were told: to them it stays the same. */
  #revise<Value>(kind: FactKind<Value>, key: string, value: Value, timeMs: number): boolean {
    const before = this.own(kind, key);
    if (before?.epoch !== this.#epoch) return false;
    const { told = { value: before.value, timeMs: before.timeMs } } = before;
    const isNews = Math.abs(timeMs - told.timeMs) >= TELL_AGAIN_MS || !kind.isNear?.(value, told.value);
    if (isNews) return false;
    this.store.revise({ ...before, value, timeMs, told });
    return true;
  }

  /** Calls `tell` with everything that is learned from now on. */
  tellOthers(tell: (fact: Fact) => void): void {
    this.#onLearned = tell;
  }
}

function isTold(fact: KeptFact): fact is Fact {
  return fact.source !== undefined && fact.epoch !== undefined && fact.sequence !== undefined;
}
