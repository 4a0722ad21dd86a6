import type { RttBounds } from './agreed-bounds.ts';
import { type EndLegs, isMeasured } from './download-links.ts';

/** Depots that have measured an origin and are held against each other, the nearest ones. */
const MOST_COMPARED = 8;
/** Ways between depots may be detours: only what is so much shorter over an origin cannot be the way over one place. */
const SHORTER = 0.7;

/**
 * Whether the servers of an origin stand in several places, as those of a content network do: depots far from each other are all near it. One depot that
 * says that it is near, and is not, contradicts many, so that two contradictions without a depot in common are asked for.
 * @param around the other depots that links lead to, with their round trips
 */
export function standsInSeveralPlaces(
  legs: EndLegs,
  around: (depot: string) => Iterable<readonly [id: string, rttMs: number]>,
): boolean {
  const compared = new Map(
    [...legs]
      .flatMap(([depot, leg]) => (isMeasured(leg) ? [[depot, leg.link.rttMs] as const] : []))
      .toSorted(([, one], [, other]) => one - other)
      .slice(0, MOST_COMPARED),
  );
  if (compared.size < 3) return false;
  const contradictions: (readonly [string, string])[] = [];
  for (const [one, oneMs] of compared) {
    for (const [other, betweenMs] of around(one)) {
      const otherMs = one < other ? compared.get(other) : undefined;
      if (otherMs !== undefined && oneMs + otherMs < SHORTER * betweenMs) contradictions.push([one, other]);
    }
  }
  const [first, ...others] = contradictions;
  return first !== undefined && !first.some((depot) => others.every((pair) => pair.includes(depot)));
}

/** What the ways over depots leave of the direct way to an origin in several places: its nearest one is no further than any of them. */
export function nearestPlaceBounds(client: EndLegs, origin: EndLegs): RttBounds | undefined {
  const sums = [...client].flatMap(([depot, { bounds }]) => {
    const toOrigin = origin.get(depot)?.bounds;
    return bounds && toOrigin ? [bounds.mostMs + toOrigin.mostMs] : [];
  });
  return sums.length > 0 ? { leastMs: 0, mostMs: Math.min(...sums) } : undefined;
}
