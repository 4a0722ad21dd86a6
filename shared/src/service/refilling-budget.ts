/** Bytes of which so many may be spent at once, and that come back steadily. */
export class RefillingBudget {
  readonly #mostBytes: number;
  readonly #backPerMs: number;
  #spentBytes = 0;
  #atMs = 0;

  constructor(mostBytes: number, backPerMs: number) {
    this.#mostBytes = mostBytes;
    this.#backPerMs = backPerMs;
  }

  /** Spends so many bytes; `false`, and nothing spent, where there are not so many left. */
  take(bytes: number, nowMs: number): boolean {
    if (bytes > this.leftAt(nowMs)) return false;
    this.#spentBytes += bytes;
    return true;
  }

  /** Spends so many bytes, also where there are not so many left: they have to come back before there are others. */
  spend(bytes: number, nowMs: number): void {
    this.leftAt(nowMs);
    this.#spentBytes += bytes;
  }

  /** What may be spent now. */
  leftAt(nowMs: number): number {
    // A clock that was set back gives nothing back.
    const passedMs = Math.max(0, nowMs - this.#atMs);
    this.#spentBytes = Math.max(0, this.#spentBytes - this.#backPerMs * passedMs);
    this.#atMs = nowMs;
    return this.#mostBytes - this.#spentBytes;
  }
}
