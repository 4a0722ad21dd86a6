import { clientAddress, clientPrefix, ok, type Result, refuse } from '@longhaul/shared';
import { LruMap } from '@longhaul/shared/service';
import type { PublicCaps } from '../config.ts';

/** Clients and networks remembered at once, about 100 bytes each; the longest unused is forgotten, as if it were new. */
const MAX_SPENDERS = 100_000;
/** A client network (/24 or /48) may have as much as so many of its clients, so that one of them cannot spend what is another's. */
const CLIENTS_OF_A_NETWORK = 16;
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

/** Token buckets for every client, and for its network: plans per minute, and the bytes that tickets let through per hour. */
export class RateCaps {
  readonly #caps: PublicCaps;
  readonly #spent = new LruMap<string, Spent>(MAX_SPENDERS);

  constructor(caps: PublicCaps) {
    this.#caps = caps;
  }

  /** Takes one plan of the share of the client at this address; `rate-limited` when its, or its network's, is used up. */
  takePlan(address: string, nowMs: number): Result<void> {
    const [client, network] = this.#spendersAt(address, nowMs);
    const { plansPerMinute } = this.#caps;
    if (client.plans + 1 > plansPerMinute || network.plans + 1 > plansPerMinute * CLIENTS_OF_A_NETWORK)
      return refuse('rate-limited', 'too many plans');
    client.plans += 1;
    network.plans += 1;
    return ok(undefined);
  }

  /**
   * Takes a ticket's budget of the client's share and gives it: what is wanted, or what is left for it and its network;
   * `rate-limited` when not even the planned size is left.
   */
  takeBudget(address: string, { plannedBytes, wantedBytes }: BudgetWish, nowMs: number): Result<number> {
    const [client, network] = this.#spendersAt(address, nowMs);
    const { bytesPerHour } = this.#caps;
    const leftBytes = Math.floor(
      Math.min(bytesPerHour - client.bytes, bytesPerHour * CLIENTS_OF_A_NETWORK - network.bytes),
    );
    if (leftBytes < Math.max(plannedBytes, 1)) return refuse('rate-limited', 'too many bytes');
    const budgetBytes = Math.min(wantedBytes, leftBytes);
    client.bytes += budgetBytes;
    network.bytes += budgetBytes;
    return ok(budgetBytes);
  }

  #spendersAt(address: string, nowMs: number): readonly [client: Spent, network: Spent] {
    return [
      this.#drained(`client ${clientAddress(address)}`, 1, nowMs),
      this.#drained(`network ${clientPrefix(address)}`, CLIENTS_OF_A_NETWORK, nowMs),
    ];
  }

  #drained(spender: string, clients: number, nowMs: number): Spent {
    const spent = this.#spent.get(spender) ?? { plans: 0, bytes: 0, atMs: nowMs };
    const passedMs = Math.max(0, nowMs - spent.atMs);
    spent.plans = Math.max(0, spent.plans - (this.#caps.plansPerMinute * clients * passedMs) / MINUTE_MS);
    spent.bytes = Math.max(0, spent.bytes - (this.#caps.bytesPerHour * clients * passedMs) / HOUR_MS);
    spent.atMs = nowMs;
    this.#spent.set(spender, spent);
    return spent;
  }
}
