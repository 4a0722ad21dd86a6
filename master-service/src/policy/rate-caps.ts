import { clientAddress, clientPrefix, LonghaulError, ok, type Result } from '@longhaul/shared';
import { LruMap } from '@longhaul/shared/service';
import * as z from 'zod';
import type { PublicCaps } from '../config.ts';
import type { Fact, FactKind } from '../facts/fact.ts';
import { Facts } from '../facts/facts.ts';

/**
 * Clients and networks remembered at once, about 100 bytes each; the longest unused is forgotten, as if it
 * were new.
 */
const MAX_SPENDERS = 100_000;
/**
 * A client network (/24 or /48) may have as much as so many of its clients, so that one of them cannot spend
 * what is another's.
 */
const CLIENTS_OF_A_NETWORK = 16;
/**
 * Of a client's bytes of an hour, what the ticket of one tunnel has: a browser asks for two in an hour, and
 * its downloads are to have a share.
 */
const SHARE_OF_A_TUNNEL = 0.25;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** After this a bucket is empty again, whatever was in it. */
const SPENT_LIFE_MS = 2 * HOUR_MS;

const amount = z.number().min(0);

/**
 * What one master gave to a client or a network since its bucket was empty last, and how much of that was
 * still in it then.
 */
const SPENT = {
  name: 'spent',
  schema: z.looseObject({
    emptyAtMs: z.number(),
    plans: amount,
    bytes: amount,
    /** Left out by older masters: whoever joins late takes all that they gave for what is left. */
    left: z.looseObject({ plans: amount, bytes: amount }).optional(),
  }),
  keys: /^(?:client|network) \S{1,64}$/,
  most: MAX_SPENDERS,
  whenFull: 'forget-oldest',
  lifeMs: SPENT_LIFE_MS,
  // Whose clients they are is nothing for a disk.
  isKept: false,
} satisfies FactKind<unknown>;

type Spent = z.output<(typeof SPENT)['schema']>;

export const SPENT_FACTS = [SPENT];

interface Amount {
  readonly plans: number;
  readonly bytes: number;
}

/** What is in a bucket, and how much of that this master gave, and each other one. */
interface Level {
  all: number;
  own: number;
  /** Left out where nothing of others is in it. */
  heard?: Map<string, number> | undefined;
}

interface Bucket {
  readonly plans: Level;
  readonly bytes: Level;
  /** When it was looked at last, by the clock as if that had never been set. */
  atMs: number;
}

interface Spender {
  readonly name: string;
  readonly bucket: Bucket;
}

export interface BudgetWish {
  /** The size that was planned with: less is of no use to the client. */
  readonly plannedBytes: number;
  readonly wantedBytes: number;
  /** Whether it is for all that comes from a site, for which nobody knows how much that is. */
  readonly isForTunnel?: boolean;
}

/** `rate-limited`: a direct download costs nothing of what is used up. */
export class ShareUsedUp extends LonghaulError {
  constructor(ofWhat: 'plans' | 'bytes') {
    super('rate-limited', { detail: `too many ${ofWhat}` });
  }
}

/**
 * Token buckets for every client, and for its network: plans per minute, and the bytes that tickets let
 * through per hour. What fills them are facts, so that all masters together give no more than one.
 */
export class RateCaps {
  readonly #caps: PublicCaps;
  readonly #facts: Facts;
  readonly #buckets = new LruMap<string, Bucket>(MAX_SPENDERS);
  /** By how much the clock was set since the start. */
  #setByMs = 0;

  constructor(caps: PublicCaps, facts = new Facts({ kinds: SPENT_FACTS })) {
    this.#caps = caps;
    this.#facts = facts;
    facts.store.watch(SPENT, (now, before) => {
      if (now && !this.#isOwn(now)) this.#pourHeard(now, before?.value, now.timeMs);
    });
  }

  /**
   * Takes one plan of the share of the client at this address; {@link ShareUsedUp} when its, or its network's,
   * is.
   */
  takePlan(address: string, nowMs: number): Result<void> {
    const [client, network] = this.#spendersAt(address, nowMs);
    const { plansPerMinute } = this.#caps;
    const isUsedUp = ({ bucket }: Spender, most: number) => bucket.plans.all + 1 > most;
    if (isUsedUp(client, plansPerMinute) || isUsedUp(network, plansPerMinute * CLIENTS_OF_A_NETWORK))
      return { ok: false, error: new ShareUsedUp('plans') };
    this.#spend([client, network], { plans: 1, bytes: 0 }, nowMs);
    return ok(undefined);
  }

  /**
   * Takes a ticket's budget of the client's share and gives it: what is wanted, or what is left for it and its network;
   * {@link ShareUsedUp} when not even the planned size is left.
   */
  takeBudget(
    address: string,
    { plannedBytes, wantedBytes, isForTunnel }: BudgetWish,
    nowMs: number,
  ): Result<number> {
    const [client, network] = this.#spendersAt(address, nowMs);
    const { bytesPerHour } = this.#caps;
    const leftBytes = Math.floor(
      Math.min(
        bytesPerHour - client.bucket.bytes.all,
        bytesPerHour * CLIENTS_OF_A_NETWORK - network.bucket.bytes.all,
      ),
    );
    if (leftBytes < Math.max(plannedBytes, 1)) return { ok: false, error: new ShareUsedUp('bytes') };
    const mostBytes = isForTunnel ? Math.ceil(bytesPerHour * SHARE_OF_A_TUNNEL) : wantedBytes;
    const budgetBytes = Math.min(wantedBytes, mostBytes, leftBytes);
    this.#spend([client, network], { plans: 0, bytes: budgetBytes }, nowMs);
    return ok(budgetBytes);
  }

  /** The clock was set: what is in the buckets has drained as long as before, and goes on. */
  shift(byMs: number): void {
    this.#setByMs += byMs;
  }

  #spendersAt(address: string, nowMs: number): readonly [client: Spender, network: Spender] {
    const spender = (name: string): Spender => ({ name, bucket: this.#drained(name, nowMs) });
    return [spender(`client ${clientAddress(address)}`), spender(`network ${clientPrefix(address)}`)];
  }

  /** The bucket of a client or a network, as it is at a time; one that was looked at later stays as it is. */
  #drained(name: string, nowMs: number): Bucket {
    const atMs = nowMs - this.#setByMs;
    const bucket = this.#buckets.get(name) ?? { plans: { all: 0, own: 0 }, bytes: { all: 0, own: 0 }, atMs };
    const passedMs = Math.max(0, atMs - bucket.atMs);
    const perMs = this.#perMs(name);
    drain(bucket.plans, perMs.plans * passedMs);
    drain(bucket.bytes, perMs.bytes * passedMs);
    bucket.atMs += passedMs;
    this.#buckets.set(name, bucket);
    return bucket;
  }

  /** What such a bucket may hold. */
  #shareOf(name: string): Amount {
    const clients = name.startsWith('network') ? CLIENTS_OF_A_NETWORK : 1;
    const { plansPerMinute, bytesPerHour } = this.#caps;
    return { plans: plansPerMinute * clients, bytes: bytesPerHour * clients };
  }

  /** What drains of such a bucket in a millisecond. */
  #perMs(name: string): Amount {
    const { plans, bytes } = this.#shareOf(name);
    return { plans: plans / MINUTE_MS, bytes: bytes / HOUR_MS };
  }

  #spend(spenders: readonly Spender[], given: Amount, nowMs: number): void {
    for (const { name, bucket } of spenders) {
      const isEmpty = bucket.plans.all === 0 && bucket.bytes.all === 0;
      const own = isEmpty ? undefined : this.#facts.own(SPENT, name)?.value;
      const { emptyAtMs, ...before } = own ?? { emptyAtMs: nowMs, plans: 0, bytes: 0 };
      for (const what of ['plans', 'bytes'] as const) {
        bucket[what].all += given[what];
        bucket[what].own += given[what];
      }
      const spent = { emptyAtMs, plans: before.plans + given.plans, bytes: before.bytes + given.bytes };
      const left = { plans: bucket.plans.own, bytes: bucket.bytes.own };
      // Where there is no room for it nobody else need know of it; it is spent all the same.
      this.#facts.learn(SPENT, name, { ...spent, left }, nowMs);
    }
  }

  #isOwn({ source, epoch }: Fact<Spent>): boolean {
    return source === this.#facts.source && epoch === this.#facts.epoch;
  }

  /** Takes note of what another master gave, or an earlier process of this one; `before` is what it said last. */
  #pourHeard({ key, source, value }: Fact<Spent>, before: Spent | undefined, timeMs: number): void {
    const known = before?.emptyAtMs === value.emptyAtMs ? before : undefined;
    // The bucket may have drained for long since it was looked at, and not what comes into it only now.
    const bucket = this.#drained(key, timeMs);
    // What is heard of for the first time, and is old, has drained there meanwhile.
    const agoMs = known ? 0 : bucket.atMs - (timeMs - this.#setByMs);
    const perMs = this.#perMs(key);
    const share = this.#shareOf(key);
    for (const what of ['plans', 'bytes'] as const) {
      const given = value[what] - (known?.[what] ?? 0);
      const heard = bucket[what].heard ?? new Map<string, number>();
      const there = heard.get(source) ?? 0;
      const isLeft = Math.max(0, Math.min(given, value.left?.[what] ?? given) - perMs[what] * agoMs);
      // A master with larger caps would fill it for days.
      const poured = Math.min(isLeft, Math.max(0, share[what] - there));
      bucket[what].all += poured;
      bucket[what].heard = heard.set(source, there + poured);
    }
  }
}

/** Lets some of a bucket's content drain, of everybody's the same share. */
function drain(level: Level, amount: number): void {
  const left = Math.max(0, level.all - amount);
  const kept = level.all > 0 ? left / level.all : 0;
  level.own *= kept;
  for (const [source, heard] of level.heard ?? []) level.heard?.set(source, heard * kept);
  if (left === 0) level.heard = undefined;
  level.all = left;
}
