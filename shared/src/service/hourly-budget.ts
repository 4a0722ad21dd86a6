const HOUR_MS = 3_600_000;
/** At once so much of an hour's bytes may be spent; the rest comes back over the hour, so that none has more than its own. */
const AT_ONCE = 0.25;

/** So many bytes may be spent in any hour, a quarter of them at once. */
export class HourlyBudget {
  readonly #mostBytes: number;
  readonly #backPerMs: number;
  #spentBytes = 0;
  #atMs = 0;

  constructor(bytesPerHour: number) {
    this.#mostBytes = AT_ONCE * bytesPerHour;
    this.#backPerMs = ((1 - AT_ONCE) * bytesPerHour) / HOUR_MS;
  }

  /** Spends so many bytes; `false`, and nothing spent, where there are not so many left. */
  take(bytes: number, nowMs: number): boolean {
    if (bytes > this.leftAt(nowMs)) return false;
    this.#spentBytes += bytes;
    return true;
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
