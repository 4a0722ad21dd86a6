import { clientAddress, clientPrefix, ok, type Result, refuse } from '@longhaul/shared';
import { LruMap } from '@longhaul/shared/service';
import * as z from 'zod';
import type { PublicCaps } from '../config.ts';
import type { FactKind } from '../facts/fact.ts';
import { Facts } from '../facts/facts.ts';

/** Clients and networks remembered at once, about 100 bytes each; the longest unused is forgotten, as if it were new. */
const MAX_SPENDERS = 100_000;
/** A client network (/24 or /48) may have as much as so many of its clients, so that one of them cannot spend what is another's. */
const CLIENTS_OF_A_NETWORK = 16;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** After this a bucket is empty again, whatever was in it. */
const SPENT_LIFE_MS = 2 * HOUR_MS;

const amount = z.number().min(0);

/** What one master gave to a client or a network since its bucket was empty last. */
const SPENT = {
  name: 'spent',
  schema: z.looseObject({ emptyAtMs: z.number(), plans: amount, bytes: amount }),
  keys: /^(?:client|network) \S{1,64}$/,
  most: MAX_SPENDERS,
  whenFull: 'forget-oldest',
  lifeMs: SPENT_LIFE_MS,
  // Whose clients they are is nothing for a disk.
  isKept: false,
} satisfies FactKind<unknown>;

export const SPENT_FACTS = [SPENT];

interface Amount {
  readonly plans: number;
  readonly bytes: number;
}

interface Bucket {
  plans: number;
  bytes: number;
  atMs: number;
}

interface Spender extends Readonly<Bucket> {
  readonly name: string;
}

export interface BudgetWish {
  /** The size that was planned with: less is of no use to the client. */
  readonly plannedBytes: number;
  readonly wantedBytes: number;
}

/**
 * Token buckets for every client, and for its network: plans per minute, and the bytes that tickets let through per hour.
 * What fills them are facts, so that all masters together give no more than one.
 */
export class RateCaps {
  readonly #caps: PublicCaps;
  readonly #facts: Facts;
  readonly #buckets = new LruMap<string, Bucket>(MAX_SPENDERS);

  constructor(caps: PublicCaps, facts = new Facts({ kinds: SPENT_FACTS })) {
    this.#caps = caps;
    this.#facts = facts;
    facts.store.watch(SPENT, (now, before) => {
      if (!now) return;
      const isSameBucket = before?.value.emptyAtMs === now.value.emptyAtMs;
      const known = before && isSameBucket ? before.value : { plans: 0, bytes: 0 };
      this.#pour(
        now.key,
        { plans: now.value.plans - known.plans, bytes: now.value.bytes - known.bytes },
        now.timeMs,
      );
    });
  }

  /** Takes one plan of the share of the client at this address; `rate-limited` when its, or its network's, is used up. */
  takePlan(address: string, nowMs: number): Result<void> {
    const [client, network] = this.#spendersAt(address, nowMs);
    const { plansPerMinute } = this.#caps;
    if (client.plans + 1 > plansPerMinute || network.plans + 1 > plansPerMinute * CLIENTS_OF_A_NETWORK)
      return refuse('rate-limited', 'too many plans');
    this.#spend([client, network], { plans: 1, bytes: 0 }, nowMs);
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
    this.#spend([client, network], { plans: 0, bytes: budgetBytes }, nowMs);
    return ok(budgetBytes);
  }

  #spendersAt(address: string, nowMs: number): readonly [client: Spender, network: Spender] {
    return [
      this.#drained(`client ${clientAddress(address)}`, 1, nowMs),
      this.#drained(`network ${clientPrefix(address)}`, CLIENTS_OF_A_NETWORK, nowMs),
    ];
  }

  #drained(name: string, clients: number, nowMs: number): Spender {
    const bucket = this.#buckets.get(name) ?? { plans: 0, bytes: 0, atMs: nowMs };
    const passedMs = Math.max(0, nowMs - bucket.atMs);
    bucket.plans = Math.max(0, bucket.plans - (this.#caps.plansPerMinute * clients * passedMs) / MINUTE_MS);
    bucket.bytes = Math.max(0, bucket.bytes - (this.#caps.bytesPerHour * clients * passedMs) / HOUR_MS);
    bucket.atMs = nowMs;
    this.#buckets.set(name, bucket);
    return { ...bucket, name };
  }

  #spend(spenders: readonly Spender[], { plans, bytes }: Amount, nowMs: number): void {
    for (const { name, ...bucket } of spenders) {
      const isEmpty = bucket.plans === 0 && bucket.bytes === 0;
      const own = isEmpty ? undefined : this.#facts.own(SPENT, name)?.value;
      const { emptyAtMs, ...before } = own ?? { emptyAtMs: nowMs, plans: 0, bytes: 0 };
      const spent = { emptyAtMs, plans: before.plans + plans, bytes: before.bytes + bytes };
      const isTold = this.#facts.learn(SPENT, name, spent, nowMs);
      // Nobody else need know of it, but it is spent.
      if (!isTold) this.#pour(name, { plans, bytes }, nowMs);
    }
  }

  #pour(name: string, { plans, bytes }: Amount, nowMs: number): void {
    const bucket = this.#buckets.get(name) ?? { plans: 0, bytes: 0, atMs: nowMs };
    bucket.plans += Math.max(0, plans);
    bucket.bytes += Math.max(0, bytes);
    this.#buckets.set(name, bucket);
  }
}
