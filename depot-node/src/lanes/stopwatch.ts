/** Counts the time in which it is not stopped. */
export class Stopwatch {
  readonly #nowMs: () => number;
  #beforeMs = 0;
  #sinceMs: number | undefined;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.start();
  }

  get elapsedMs(): number {
    return this.#beforeMs + (this.#sinceMs === undefined ? 0 : this.#nowMs() - this.#sinceMs);
  }

  start(): void {
    this.#sinceMs ??= this.#nowMs();
  }

  stop(): void {
    this.#beforeMs = this.elapsedMs;
    this.#sinceMs = undefined;
  }
}
