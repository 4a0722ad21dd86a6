/**
 * What a line carried when it was full is taken to be twice as much, or half, after so long: others may have
 * come or gone, and only who uses it learns that.
 */
const DOUBLES_AFTER_MS = 60_000;
/** After so long nothing is left of it: a thousand times as much is no bound. */
const FORGOTTEN_AFTER_MS = 10 * DOUBLES_AFTER_MS;

/** What a depot's line carries whose operator has named no rate, as it has shown while it was full. */
export class FullLine {
  #shownBps = 0;
  #shownAtMs = Number.NEGATIVE_INFINITY;

  /** Takes note that so many transfers have so much each, and nobody gets more. */
  note(eachBps: number, transfers: number, nowMs: number): void {
    // While a crowd leaves, what is told of it is still that of its height.
    const beforeBps = this.#shownBps / 2 ** (this.#passedMs(nowMs) / DOUBLES_AFTER_MS);
    this.#shownBps = Math.max(eachBps * Math.max(1, transfers), beforeBps);
    this.#shownAtMs = nowMs;
  }

  /** The most that it carries now, bits per second; `undefined` where nobody knows. */
  mostBps(nowMs: number): number | undefined {
    const passedMs = this.#passedMs(nowMs);
    return passedMs > FORGOTTEN_AFTER_MS ? undefined : this.#shownBps * 2 ** (passedMs / DOUBLES_AFTER_MS);
  }

  #passedMs(nowMs: number): number {
    // The clock may have been set back: since then it goes on from there.
    this.#shownAtMs = Math.min(this.#shownAtMs, nowMs);
    return nowMs - this.#shownAtMs;
  }
}
