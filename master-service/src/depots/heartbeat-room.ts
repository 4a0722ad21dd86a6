import { MAX_BODY_BYTES } from '@longhaul/shared';
import { LruMap, RefillingBudget } from '@longhaul/shared/service';

/** A heartbeat counts as so many bytes at least: the directory in its answer is work, too. */
const LEAST_BYTES = 65_536;
/**
 * Bytes of heartbeats that one depot may send at once: eight as long as may be, or 32 short ones. Depots beat
 * out of turn for neighbours that are gone, or back, and for probes.
 */
const MOST_BYTES = 8 * MAX_BODY_BYTES;
/**
 * One as long as may be, or four short ones, come back in this part of the time between two heartbeats: a few
 * hundredths of a core for a depot that takes all.
 */
const REFILL_SHARE = 0.5;
/** Depots whose heartbeats are counted: more than a master knows. */
const MOST_DEPOTS = 5_000;

/** Bounds what a master reads of one depot's heartbeats, so that none has more of its time than a depot can need. */
export class HeartbeatRoom {
  readonly #backPerMs: number;
  readonly #budgets = new LruMap<string, RefillingBudget>(MOST_DEPOTS);

  constructor(heartbeatMs: number) {
    this.#backPerMs = MAX_BODY_BYTES / (REFILL_SHARE * heartbeatMs);
  }

  /** Whether there is room for one more heartbeat of a depot, which is taken then. */
  take(id: string, lengthBytes: number, nowMs: number): boolean {
    const budget = this.#budgets.get(id) ?? new RefillingBudget(MOST_BYTES, this.#backPerMs);
    this.#budgets.set(id, budget);
    return budget.take(Math.max(lengthBytes, LEAST_BYTES), nowMs);
  }
}
