import { clientPrefix, type OriginProbe } from '@longhaul/shared';
import { HourlyBudget, LruMap, OrderedMap } from '@longhaul/shared/service';
import * as z from 'zod';
import type { FactKind } from '../facts/fact.ts';
import { Facts } from '../facts/facts.ts';
import { nearerDepot } from './nearer-depot.ts';
import { witnessOf } from './origin-places.ts';
import type { OriginTable } from './origin-table.ts';

/** Connections that all depots together open to an origin for its distance, in an hour. */
const MOST_PROBES = 4;
const HOUR_MS = 3_600_000;
/** An origin that so many depots have measured lately is no stranger: nobody can have depots knock everywhere by it. */
const ENOUGH = 3;
/** Servers move, and so do the ways to them. */
const LATELY_MS = 24 * HOUR_MS;
/**
 * What was measured in a network that another depot saw the origin leave so long after, may be of a place
 * where it is no more.
 */
const ELSEWHERE_MS = HOUR_MS;
/** The first ones are taken as they come; by what they find the next one is chosen. */
const TAKEN_AS_THEY_COME = 2;
/** One that was told has found it out by then, or does not reach the origin. */
const FOUND_OUT_MS = 10_000;
/**
 * A depot that was heard longer ago has another master, which alone can tell it something: not sooner,
 * however often depots come.
 */
const LEAST_HEARD_MS = 60_000;
/** Depots of which is remembered when they were heard. */
const MOST_HEARD = 2_000;
/** Whether another depot may be nearer is not looked at again so soon, unless one more has measured the origin. */
const SETTLED_MS = 600_000;
/** A download that was planned so long ago needs no probe any more, once every depot has come since. */
const LEAST_WISH_MS = 60_000;
/** Origins that wait for depots to be heard, and those that are looked at for one of them. */
const MOST_WISHES = 1_000;
const MOST_LOOKED_AT = 32;
/**
 * Origins that clients of one network may have probed in an hour: whoever asks for names all day must not
 * have depots knock everywhere.
 */
const PER_NETWORK = 240;
/** Networks of which is remembered what they have asked for. */
const MOST_NETWORKS = 2_000;
/** Origins whose probes of the last hour are remembered. */
const MOST_PROBED = 10_000;

/** The depots that were told to probe an origin within the hour, by its host. All masters' together count. */
const ORIGIN_PROBED = {
  name: 'origin-probed',
  schema: z.looseObject({ depots: z.array(z.string().max(64)).max(MOST_PROBES) }),
  keys: /^[a-z0-9.:_-]{1,255}$/,
  most: MOST_PROBED,
  whenFull: 'forget-oldest',
  lifeMs: HOUR_MS,
  isKept: true,
} satisfies FactKind<unknown>;

export const PROBE_FACTS = [ORIGIN_PROBED];

/** What counts of a depot here. */
interface ProbingDepot {
  readonly id: string;
  readonly state: string;
}

interface OriginProbesInit {
  readonly facts?: Facts;
  readonly origins: Pick<OriginTable, 'known'>;
  /** Links between depots; `undefined` where nothing is known of one. */
  readonly links: {
    estimate(one: string, other: string, nowMs: number): { readonly rttMs: number } | undefined;
  };
  /** A depot that was not heard for so long is gone; without it: depots come more than once a minute. */
  readonly lostAfterMs?: number;
  /** Whether a depot is still one of the overlay's; without it: all are. */
  readonly isThere?: (depot: string) => boolean;
  /** Told of each probe, and of each that a client network may not have any more. */
  readonly onProbe?: (outcome: 'told' | 'network-used-up') => void;
}

interface Wish {
  readonly port: number;
  readonly atMs: number;
  /** When a depot was told last. */
  toldAtMs?: number;
  /** The depot that is told next, chosen when so many had measured the origin, and so many were told. */
  choice?: { readonly depot: string; readonly measured: number; readonly probed: number };
}

/** What is known of an origin when a depot is heard. */
interface Asked {
  readonly host: string;
  readonly wish: Wish;
  /** Told within the hour. */
  readonly probed: ReadonlySet<string>;
  /** What those found that have measured it lately. */
  readonly measuredMs: ReadonlyMap<string, number>;
}

/**
 * Has origins probed that downloads ask for, by a few depots: the first that are heard, then the one that may
 * be nearest by what these have found, be it in downloads, or that tells whether the origin stands in one
 * place. A probe is a connection that is opened and closed: nothing is asked of the origin, because a link
 * may be good for one request only.
 */
export class OriginProbes {
  readonly #init: OriginProbesInit;
  readonly #facts: Facts;
  readonly #heardMs: number;
  readonly #wishMs: number;
  /** By host, the newest last: the next depot that is heard looks at that one first. */
  readonly #wishes = new OrderedMap<string, Wish>();
  readonly #networks = new LruMap<string, HourlyBudget>(MOST_NETWORKS);
  /** When each depot came to this master last, and since when that is noted. */
  readonly #heardAtMs = new LruMap<string, number>(MOST_HEARD);
  #listensSinceMs: number | undefined;
  /** Origins of which there is no more to find out, since when, and how many had measured them then. */
  readonly #settled = new LruMap<string, { readonly known: number; readonly atMs: number }>(MOST_PROBED);

  constructor(init: OriginProbesInit) {
    this.#init = init;
    this.#facts = init.facts ?? new Facts({ kinds: PROBE_FACTS });
    const { lostAfterMs = 0 } = init;
    this.#heardMs = Math.max(LEAST_HEARD_MS, lostAfterMs);
    this.#wishMs = Math.max(LEAST_WISH_MS, lostAfterMs);
  }

  /** Takes note that a download from an origin was planned for a client, as the policy allows it. */
  want(origin: { readonly host: string; readonly port: number }, client: string, nowMs: number): void {
    const { host, port } = origin;
    const waits = this.#wishes.get(host);
    if (waits && Math.abs(nowMs - waits.atMs) < this.#wishMs) return;
    const settled = this.#settled.get(host);
    const isSettled = settled !== undefined && Math.abs(nowMs - settled.atMs) < SETTLED_MS;
    if (isSettled && settled.known === this.#init.origins.known(host).size) return;
    if (this.#probed(host, nowMs).size >= MOST_PROBES) return;
    if (this.#lately(host, nowMs).size < ENOUGH && !this.#charge(clientPrefix(client), nowMs)) {
      this.#init.onProbe?.('network-used-up');
      return;
    }
    this.#wishes.setLast(host, { port, atMs: nowMs });
    if (this.#wishes.size > MOST_WISHES) this.#wishes.deleteOldest();
  }

  /** What the depot `id`, which has just been heard, shall probe now; `undefined` for nothing. */
  next(id: string, depots: readonly ProbingDepot[], nowMs: number): OriginProbe | undefined {
    if (depots.find((depot) => depot.id === id)?.state !== 'up') return undefined;
    this.#listensSinceMs ??= nowMs;
    this.#heardAtMs.set(id, nowMs);
    if (this.#wishes.size === 0) return undefined;
    let up = 0;
    for (const { state } of depots) if (state === 'up') up += 1;
    // Who floods the list with names waits behind those that came after him.
    for (const [host, wish] of this.#wishes.newest(MOST_LOOKED_AT)) {
      if (Math.abs(nowMs - wish.atMs) >= this.#wishMs) {
        this.#wishes.delete(host);
        continue;
      }
      const asked = { host, wish, probed: this.#probed(host, nowMs), measuredMs: this.#lately(host, nowMs) };
      const { probed, measuredMs } = asked;
      const known = new Set([...probed, ...measuredMs.keys()]);
      const isAnyLeft =
        up > known.size || depots.some((depot) => depot.state === 'up' && !known.has(depot.id));
      if (probed.size >= MOST_PROBES || !isAnyLeft) {
        this.#settle(host, nowMs);
        continue;
      }
      if (known.has(id)) continue;
      const isAnyone = up <= MOST_PROBES || known.size < TAKEN_AS_THEY_COME;
      if (!isAnyone && this.#nextOf(asked, depots, nowMs) !== id) continue;
      if (this.#tell(id, host, wish, nowMs)) return { host, port: wish.port };
    }
    return undefined;
  }

  /** Notes that a depot is told; `false` where that cannot be kept: it would be told for ever. */
  #tell(id: string, host: string, wish: Wish, nowMs: number): boolean {
    const own = this.#facts.own(ORIGIN_PROBED, host);
    const before = own && nowMs - own.timeMs < HOUR_MS ? own.value.depots : [];
    const depots = [...before, id].slice(-MOST_PROBES);
    if (!this.#facts.learn(ORIGIN_PROBED, host, { depots }, nowMs)) {
      this.#wishes.delete(host);
      return false;
    }
    wish.toldAtMs = nowMs;
    this.#init.onProbe?.('told');
    return true;
  }

  /**
   * The depot that is told next; `undefined` while one that was told has not said what it found, and where
   * there is no more to find out.
   */
  #nextOf(asked: Asked, depots: readonly ProbingDepot[], nowMs: number): string | undefined {
    const { host, wish, probed, measuredMs } = asked;
    const { choice, toldAtMs = Number.NEGATIVE_INFINITY } = wish;
    const isAwaited = [...probed].some((depot) => !measuredMs.has(depot));
    if (isAwaited && Math.abs(nowMs - toldAtMs) < FOUND_OUT_MS) return undefined;
    const isOfNow = choice?.measured === measuredMs.size && choice.probed === probed.size;
    const mayBeTold = ({ id, state }: ProbingDepot) => state === 'up' && this.#isHere(id, nowMs);
    const chosen = isOfNow ? depots.find(({ id }) => id === choice.depot) : undefined;
    if (chosen && mayBeTold(chosen)) return chosen.id;
    const others = depots.flatMap((depot) =>
      mayBeTold(depot) && !probed.has(depot.id) && !measuredMs.has(depot.id) ? [depot.id] : [],
    );
    const rttBetween = (one: string, other: string) => this.#init.links.estimate(one, other, nowMs)?.rttMs;
    // Where those that were told have not reached it, another one may.
    const depot =
      measuredMs.size === 0
        ? others[0]
        : (nearerDepot(measuredMs, others, rttBetween) ?? witnessOf(measuredMs, others, rttBetween));
    if (depot === undefined) this.#settle(host, nowMs);
    else wish.choice = { depot, measured: measuredMs.size, probed: probed.size };
    return depot;
  }

  /** Whether a depot comes to this master, as far as it has listened. */
  #isHere(depot: string, nowMs: number): boolean {
    const atMs = this.#heardAtMs.get(depot) ?? this.#listensSinceMs ?? nowMs;
    return Math.abs(nowMs - atMs) < this.#heardMs;
  }

  #settle(host: string, nowMs: number): void {
    this.#wishes.delete(host);
    this.#settled.set(host, { known: this.#init.origins.known(host).size, atMs: nowMs });
  }

  /** The round trips of the depots that are there and have measured an origin lately, where it is now. */
  #lately(host: string, nowMs: number): ReadonlyMap<string, number> {
    const { origins, isThere = () => true } = this.#init;
    const known = [...origins.known(host)];
    // That depots are led to different networks says nothing: names of many servers answer so.
    const left = known.flatMap(([, { timeMs, value }]) => {
      const { moved } = value;
      return moved ? [{ prefix: moved.from, atMs: timeMs - moved.agoMs }] : [];
    });
    const lately = known.filter(([depot, { timeMs, value }]) => {
      const isElsewhere = left.some(
        ({ prefix, atMs }) => prefix === value.prefix && atMs - timeMs > ELSEWHERE_MS,
      );
      return isThere(depot) && !isElsewhere && Math.abs(nowMs - timeMs) < LATELY_MS;
    });
    return new Map(lately.map(([depot, { value }]) => [depot, value.rtt.value]));
  }

  /** The depots that were told within the hour, by any master. */
  #probed(host: string, nowMs: number): ReadonlySet<string> {
    const facts = this.#facts.store.all(ORIGIN_PROBED, host);
    const fresh = facts.filter(({ timeMs }) => Math.abs(nowMs - timeMs) < HOUR_MS);
    return new Set(fresh.flatMap(({ value }) => value.depots));
  }

  #charge(network: string, nowMs: number): boolean {
    const budget = this.#networks.get(network) ?? new HourlyBudget(PER_NETWORK);
    this.#networks.set(network, budget);
    return budget.take(1, nowMs);
  }
}
