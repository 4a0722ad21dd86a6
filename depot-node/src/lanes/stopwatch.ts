/** Counts the time in which it is not stopped. */
export class Stopwatch {
  readonly #nowMs: () => number;
  #beforeMs = 0;
  #sinceMs: number | undefined;

  /** Runs from now on, or from an earlier moment. */
  constructor(nowMs: () => number, sinceMs: number = nowMs()) {
    this.#nowMs = nowMs;
    this.#sinceMs = sinceMs;
  }

  get elapsedMs(): number {
    return this.#beforeMs + (this.#sinceMs === undefined ? 0 : this.#nowMs() - this.#sinceMs);
  }

  /** Takes time off that has been counted. */
  skip(ms: number): void {
    this.#beforeMs -= ms;
  }

  start(): void {
    this.#sinceMs ??= this.#nowMs();
  }

  stop(): void {
    this.#beforeMs = this.elapsedMs;
    this.#sinceMs = undefined;
  }
}
