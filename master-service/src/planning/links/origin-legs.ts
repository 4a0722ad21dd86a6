import { type CongestionControl, ORIGIN } from '@longhaul/shared';
import { fullBpsOf, type OriginTable, roomForSeveralBps, wornBpsOf } from '../../measuring/origin-table.ts';
import { type EndLeg, type EndLegs, endLeg } from './end-leg.ts';
import { type EndDepots, knownLegs, speakersOf, tellsRttAlone } from './known-legs.ts';
import type { LinkTable } from './link-table.ts';
import { boundByNarrowPlaces, narrowPlacesBy } from './narrow-places.ts';
import { nearestOfBoth } from './nearest-legs.ts';
import { heldTogetherBps, toOneAddressBps, totalOf, UNKNOWN_RATE } from './origin-holds.ts';
import { standsInSeveralPlaces } from './several-places.ts';
import { withWorkedOut } from './worked-out-legs.ts';

/**
 * What several connections got together that is so large a part of what one alone had may be all that the way
 * carries.
 */
const FULL_SHARE = 0.8;

interface OriginLegsInit {
  readonly links: LinkTable;
  readonly origins: OriginTable;
  /** What counts where nobody says how large windows are. */
  readonly windowBytes: number;
}

/** What is the same for all legs to an origin. */
interface OriginSeen {
  readonly sender?: CongestionControl | undefined;
  readonly perAddressBps?: number | undefined;
}

/** Puts together what is known of an origin, by its host; `undefined` where nobody says which. */
export class OriginLegs {
  readonly #init: OriginLegsInit;

  constructor(init: OriginLegsInit) {
    this.#init = init;
  }

  /** The legs that are measured, typed in or worked out, and whether the origin is in more than one place. */
  all(
    host: string | undefined,
    sender: CongestionControl | undefined,
    { around, isUsable }: EndDepots,
    nowMs: number,
  ): { readonly legs: EndLegs; readonly isInSeveralPlaces: boolean } {
    const { links, origins } = this.#init;
    const measured = speakersOf(links, host === undefined ? [] : origins.nearestFirst(host));
    const near = speakersOf(links, host === undefined ? [] : origins.near(host));
    const perAddressBps = host === undefined ? undefined : toOneAddressBps(this.#init, host, nowMs);
    const legOf = (depot: string) => this.one(depot, host ?? '', { sender, perAddressBps }, nowMs);
    const typedOf = (depot: string) => {
      const typed = links.estimate(depot, ORIGIN, nowMs);
      return typed && sender ? { ...typed, sender } : typed;
    };
    const isRttAlone = (depot: string) => tellsRttAlone(origins.known(host ?? '').get(depot)?.value);
    const told = { measured, near, site: undefined, legOf, typedOf, isRttAlone } as const;
    const own = { end: ORIGIN, ...told, around, isUsable } as const;
    const { legs, isComplete } = knownLegs(links, own);
    const isInSeveralPlaces = standsInSeveralPlaces(legs, around);
    // How far such an origin is from one depot says nothing of how far it is from another one.
    const all = isComplete || isInSeveralPlaces ? nearestOfBoth(legs, isUsable) : withWorkedOut(legs, own);
    if (!isInSeveralPlaces)
      boundByNarrowPlaces(all, around, narrowPlacesBy(links, origins.known(host ?? ''), nowMs));
    return { legs: all, isInSeveralPlaces };
  }

  /** One depot's leg, by all that is known beside its round trip where nobody has measured that. */
  one(depot: string, host: string, { sender, perAddressBps }: OriginSeen, nowMs: number): EndLeg {
    const { origins, windowBytes } = this.#init;
    const known = origins.distribution(depot, host, nowMs);
    const fact = origins.known(host).get(depot);
    const isRateMeasured = known.goodputBps.source === 'measured';
    const total = totalOf(fact, nowMs);
    // Several that fill what one alone had each have a part of it.
    const isFull = total.source === 'measured' && total.value >= FULL_SHARE * known.goodputBps.value;
    const wornBps = (fact && !isFull && wornBpsOf(fact, nowMs)) || Number.POSITIVE_INFINITY;
    const ofSeveral = total.source === 'measured' ? total.spread : UNKNOWN_RATE.spread;
    const isAsOthersSaw = total.source !== 'measured' && perAddressBps !== undefined;
    const heldBps = isAsOthersSaw ? perAddressBps : heldTogetherBps(known.goodputBps, fact, nowMs);
    // What one connection was given is no bound for several, nor what several were that left room, but for
    // far more than that.
    const fullBps = fact && fullBpsOf(fact, nowMs);
    const roomBps = (fact && roomForSeveralBps(fact, nowMs)) ?? Number.POSITIVE_INFINITY;
    const ofAllBps = Math.min(Math.max(UNKNOWN_RATE.bps, total.value), roomBps);
    return endLeg(known, fact !== undefined, {
      rateBps: heldBps ?? fullBps ?? Math.max(ofAllBps, isRateMeasured ? known.goodputBps.value : 0),
      windowBytes,
      // Where lanes follow, the fastest second of one alone is that of its start: it does not last.
      goodputBps: isRateMeasured ? Math.min(known.goodputBps.value, wornBps, fullBps ?? wornBps) : undefined,
      rateSource: isRateMeasured || fullBps !== undefined ? 'measured' : total.source,
      rateSpread: isRateMeasured ? known.goodputBps.spread : ofSeveral,
      sender,
    });
  }
}
