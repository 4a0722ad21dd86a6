import { clientAddress, clientPrefix } from '../../address-policy.ts';
import { HourlyBudget } from './hourly-budget.ts';
import { LruMap } from './lru-map.ts';

/**
 * Signatures of one client in an hour that turn out wrong, a quarter of them at once: each costs up to a third
 * of a millisecond, and whoever means well has none.
 */
const FAILED_CHECKS_PER_HOUR = 1_200;
/** Clients of one network, /24 or /48, who may do so: one alone leaves its neighbours seven shares. */
const CLIENTS_PER_NETWORK = 8;
/** Clients and networks remembered that have brought such signatures lately. */
const MOST_REMEMBERED = 4_000;

interface FailedChecksComponents {
  /** Whether an address is a depot's or a master's: it is nobody's neighbour. */
  readonly isOwn: (address: string) => boolean;
  readonly nowMs: () => number;
}

/**
 * Bounds how many signatures are checked in vain for a client, and for its network: who has had so many gets
 * none checked for a while.
 */
export class FailedChecks {
  readonly #components: FailedChecksComponents;
  readonly #budgets = new LruMap<string, HourlyBudget>(MOST_REMEMBERED);

  constructor(components: FailedChecksComponents) {
    this.#components = components;
  }

  /** Whether one more may fail. */
  hasRoomFor(address: string): boolean {
    const nowMs = this.#components.nowMs();
    return this.#namesOf(address).every(([name]) => (this.#budgets.get(name)?.leftAt(nowMs) ?? 1) >= 1);
  }

  note(address: string): void {
    const nowMs = this.#components.nowMs();
    for (const [name, mostPerHour] of this.#namesOf(address)) {
      const budget = this.#budgets.get(name) ?? new HourlyBudget(mostPerHour);
      this.#budgets.set(name, budget);
      budget.take(1, nowMs);
    }
  }

  #namesOf(address: string): readonly (readonly [string, number])[] {
    const client = [clientAddress(address), FAILED_CHECKS_PER_HOUR] as const;
    if (this.#components.isOwn(address)) return [client];
    return [client, [clientPrefix(address), CLIENTS_PER_NETWORK * FAILED_CHECKS_PER_HOUR]];
  }
}
