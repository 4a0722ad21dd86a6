/**
 * After a turn that took long one more may begin for each so many milliseconds of it: a busy loop has few
 * turns, and those that wait get a part of its time.
 */
const TURN_MS_EACH = 16;

/**
 * Of something that costs a millisecond or two, how much may begin in one turn of the event loop: the rest is
 * for the turns that follow, so that what is cheap is served in between, however many came at once.
 */
export class TurnQuota {
  readonly #least: number;
  readonly #onNextTurn: () => void;
  readonly #nowMs: () => number;
  #most: number;
  #used = 0;

  /** `onNextTurn` is called when there is some left again, once after each turn in which some was used. */
  constructor(least: number, onNextTurn: () => void, nowMs: () => number = () => performance.now()) {
    this.#least = least;
    this.#onNextTurn = onNextTurn;
    this.#nowMs = nowMs;
    this.#most = least;
  }

  get isUsedUp(): boolean {
    return this.#used >= this.#most;
  }

  use(): void {
    this.#used += 1;
    if (this.#used > 1) return;
    const startedMs = this.#nowMs();
    setImmediate(() => {
      this.#most = Math.max(this.#least, Math.floor((this.#nowMs() - startedMs) / TURN_MS_EACH));
      this.#used = 0;
      this.#onNextTurn();
      // Nobody waits: what the turn before was like says nothing of the next.
      if (this.#used === 0) this.#most = this.#least;
    });
  }
}
