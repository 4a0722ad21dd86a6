/** Bytes, or whatever is counted, of which so many may be spent at once, and that come back steadily. */
export class RefillingBudget {
  readonly #most: number;
  readonly #backPerMs: number;
  #spent = 0;
  #atMs = 0;

  constructor(most: number, backPerMs: number) {
    this.#most = most;
    this.#backPerMs = backPerMs;
  }

  /** Spends so many; `false`, and nothing spent, where there are not so many left. */
  take(amount: number, nowMs: number): boolean {
    if (amount > this.leftAt(nowMs)) return false;
    this.#spent += amount;
    return true;
  }

  /** Spends so many, also where there are not so many left: they have to come back before there are others. */
  spend(amount: number, nowMs: number): void {
    this.leftAt(nowMs);
    this.#spent += amount;
  }

  /** Takes back what was spent a short while ago and was not needed. */
  giveBack(amount: number, nowMs: number): void {
    this.leftAt(nowMs);
    this.#spent = Math.max(0, this.#spent - amount);
  }

  /** What may be spent now. */
  leftAt(nowMs: number): number {
    // A clock that was set back gives nothing back.
    const passedMs = Math.max(0, nowMs - this.#atMs);
    this.#spent = Math.max(0, this.#spent - this.#backPerMs * passedMs);
    this.#atMs = nowMs;
    return this.#most - this.#spent;
  }
}
