import type { OriginReach, OriginUrl } from '@longhaul/shared';
import * as z from 'zod';
import type { Fact, FactKind } from '../../facts/fact.ts';
import type { Facts } from '../../facts/facts.ts';
import { ToldByDepots } from '../../facts/told-by-depots.ts';
import type { OriginTable } from '../../measuring/origin-table.ts';

/** A depot is left out for so long at first: an origin that was down for all is planned with again by then. */
const FIRST_HOLD_MS = 120_000;
/** It is left out for no longer, however often it has failed: each time costs a download one more attempt. */
const MOST_HOLD_MS = 3_600_000;
/** Failures in a row that are counted: the time is at its longest before. */
const MOST_TIMES = 10;
/**
 * So many other depots have to have measured an origin for it to be there, or the only one that ever has: one
 * alone would lengthen holds by its word.
 */
const WITNESSES = 2;
/** Ways from depots to origins that are remembered, about 200 bytes each. */
const MOST_UNREACHED = 20_000;
/** That it failed is remembered so long, so that the next failure counts for more. */
const REMEMBERED_MS = 2 * MOST_HOLD_MS;

/** Whether a depot could not connect to an origin, and how often in a row, by `<depot> <host>:<port>`. */
const ORIGIN_UNREACHED = {
  name: 'origin-unreached',
  schema: z.looseObject({ isUnreached: z.boolean(), times: z.int().min(1).max(MOST_TIMES) }),
  keys: /^\S{1,64} [a-z0-9.:_-]{1,255}:\d{1,5}$/,
  most: MOST_UNREACHED,
  whenFull: 'forget-oldest',
  lifeMs: REMEMBERED_MS,
  isKept: true,
} satisfies FactKind<unknown>;
type Unreached = Fact<z.output<(typeof ORIGIN_UNREACHED)['schema']>>;

export const UNREACHED_ORIGIN_FACTS = [ORIGIN_UNREACHED];

/** Where an origin is asked. */
type Place = Pick<OriginUrl, 'host' | 'port'>;

const NONE: ReadonlySet<string> = new Set();
const REACHED: Unreached['value'] = { isUnreached: false, times: 1 };

/**
 * Origins that single depots cannot connect to: they lack a family of addresses, a firewall stands there, or
 * their resolver does not know the name. A depot speaks only for the connections that it makes itself. It is
 * left out for longer where it fails again while others reach the origin: else that may be down for everybody,
 * and soon back.
 */
export class UnreachedOrigins {
  readonly #origins: Pick<OriginTable, 'known'>;
  readonly #told: ToldByDepots<Unreached['value']>;

  constructor(facts: Facts, origins: Pick<OriginTable, 'known'>) {
    this.#origins = origins;
    this.#told = new ToldByDepots({ facts, kind: ORIGIN_UNREACHED });
  }

  /** Takes in what came of a depot's last attempt; whether it is left out from now on, and was not before. */
  note(depot: string, { isReached, ...origin }: OriginReach, nowMs: number): boolean {
    const place = placeOf(origin);
    const before = this.#unreached(depot, place);
    if (isReached) {
      if (before) this.#told.learn(depot, place, REACHED, nowMs);
      return false;
    }
    const wasOut = before !== undefined && isOut(before, nowMs);
    const times = before ? this.#timesAfter(before, depot, origin.host, wasOut) : 1;
    this.#told.learn(depot, place, { isUnreached: true, times }, nowMs);
    return !wasOut;
  }

  /** Takes in that a depot has begun anew: it may have other ways now, and says again where it has none. */
  forgetFrom(depot: string, nowMs: number): void {
    for (const place of this.#told.thingsOf(depot))
      if (this.#unreached(depot, place)) this.#told.learn(depot, place, REACHED, nowMs);
  }

  /** The depots that lately could not connect to one of these, over which a download comes. */
  by(origins: readonly Place[], nowMs: number): ReadonlySet<string> {
    // Mostly there are none, and each redirect asks.
    if (this.#told.size === 0) return NONE;
    const out = origins.flatMap((origin) =>
      [...this.#told.of(placeOf(origin))].flatMap(([depot, fact]) =>
        fact.value.isUnreached && isOut(fact, nowMs) ? [depot] : [],
      ),
    );
    return out.length === 0 ? NONE : new Set(out);
  }

  #unreached(depot: string, place: string): Unreached | undefined {
    const told = this.#told.of(place).get(depot);
    return told?.value.isUnreached ? told : undefined;
  }

  #timesAfter({ value, timeMs }: Unreached, depot: string, host: string, wasOut: boolean): number {
    if (wasOut) return value.times;
    const others = [...this.#origins.known(host)].filter(([other]) => other !== depot);
    const since = others.filter(([, seen]) => seen.timeMs > timeMs).length;
    return since > 0 && since >= Math.min(WITNESSES, others.length)
      ? Math.min(MOST_TIMES, value.times + 1)
      : 1;
  }
}

function isOut({ value, timeMs }: Unreached, nowMs: number): boolean {
  return nowMs - timeMs < Math.min(MOST_HOLD_MS, FIRST_HOLD_MS * 2 ** (value.times - 1));
}

function placeOf({ host, port }: Place): string {
  return `${host}:${port}`;
}
