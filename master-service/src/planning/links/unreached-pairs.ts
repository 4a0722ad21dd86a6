import type { Chain } from '@longhaul/shared';
import * as z from 'zod';
import type { FactKind } from '../../facts/fact.ts';
import type { Facts } from '../../facts/facts.ts';
import { SpeakerRoom } from '../../facts/speaker-room.ts';
import { firstOf, keyOf, partsOf } from '../../facts/two-part-keys.ts';

/**
 * A depot tries each minute again whom it cannot reach, and says so each time: what it has not said for so
 * long may be otherwise now.
 */
const UNREACHED_LIFE_MS = 600_000;
/** Pairs of depots, of a thousand each ten. */
const MOST_PAIRS = 10_000;

/** Whether a depot cannot connect to another one that lives, by `<this depot> <other depot>`. */
const DEPOT_UNREACHED = {
  name: 'depot-unreached',
  schema: z.looseObject({ isUnreached: z.boolean() }),
  keys: /^\S{1,64} \S{1,64}$/,
  most: MOST_PAIRS,
  whenFull: 'forget-oldest',
  lifeMs: UNREACHED_LIFE_MS,
  // By the time a master is there again it has been told anew.
  isKept: false,
} satisfies FactKind<unknown>;

export const UNREACHED_FACTS = [DEPOT_UNREACHED];

/**
 * Depots that live, and that some other one cannot connect to: the networks between them do not carry each
 * other's packets, or a firewall stands there. A depot speaks only for the connections that it makes itself.
 */
export class UnreachedPairs {
  readonly #facts: Facts;
  readonly #room: SpeakerRoom<{ isUnreached: boolean }>;
  /** When those were told of that are not reached: mostly there are none, and each redirect asks. */
  readonly #toldAtMs = new Map<string, number>();

  /** `onChange` is told of each pair of which something else may be known. */
  constructor(facts: Facts, onChange: (from: string, to: string, nowMs: number) => void) {
    this.#facts = facts;
    this.#room = new SpeakerRoom({ facts, kind: DEPOT_UNREACHED });
    facts.store.watch(DEPOT_UNREACHED, (now, before) => {
      const changed = now ?? before;
      if (!changed) return;
      const { key, timeMs } = changed;
      const newest = facts.store.newest(DEPOT_UNREACHED, key);
      const wasThere = this.#toldAtMs.delete(key);
      if (newest?.value.isUnreached) this.#toldAtMs.set(key, newest.timeMs);
      if (this.#toldAtMs.has(key) !== wasThere) onChange(...partsOf(key), timeMs);
    });
  }

  /** Takes in that `from` could not connect to `to`, which lives; whether that is news. */
  noteUnreached(from: string, to: string, nowMs: number): boolean {
    const isNews = !this.has(from, to, nowMs);
    this.#room.learn(keyOf(from, to), { isUnreached: true }, nowMs);
    return isNews;
  }

  /** Takes in that `from` has connected to `to`. */
  noteReached(from: string, to: string, nowMs: number): void {
    const key = keyOf(from, to);
    if (this.#toldAtMs.has(key)) this.#facts.learn(DEPOT_UNREACHED, key, { isUnreached: false }, nowMs);
  }

  /** Takes in that a depot has begun anew: it will say again whom it cannot reach. */
  forgetFrom(from: string, nowMs: number): void {
    for (const key of [...this.#toldAtMs.keys()].filter((one) => firstOf(one) === from))
      this.#facts.learn(DEPOT_UNREACHED, key, { isUnreached: false }, nowMs);
  }

  /** Whether nothing can be led over a connection that `from` makes to `to`. */
  has(from: string, to: string, nowMs: number): boolean {
    if (this.#toldAtMs.size === 0) return false;
    const toldAtMs = this.#toldAtMs.get(keyOf(from, to));
    return toldAtMs !== undefined && nowMs - toldAtMs <= UNREACHED_LIFE_MS;
  }

  /** Whether one of the connections of a chain cannot be made. */
  breaks(chain: Chain, nowMs: number): boolean {
    return chain.some((depot, place) => {
      const next = chain[place + 1];
      return next !== undefined && this.has(depot, next, nowMs);
    });
  }
}
