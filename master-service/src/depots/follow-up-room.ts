import { LruMap, RefillingBudget } from '@longhaul/shared/service';

/**
 * A follow-up whose chains are planned anew counts as so many others: with 60 depots that takes six or seven
 * milliseconds, another one about half of one.
 */
const PLANNED_COUNTS = 16;
/**
 * Follow-ups that are planned anew of which one depot may have so many at once: all its downloads lose their
 * chains when a neighbour dies.
 */
const PLANNED_AT_ONCE = 300;
/** So many of these come back in a second: a few hundredths of a core for a depot that takes all. */
const PLANNED_PER_SECOND = 4;
/** Depots whose follow-ups are counted: more than a master knows. */
const MOST_DEPOTS = 5_000;

const MOST = PLANNED_AT_ONCE * PLANNED_COUNTS;
const BACK_PER_MS = (PLANNED_PER_SECOND * PLANNED_COUNTS) / 1000;

/**
 * Bounds the follow-ups of one depot, so that none has more of a master's time for plans than a busy depot
 * can need.
 */
export class FollowUpRoom {
  readonly #budgets = new LruMap<string, RefillingBudget>(MOST_DEPOTS);

  /** Whether there is room for one more follow-up of a depot, which is taken then. */
  take(id: string, nowMs: number): boolean {
    return this.#take(id, 1, nowMs);
  }

  /** Whether there is room to plan anew for one that was taken. */
  takePlan(id: string, nowMs: number): boolean {
    return this.#take(id, PLANNED_COUNTS - 1, nowMs);
  }

  #take(id: string, amount: number, nowMs: number): boolean {
    const budget = this.#budgets.get(id) ?? new RefillingBudget(MOST, BACK_PER_MS);
    this.#budgets.set(id, budget);
    return budget.take(amount, nowMs);
  }
}
