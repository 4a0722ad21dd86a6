import { LruMap } from '@longhaul/shared/service';

/** What comes so much later than usual was held up on its way, and says what is no more. */
const LATE_MS = 3_000;
/** The least delay is looked for in so long a time: steady clocks drift apart by some milliseconds in it. */
const WINDOW_MS = 600_000;
/**
 * So many in a row that are late by the same were not held up: their sender's clock stood still for a while, as
 * while its machine slept.
 */
const STOOD_STILL = 20;
/** Late by the same is what differs by no more. */
const SAME_MS = 500;
/** They were sent over so long a time at least: what was sent at once, and held up, is late by the same, too. */
const APART_MS = 5_000;
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
  /** Late ones in a row that took as long as the first of them. */
  row: Row | undefined;
}

interface Row {
  readonly sentMs: number;
  readonly tookMs: number;
  messages: number;
}

/**
 * Tells messages that were held up, without clocks that agree: by how much longer they took than the fastest
 * of late. Of a burst that was held up each took less than the one before it; where many take the same, the
 * clock of their sender has stood still.
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
      this.#least.set(sender, { sinceMs: arrivedMs, nowMs: tookMs, beforeMs: tookMs, row: undefined });
      return false;
    }
    if (arrivedMs - least.sinceMs > WINDOW_MS) {
      least.sinceMs = arrivedMs;
      least.beforeMs = least.nowMs;
      least.nowMs = tookMs;
    }
    least.nowMs = Math.min(least.nowMs, tookMs);
    if (tookMs - Math.min(least.nowMs, least.beforeMs) <= LATE_MS) {
      least.row = undefined;
      return false;
    }
    if (!least.row || Math.abs(tookMs - least.row.tookMs) > SAME_MS)
      least.row = { sentMs, tookMs, messages: 0 };
    least.row.messages += 1;
    if (least.row.messages < STOOD_STILL || sentMs - least.row.sentMs < APART_MS) return true;
    this.#least.set(sender, { sinceMs: arrivedMs, nowMs: tookMs, beforeMs: tookMs, row: undefined });
    return false;
  }
}
