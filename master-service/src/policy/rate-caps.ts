import { ok, type Result, refuse } from '@longhaul/shared';
import { LruMap } from '@longhaul/shared/service';
import type { PublicCaps } from '../config.ts';

/** Client networks remembered at once, about 100 bytes each; the longest unused is forgotten, as if it were new. */
const MAX_PREFIXES = 100_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

interface Spent {
  plans: number;
  bytes: number;
  atMs: number;
}

export interface BudgetWish {
  /** The size that was planned with: less is of no use to the client. */
  readonly plannedBytes: number;
  readonly wantedBytes: number;
}

/** Token buckets for every client network: plans per minute, and the bytes its tickets let through per hour. */
export class RateCaps {
  readonly #caps: PublicCaps;
  readonly #spent = new LruMap<string, Spent>(MAX_PREFIXES);

  constructor(caps: PublicCaps) {
    this.#caps = caps;
  }

  /** Takes one plan of the network's share; `rate-limited` when it is used up. */
  takePlan(prefix: string, nowMs: number): Result<void> {
    const spent = this.#drained(prefix, nowMs);
    if (spent.plans + 1 > this.#caps.plansPerMinute) return refuse('rate-limited', 'too many plans');
    spent.plans += 1;
    return ok(undefined);
  }

  /**
   * Takes a ticket's budget of the network's share and gives it: what is wanted, or what is left; `rate-limited` when not
   * even the planned size is left.
   */
  takeBudget(prefix: string, { plannedBytes, wantedBytes }: BudgetWish, nowMs: number): Result<number> {
    const spent = this.#drained(prefix, nowMs);
    const leftBytes = Math.floor(this.#caps.bytesPerHour - spent.bytes);
    if (leftBytes < Math.max(plannedBytes, 1)) return refuse('rate-limited', 'too many bytes');
    const budgetBytes = Math.min(wantedBytes, leftBytes);
    spent.bytes += budgetBytes;
    return ok(budgetBytes);
  }

  #drained(prefix: string, nowMs: number): Spent {
    const spent = this.#spent.get(prefix) ?? { plans: 0, bytes: 0, atMs: nowMs };
    const passedMs = Math.max(0, nowMs - spent.atMs);
    spent.plans = Math.max(0, spent.plans - (this.#caps.plansPerMinute * passedMs) / MINUTE_MS);
    spent.bytes = Math.max(0, spent.bytes - (this.#caps.bytesPerHour * passedMs) / HOUR_MS);
    spent.atMs = nowMs;
    this.#spent.set(prefix, spent);
    return spent;
  }
}
