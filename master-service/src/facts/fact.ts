import type * as z from 'zod';

/**
 * The whole of what one source knows of one thing. It replaces what the same source said of that thing
 * before, so any order and any repetition of the same facts leads to the same knowledge. Times inside of a
 * value are ages at the fact's own time.
 */
export interface Fact<Value = unknown> extends Stamp {
  readonly kind: string;
  /** What it is about, for example a depot's id. */
  readonly key: string;
  /** The master that has learned it. */
  readonly source: string;
  /** When it was learned, by this master's clock: Unix milliseconds. */
  readonly timeMs: number;
  readonly value: Value;
  /**
   * What others were told under this stamp, and when, where the source has learned hardly anything else
   * since. Nobody is told of this.
   */
  readonly told?: { readonly value: Value; readonly timeMs: number };
}

/** Orders the facts of one source. */
export interface Stamp {
  /** The source's process: a later one has a greater epoch. */
  readonly epoch: number;
  /** Counts the facts of one epoch, from 1 on. */
  readonly sequence: number;
}

/** What facts of one kind are like, and how many there may be. Each room has those whose meaning it knows. */
export interface FactKind<Value> {
  readonly name: string;
  /** Loose: what a newer master says more is kept and passed on. */
  readonly schema: z.ZodType<Value>;
  /**
   * Whether a value surely has this form: a quick look, for kinds of which many thousands are told. Left out,
   * or `false`, the schema says.
   */
  readonly fits?: (value: unknown) => boolean;
  /**
   * Whether a value says hardly anything else than another one. Then others are told only after a while: of
   * what is measured each second most is noise. Left out, every value is news.
   */
  isNear?(value: Value, told: Value): boolean;
  /**
   * The value as others are told it, and as it is held from then on: without what makes it long and says
   * nothing. Left out, as it is.
   */
  toTell?(value: Value): Value;
  /** How a key must look. */
  readonly keys: RegExp;
  /** Facts of one source where no other has any; all together have at most twice as many ... */
  readonly most: number;
  /** ... or so many times as many, where each source comes to speak of the same things. */
  readonly speakers?: number;
  /**
   * When there is no room for a new key: the source's oldest one goes, or the new one is refused where
   * nothing is spare.
   */
  readonly whenFull: 'forget-oldest' | 'refuse';
  /** After this a fact says nothing any more. Infinity where it holds until it is replaced. */
  readonly lifeMs: number;
  /** Whether it is worth a place in the file that outlives the process. */
  readonly isKept: boolean;
}

/** Whether one stamp comes after another one of the same source. */
export function isAfter(one: Stamp, other: Stamp): boolean {
  return one.epoch === other.epoch ? one.sequence > other.sequence : one.epoch > other.epoch;
}

/** The newest of facts about one thing from several sources. Of equally old ones always the same. */
export function newestOf<Value>(facts: readonly Fact<Value>[]): Fact<Value> | undefined {
  const [first, ...others] = facts;
  return first && others.reduce((best, fact) => (isYounger(fact, best) ? fact : best), first);
}

/** Whether one fact is newer than another one, of whatever source. */
export function isYounger(one: Fact, other: Fact): boolean {
  if (one.timeMs !== other.timeMs) return one.timeMs > other.timeMs;
  return one.source === other.source ? isAfter(one, other) : one.source > other.source;
}
