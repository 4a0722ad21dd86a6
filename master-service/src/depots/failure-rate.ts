/** A depot fails once a week where nothing is known: restarts for updates, crashes, lost networks. It counts as much as a week of one depot. */
const USUAL_SECONDS_BETWEEN_FAILURES = 604_800;

/** How often depots fail, as their heartbeats tell: the mean of what was seen and of what is usual. */
export class FailureRate {
  readonly #lostAfterMs: number;
  readonly #heardMs = new Map<string, number>();
  #failures = 0;
  #upSeconds = 0;

  constructor(lostAfterMs: number) {
    this.#lostAfterMs = lostAfterMs;
  }

  /** Notes that a depot was heard; one that was not for too long before has failed. */
  noteHeard(id: string, nowMs: number): void {
    const beforeMs = this.#heardMs.get(id);
    this.#heardMs.set(id, nowMs);
    if (beforeMs === undefined || nowMs < beforeMs) return;
    if (nowMs - beforeMs > this.#lostAfterMs) this.#failures += 1;
    else this.#upSeconds += (nowMs - beforeMs) / 1000;
  }

  /** Forgets when a depot was heard last: it has gone for good, or said that it would. */
  forget(id: string): void {
    this.#heardMs.delete(id);
  }

  /** Failures of one depot. */
  get perSecond(): number {
    return (this.#failures + 1) / (this.#upSeconds + USUAL_SECONDS_BETWEEN_FAILURES);
  }
}
