import { clientPrefix, type OriginProbe } from '@longhaul/shared';
import { HourlyBudget, LruMap, OrderedMap } from '@longhaul/shared/service';
import * as z from 'zod';
import type { LegDistribution } from '../estimates/leg-figures.ts';
import type { FactKind } from '../facts/fact.ts';
import { Facts } from '../facts/facts.ts';
import type { OriginTable } from './origin-table.ts';

/** Connections that all depots together open to an origin for its distance, in an hour. */
const MOST_PROBES = 4;
const HOUR_MS = 3_600_000;
/** Depots that have measured an origin lately place the others by triangles: with so many no further one is asked. */
const ENOUGH = 3;
/** Servers move, and so do the ways to them. */
const LATELY_MS = 24 * HOUR_MS;
/** What was measured in a network that another depot saw the origin leave so long after, may be of a place where it is no more. */
const ELSEWHERE_MS = HOUR_MS;
/** The first ones are taken as they come; the next must be expected to be nearer than these. */
const TAKEN_AS_THEY_COME = 2;
/** What a depot must be nearer by, at the best, to be worth a connection. */
const NEARER = 0.8;
/** A download that was planned so long ago needs no probe any more. */
const WISH_MS = 60_000;
/** Origins that wait for depots to be heard, and those that are looked at for one of them. */
const MOST_WISHES = 1_000;
const MOST_LOOKED_AT = 32;
/** Origins that clients of one network may have probed in an hour: whoever asks for names all day must not have depots knock everywhere. */
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
  readonly links: { distribution(one: string, other: string, nowMs: number): LegDistribution };
  /** Whether a depot is still one of the overlay's; without it: all are. */
  readonly isThere?: (depot: string) => boolean;
  /** Told of each probe, and of each that a client network may not have any more. */
  readonly onProbe?: (outcome: 'told' | 'network-used-up') => void;
}

interface Wish {
  readonly port: number;
  readonly atMs: number;
}

/**
 * Has origins probed that downloads ask for and nobody knows, by a few depots: the first that are heard, then those that may be nearer.
 * A probe is a connection that is opened and closed: nothing is asked of the origin, because a link may be good for one request only.
 */
export class OriginProbes {
  readonly #init: OriginProbesInit;
  readonly #facts: Facts;
  /** By host, the newest last: the next depot that is heard looks at that one first. */
  readonly #wishes = new OrderedMap<string, Wish>();
  readonly #networks = new LruMap<string, HourlyBudget>(MOST_NETWORKS);

  constructor(init: OriginProbesInit) {
    this.#init = init;
    this.#facts = init.facts ?? new Facts({ kinds: PROBE_FACTS });
  }

  /** Takes note that a download from an origin was planned for a client, as the policy allows it. */
  want(origin: { readonly host: string; readonly port: number }, client: string, nowMs: number): void {
    const { host, port } = origin;
    if (this.#latelyBy(host, nowMs).size >= ENOUGH || this.#probed(host, nowMs).size >= MOST_PROBES) return;
    const waits = this.#wishes.get(host);
    if (waits && Math.abs(nowMs - waits.atMs) < WISH_MS) return;
    if (!this.#charge(clientPrefix(client), nowMs)) {
      this.#init.onProbe?.('network-used-up');
      return;
    }
    this.#wishes.setLast(host, { port, atMs: nowMs });
    const { oldest } = this.#wishes;
    if (this.#wishes.size > MOST_WISHES && oldest !== undefined) this.#wishes.delete(oldest);
  }

  /** What the depot `id`, which has just been heard, shall probe now; `undefined` for nothing. */
  next(id: string, depots: readonly ProbingDepot[], nowMs: number): OriginProbe | undefined {
    if (depots.find((depot) => depot.id === id)?.state !== 'up') return undefined;
    const up = depots.filter(({ state }) => state === 'up').length;
    // Who floods the list with names waits behind those that came after him.
    for (const [host, wish] of this.#wishes.newest(MOST_LOOKED_AT)) {
      const probed = this.#probed(host, nowMs);
      const known = this.#latelyBy(host, nowMs);
      const isOver = Math.abs(nowMs - wish.atMs) >= WISH_MS;
      if (isOver || probed.size >= Math.min(MOST_PROBES, up) || known.size >= ENOUGH) {
        this.#wishes.delete(host);
        continue;
      }
      if (probed.has(id) || known.has(id)) continue;
      if (up > MOST_PROBES && probed.size >= TAKEN_AS_THEY_COME && !this.#mayBeNearer(id, host, nowMs))
        continue;
      const own = this.#facts.own(ORIGIN_PROBED, host);
      const before = own && nowMs - own.timeMs < HOUR_MS ? own.value.depots : [];
      const depots = [...before, id].slice(-MOST_PROBES);
      // What cannot be kept would be probed for ever.
      if (!this.#facts.learn(ORIGIN_PROBED, host, { depots }, nowMs)) {
        this.#wishes.delete(host);
        continue;
      }
      this.#init.onProbe?.('told');
      return { host, port: wish.port };
    }
    return undefined;
  }

  /** The depots that are there and have measured an origin lately, where it is now. */
  #latelyBy(host: string, nowMs: number): ReadonlySet<string> {
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
    return new Set(lately.map(([depot]) => depot));
  }

  /** Whether a depot may lie nearer to an origin than all that have measured it, by the triangles with them. */
  #mayBeNearer(id: string, host: string, nowMs: number): boolean {
    const measured = [...this.#init.origins.known(host)];
    if (measured.length === 0) return true;
    const nearest = Math.min(...measured.map(([, { value }]) => value.rtt.value));
    return measured.every(([depot, { value }]) => {
      const between = this.#init.links.distribution(id, depot, nowMs).rttMs.value;
      return Math.abs(between - value.rtt.value) < NEARER * nearest;
    });
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
