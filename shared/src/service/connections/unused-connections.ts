import { LruMap } from '../bounds/lru-map.ts';
import { RefillingBudget } from '../bounds/refilling-budget.ts';

/** After so long as many connections of a network may end unused again. */
export const UNUSED_BACK_MS = 10_000;
/** Networks of which it is known that connections ended unused: whoever has more of them is not held up by this. */
const MOST_NETWORKS = 4096;

/**
 * Connections of client networks that have ended without a request: each cost a handshake, which a recorded
 * hello is enough for.
 */
export interface UnusedConnections {
  readonly note: (network: string) => void;
  /** Whether so many have ended of late that further ones are not taken. */
  readonly hasTooMany: (network: string) => boolean;
}

/** Counts them in this thread alone: `most` of a network at once, and as many again within {@link UNUSED_BACK_MS}. */
export class UnusedBudgets implements UnusedConnections {
  readonly #most: number;
  readonly #nowMs: () => number;
  readonly #budgets = new LruMap<string, RefillingBudget>(MOST_NETWORKS);

  constructor(most: number, nowMs: () => number) {
    this.#most = most;
    this.#nowMs = nowMs;
  }

  note(network: string): void {
    const budget = this.#budgets.get(network) ?? new RefillingBudget(this.#most, this.#most / UNUSED_BACK_MS);
    budget.spend(1, this.#nowMs());
    this.#budgets.set(network, budget);
  }

  hasTooMany(network: string): boolean {
    const budget = this.#budgets.get(network);
    return budget !== undefined && budget.leftAt(this.#nowMs()) < 1;
  }
}
