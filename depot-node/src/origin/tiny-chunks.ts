/** Below this size a chunk costs its handling rather than its bytes. */
const TINY_BYTES = 256;
/** Tiny chunks of all origins together that this process handles: about a tenth of a core. */
const TINY_PER_MS = 100;
/** Work for so long ahead is left to come in bursts. */
const BURST_MS = 20;

/**
 * Keeps origins that cut their bytes into tiny pieces, one byte each at worst, from taking the whole process: what they
 * send more of than it can well handle makes them wait. There is one event loop, so there is one of these.
 */
export class TinyChunks {
  readonly #nowMs: () => number;
  #busyUntilMs = Number.NEGATIVE_INFINITY;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Counts chunks that have come over one connection; says how long it has to rest now, in milliseconds, mostly 0. */
  note(count: number): number {
    if (count === 0) return 0;
    const nowMs = this.#nowMs();
    this.#busyUntilMs = Math.max(this.#busyUntilMs, nowMs) + count / TINY_PER_MS;
    const aheadMs = this.#busyUntilMs - nowMs;
    return aheadMs > BURST_MS ? aheadMs : 0;
  }

  static isTiny({ length }: Buffer): boolean {
    return length < TINY_BYTES;
  }
}
