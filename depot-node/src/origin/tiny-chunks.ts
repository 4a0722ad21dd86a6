/** Below this size a chunk costs its handling rather than its bytes. */
const TINY_BYTES = 256;
/** Tiny chunks of all origins together that this process handles: about a tenth of a core. */
const TINY_PER_MS = 100;
/** Work for so long ahead is left to come in bursts. */
const BURST_MS = 20;
/** How often those that owe nothing any more are forgotten. */
const FORGET_INTERVAL_MS = 10;

/**
 * Keeps origins that cut their bytes into tiny pieces, one byte each at worst, from taking the whole process:
 * there is one event loop, so there is one of these. Connections that bring tiny chunks at the same time
 * share what can be handled evenly. Each rests for what it has brought itself, and not for what others have.
 */
export class TinyChunks {
  readonly #nowMs: () => number;
  /** Connections whose tiny chunks have not had their time yet. */
  readonly #busy = new Set<TinySender>();
  #forgotAtMs = Number.NEGATIVE_INFINITY;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** One more connection. What it owes is remembered after its end, so that nobody begins anew by connecting again. */
  sender(): TinySender {
    return new TinySender((sender, count) => this.#note(sender, count));
  }

  static isTiny({ length }: Buffer): boolean {
    return length < TINY_BYTES;
  }

  #note(sender: TinySender, count: number): number {
    const nowMs = this.#nowMs();
    this.#forget(nowMs);
    this.#busy.add(sender);
    sender.busyUntilMs = Math.max(sender.busyUntilMs, nowMs) + (count * this.#busy.size) / TINY_PER_MS;
    const aheadMs = sender.busyUntilMs - nowMs;
    return aheadMs > BURST_MS ? aheadMs : 0;
  }

  #forget(nowMs: number): void {
    if (nowMs - this.#forgotAtMs < FORGET_INTERVAL_MS) return;
    this.#forgotAtMs = nowMs;
    for (const sender of this.#busy) if (sender.busyUntilMs <= nowMs) this.#busy.delete(sender);
  }
}

/** Those of this process. */
export const tinyChunks = new TinyChunks(() => performance.now());

/** A connection that may bring tiny chunks. */
export class TinySender {
  readonly #note: (sender: TinySender, count: number) => number;
  /** When what it has brought has had its time. */
  busyUntilMs = Number.NEGATIVE_INFINITY;

  constructor(note: (sender: TinySender, count: number) => number) {
    this.#note = note;
  }

  /** Counts tiny chunks that have come; says how long the connection has to rest now, in milliseconds, mostly 0. */
  note(count: number): number {
    return count === 0 ? 0 : this.#note(this, count);
  }
}
