/** What is said is taken to so much: a twentieth of an e-fold, 2.5 % to either side. */
const STEP = 0.05;
/** What is assumed weighs as much as so many who speak. */
const ASSUMED_SPEAKERS = 3;
/** So far one who speaks moves what all say together, whatever he says: by a fifth. */
const MOST_MOVED = Math.log(1.2);
/** So far he pulls at most. */
const MOST_PULL = ASSUMED_SPEAKERS * MOST_MOVED;
/**
 * The logarithm of a deviation's square is in the mean so much below that of the variance, for things that
 * differ as they are assumed to.
 */
const SHORT_OF_VARIANCE = 0.65;
/** Balance is found after a handful of steps, whatever is said; a hundred halve what is left to nothing. */
const MOST_STEPS = 100;
/** So near to it is near enough. */
const EXACT = 1e-9;

/** A value and how many voices it has. */
export type Said = readonly [value: number, voices: number];

/** Whether two values count as the same one. */
export function isSameSaid(one: number, other: number): boolean {
  return stepOf(one) === stepOf(other);
}

function stepOf(value: number): number {
  return Math.round(value / STEP);
}

/**
 * What many say of one kind of thing, as logarithms. Everybody has as many voices, and all of one together
 * pull only so far: who lies moves hardly more than who errs (P. Huber, "Robust estimation of a location
 * parameter", Annals of Mathematical Statistics 35, 1964).
 */
export class Voices {
  readonly #each: number;
  /** By steps. Whole numbers, so that what is counted no more leaves nothing behind. */
  readonly #counts = new Map<number, number>();
  #total = 0;
  #sorted: readonly Said[] | undefined;

  /** `each` is how many voices one has at most who speaks. */
  constructor(each = 1) {
    this.#each = each;
  }

  get total(): number {
    return this.#total;
  }

  /** All that is said, in order. */
  get said(): readonly Said[] {
    this.#sorted ??= [...this.#counts]
      .map(([step, voices]) => [step * STEP, voices] as const)
      .toSorted(([one], [other]) => one - other);
    return this.#sorted;
  }

  /** Counts voices, or (below 0) counts them no more, with the same value. */
  count(value: number, voices: number): void {
    const step = stepOf(value);
    const now = (this.#counts.get(step) ?? 0) + voices;
    if (now === 0) this.#counts.delete(step);
    else this.#counts.set(step, now);
    this.#total += voices;
    this.#sorted = undefined;
  }

  /** What they say together with what is assumed. */
  mean(assumed: number): number {
    return balance(this.said, assumed, this.#each * ASSUMED_SPEAKERS, MOST_PULL);
  }

  /**
   * How much they differ from `mean`, as a standard deviation; `assumed` is that of things of which nothing
   * is known, `least` that of one thing's measurements.
   */
  spread(mean: number, assumed: number, least: number): number {
    const squares = this.said.map(
      ([value, voices]) => [Math.log((value - mean) ** 2 + least ** 2) + SHORT_OF_VARIANCE, voices] as const,
    );
    return Math.exp(
      balance(squares, 2 * Math.log(assumed), this.#each * ASSUMED_SPEAKERS, 2 * MOST_PULL) / 2,
    );
  }

  /** The middle one; of two the lower. `undefined` where nobody says anything. */
  get median(): number | undefined {
    let left = this.#total / 2;
    for (const [value, voices] of this.said) {
      left -= voices;
      if (left <= 0) return value;
    }
    return undefined;
  }
}

/** Where all pulls are in balance, that of what is assumed with its weight, and each voice at most with `mostPull`. */
function balance(said: readonly Said[], assumed: number, weight: number, mostPull: number): number {
  let mean = assumed;
  let [low, high] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  // Pieces of straight lines: Newton's steps find the right one after a few, halves of what is left where
  // they jump over it.
  for (let step = 0; step < MOST_STEPS; step += 1) {
    let pull = weight * (assumed - mean);
    let free = weight;
    for (const [value, voices] of said) {
      const apart = value - mean;
      if (Math.abs(apart) <= mostPull) free += voices;
      pull += voices * Math.max(-mostPull, Math.min(mostPull, apart));
    }
    if (pull > 0) low = mean;
    else high = mean;
    const next = mean + pull / free;
    if (Math.abs(next - mean) < EXACT) return next;
    mean = next > low && next < high ? next : (low + high) / 2;
  }
  return mean;
}
