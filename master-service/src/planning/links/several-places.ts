import { MOST_COMPARED, placesOf } from '../../measuring/origin-places.ts';
import { agreedBounds, type RttBounds } from './agreed-bounds.ts';
import { type Around, type EndLegs, isMeasured } from './end-leg.ts';

/**
 * A client meets the nearest of many servers: at most as far as so many times what most depots do, and so
 * much for its own line.
 */
const ELSEWHERE = { times: 2, lineMs: 40 } as const;

/**
 * Whether the servers of an origin stand in several places, by what the nearest depots say. Of two depots
 * that contradict each other nobody knows which one errs: what they say of the way between client and origin
 * is then no reason for a detour, either.
 */
export function standsInSeveralPlaces(legs: EndLegs, around: Around): boolean {
  const compared = new Map(measuredMs(legs).slice(0, MOST_COMPARED));
  const places = placesOf(compared, waysBetween(compared.keys(), around));
  return places === 'several' || (places === 'disputed' && compared.size === 2);
}

/**
 * What depots leave of the direct way to an origin in several places: its nearest one is no further than over
 * any of them. How near the origin is to a depot nobody else can see; that depot is no nearer to the client
 * than others allow that have met it. A client that is far from them all meets a server as near as depots do,
 * unless one says that none is there.
 */
export function nearestPlaceBounds(client: EndLegs, origin: EndLegs, around: Around): RttBounds | undefined {
  const all = measuredMs(origin).map(([, rttMs]) => rttMs);
  const elsewhereMs = ELSEWHERE.times * (all[all.length >> 1] ?? Number.POSITIVE_INFINITY) + ELSEWHERE.lineMs;
  const isFurther = [...client].some(([depot, { bounds }]) => {
    const toOrigin = origin.get(depot)?.bounds;
    return bounds && toOrigin && toOrigin.leastMs - bounds.mostMs > elsewhereMs;
  });
  const sums = [...client].flatMap(([depot, { bounds }]) => {
    const toOrigin = origin.get(depot)?.bounds;
    if (!bounds || !toOrigin) return [];
    const told = [bounds, ...toldByOthers(client, around(depot))];
    const leastMs = agreedBounds(told, 'nearest')?.leastMs ?? 0;
    return [Math.max(bounds.mostMs, leastMs) + toOrigin.mostMs];
  });
  if (sums.length === 0) return undefined;
  return { leastMs: 0, mostMs: Math.min(...sums, isFurther ? Number.POSITIVE_INFINITY : elsewhereMs) };
}

/** The round trips of the depots that have measured an origin, the shortest first. */
function measuredMs(legs: EndLegs): (readonly [depot: string, rttMs: number])[] {
  return [...legs]
    .flatMap(([depot, leg]) => (isMeasured(leg) ? [[depot, leg.link.rttMs] as const] : []))
    .toSorted(([, one], [, other]) => one - other);
}

function* waysBetween(depots: Iterable<string>, around: Around) {
  for (const one of depots) {
    for (const [other, betweenMs] of around(one)) if (one < other) yield [one, other, betweenMs] as const;
  }
}

/** Between what a depot's round trip to an end must lie, by the triangles with those that have measured it. */
function toldByOthers(legs: EndLegs, others: ReturnType<Around>): RttBounds[] {
  return [...others].flatMap(([other, betweenMs]) => {
    const leg = legs.get(other);
    if (!leg || !isMeasured(leg)) return [];
    const { rttMs } = leg.link;
    return [{ leastMs: Math.abs(rttMs - betweenMs), mostMs: rttMs + betweenMs }];
  });
}
