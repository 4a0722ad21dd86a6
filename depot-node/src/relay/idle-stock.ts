/**
 * Of what nobody needed between two looks, as much goes: a burst is forgotten within seconds, a short pause
 * costs little.
 */
const FORGOTTEN_SHARE = 0.25;

/** What is kept for its next use: up to a bound, and no longer than it is needed again and again. */
export class IdleStock<T> {
  readonly #most: number;
  readonly #idle: T[] = [];
  /** The fewest that were idle since the last look: so many nobody needed. */
  #unneeded = 0;

  /** Keeps `most` at most. */
  constructor(most: number) {
    this.#most = most;
  }

  get isEmpty(): boolean {
    return this.#idle.length === 0;
  }

  /** The one that was used last; nothing where none is kept. */
  take(): T | undefined {
    const one = this.#idle.pop();
    this.#unneeded = Math.min(this.#unneeded, this.#idle.length);
    return one;
  }

  /** Whether it is kept. */
  give(one: T): boolean {
    if (this.#idle.length >= this.#most) return false;
    this.#idle.push(one);
    return true;
  }

  /** To be called again and again: some of those that nobody needed since the last call, which are kept no longer. */
  shrink(): readonly T[] {
    const gone = this.#idle.splice(0, Math.ceil(this.#unneeded * FORGOTTEN_SHARE));
    this.#unneeded = this.#idle.length;
    return gone;
  }

  /** All, which are kept no longer. */
  empty(): readonly T[] {
    this.#unneeded = 0;
    return this.#idle.splice(0);
  }
}
