import { LruMap } from '@longhaul/shared/service';

/** What comes so much later than usual was held up on its way, and says what is no more. */
const LATE_MS = 3_000;
/** The least delay is looked for in so long a time: steady clocks drift apart by some milliseconds in it. */
const WINDOW_MS = 600_000;
/** Senders watched. */
const MOST_SENDERS = 512;

interface Least {
  /** When this window began. */
  sinceMs: number;
  /**
   * Arrival minus sending, each by its own clock: the delay and an unknown constant. Of this window, and of
   * the one before.
   */
  nowMs: number;
  beforeMs: number;
}

/**
 * Tells messages that were held up, without clocks that agree: by how much longer they took than the fastest
 * of late.
 */
export class DelayWatch {
  readonly #least = new LruMap<string, Least>(MOST_SENDERS);

  /**
   * Whether a message is late that its sender, one process, sent at `sentMs` of its steady clock; `arrivedMs`
   * is by this one's.
   */
  isLate(sender: string, sentMs: number, arrivedMs: number): boolean {
    const tookMs = arrivedMs - sentMs;
    const least = this.#least.get(sender);
    if (!least) {
      this.#least.set(sender, { sinceMs: arrivedMs, nowMs: tookMs, beforeMs: tookMs });
      return false;
    }
    if (arrivedMs - least.sinceMs > WINDOW_MS) {
      least.sinceMs = arrivedMs;
      least.beforeMs = least.nowMs;
      least.nowMs = tookMs;
    }
    least.nowMs = Math.min(least.nowMs, tookMs);
    return tookMs - Math.min(least.nowMs, least.beforeMs) > LATE_MS;
  }
}
