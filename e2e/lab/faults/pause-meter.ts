/** The longest time without a new byte at a client, from a fault on. Times are milliseconds of any one clock. */
export class PauseMeter {
  #bytes = 0;
  /** Of the fault or, after it, of the last new byte; undefined before the fault. */
  #sinceMs: number | undefined;
  #longestMs: number | undefined;

  /** The fault has happened. */
  begin(nowMs: number): void {
    this.#sinceMs = nowMs;
  }

  /** The client has so many bytes. */
  saw(bytes: number, nowMs: number): void {
    if (bytes <= this.#bytes) return;
    this.#bytes = bytes;
    if (this.#sinceMs === undefined) return;
    this.#longestMs = Math.max(this.#longestMs ?? 0, nowMs - this.#sinceMs);
    this.#sinceMs = nowMs;
  }

  /** Undefined while no byte has come since the fault: a pause that does not end has no length. */
  get longestMs(): number | undefined {
    return this.#longestMs;
  }
}
