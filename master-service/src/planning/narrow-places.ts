import { type Around, type EndLeg, type EndLegs, isMeasured } from './download-links.ts';

/** Two round trips that add up to a third one within this part of it, and so many ms: the longer way leads by the place between. */
const ADDS_UP = { share: 0.05, ms: 1 } as const;
/** What passes a narrow place is expected to get so many times as much: ways that lead by one place need not share all of it. */
const ROOM = 1.25;
/** The depots nearest to an origin, whose links show what has become of the ways to it. */
const NEAREST = 2;

/** What is known of narrow places, in bits per second; `undefined` where nothing tells of one. */
export interface NarrowPlaces {
  /** What the way from the origin to a depot carries at most, as it was filled. */
  readonly fullBps: (depot: string) => number | undefined;
  /** What is left of a link that carried more than twice as much of late, on the leg on which `from` sends to `to`. */
  readonly fallenBps: (to: string, from: string) => number | undefined;
}

/**
 * Bounds the legs from an origin whose rates nobody has measured by narrow places that they lead by. Where a way becomes narrow that many share, else each of them
 * would look as it did before until a download over it has been slow.
 */
export function boundByNarrowPlaces(legs: EndLegs, around: Around, places: NarrowPlaces): void {
  const nearestFirst = [...legs]
    .filter(([, leg]) => isMeasured(leg))
    .toSorted(([, one], [, other]) => one.link.rttMs - other.link.rttMs);
  /** Depots by which others may lead, with what is known to come as far as there. */
  const passed = new Map<string, { readonly rttMs: number; readonly bps: number }>();
  for (const [place, [depot, leg]] of nearestFirst.entries()) {
    const fullBps = places.fullBps(depot);
    const boundBps =
      fullBps ?? (isRated(leg) ? undefined : leastBehind(depot, leg, { passed, around, places }));
    if (boundBps !== undefined || place < NEAREST)
      passed.set(depot, { rttMs: leg.link.rttMs, bps: boundBps ?? Number.POSITIVE_INFINITY });
    if (fullBps === undefined && boundBps !== undefined && ROOM * boundBps < leg.link.rateBps)
      legs.set(depot, { ...leg, link: { ...leg.link, rateBps: ROOM * boundBps, rateSource: 'derived' } });
  }
}

interface Behind {
  readonly passed: ReadonlyMap<string, { readonly rttMs: number; readonly bps: number }>;
  readonly around: Around;
  readonly places: NarrowPlaces;
}

/** The least that comes past any of the depots by which a way leads to `depot`. */
function leastBehind(
  depot: string,
  { link }: EndLeg,
  { passed, around, places }: Behind,
): number | undefined {
  const slackMs = ADDS_UP.share * link.rttMs + ADDS_UP.ms;
  let leastBps = Number.POSITIVE_INFINITY;
  for (const [by, betweenMs] of around(depot)) {
    const before = passed.get(by);
    if (!before || Math.abs(before.rttMs + betweenMs - link.rttMs) > slackMs) continue;
    leastBps = Math.min(leastBps, before.bps, places.fallenBps(depot, by) ?? Number.POSITIVE_INFINITY);
  }
  return leastBps < Number.POSITIVE_INFINITY ? leastBps : undefined;
}

function isRated({ link }: EndLeg): boolean {
  return link.rateSource === 'measured' || link.goodputBps !== undefined;
}
