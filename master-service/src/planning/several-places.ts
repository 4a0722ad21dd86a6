import { agreedBounds, type RttBounds } from './agreed-bounds.ts';
import { type Around, type EndLegs, isMeasured } from './download-links.ts';

/** Depots that have measured an origin and are held against each other, the nearest ones. */
const MOST_COMPARED = 8;
/** Ways between depots may be detours: only what is so much shorter over an origin cannot be the way over one place. */
const SHORTER = 0.7;

/**
 * Whether the servers of an origin stand in several places, as those of a content network do: depots far from each other are all near it. One depot that
 * says that it is near, and is not, contradicts many, so that two contradictions without a depot in common are asked for. Of two depots nobody knows which one
 * errs: what they say of the way between client and origin is then no reason for a detour, either.
 */
export function standsInSeveralPlaces(legs: EndLegs, around: Around): boolean {
  const compared = new Map(
    [...legs]
      .flatMap(([depot, leg]) => (isMeasured(leg) ? [[depot, leg.link.rttMs] as const] : []))
      .toSorted(([, one], [, other]) => one - other)
      .slice(0, MOST_COMPARED),
  );
  const contradictions: (readonly [string, string])[] = [];
  for (const [one, oneMs] of compared) {
    for (const [other, betweenMs] of around(one)) {
      const otherMs = one < other ? compared.get(other) : undefined;
      if (otherMs !== undefined && oneMs + otherMs < SHORTER * betweenMs) contradictions.push([one, other]);
    }
  }
  const [first, ...others] = contradictions;
  if (compared.size === 2) return first !== undefined;
  return first !== undefined && !first.some((depot) => others.every((pair) => pair.includes(depot)));
}

/**
 * What the ways over depots leave of the direct way to an origin in several places: its nearest one is no further than any of them. How near the origin is to
 * a depot nobody else can see; that depot is no nearer to the client than others allow that have met it.
 */
export function nearestPlaceBounds(client: EndLegs, origin: EndLegs, around: Around): RttBounds | undefined {
  const sums = [...client].flatMap(([depot, { bounds }]) => {
    const toOrigin = origin.get(depot)?.bounds;
    if (!bounds || !toOrigin) return [];
    const told = [bounds, ...toldByOthers(client, around(depot))];
    const leastMs = agreedBounds(told, 'nearest')?.leastMs ?? 0;
    return [Math.max(bounds.mostMs, leastMs) + toOrigin.mostMs];
  });
  return sums.length > 0 ? { leastMs: 0, mostMs: Math.min(...sums) } : undefined;
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
