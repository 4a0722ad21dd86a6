/** Ways between depots may be detours: only what is so much shorter over an origin cannot be the way over one place. */
const SHORTER = 0.7;
/** A depot at least so far from the nearest one, beside the furthest that there is, has told what that one would. */
const AS_FAR = 0.5;

/** Depots that have measured an origin and are held against each other, the nearest ones. */
export const MOST_COMPARED = 8;

/** The round trip between two depots in milliseconds; `undefined` where nobody knows it. */
type RttBetween = (one: string, other: string) => number | undefined;

/** Where the servers of an origin stand. Disputed: in several places, unless one depot errs. */
export type OriginPlaces = 'one' | 'disputed' | 'several';

/**
 * Whether the servers of an origin stand in several places, as those of a content network do: depots far from
 * each other are all near it. One depot that says that it is near, and is not, contradicts many, so that two
 * contradictions without a depot in common are asked for.
 */
export function placesOf(
  measuredMs: ReadonlyMap<string, number>,
  ways: Iterable<readonly [one: string, other: string, betweenMs: number]>,
): OriginPlaces {
  const contradictions: (readonly [string, string])[] = [];
  for (const [one, other, betweenMs] of ways) {
    const [oneMs, otherMs] = [measuredMs.get(one), measuredMs.get(other)];
    if (oneMs === undefined || otherMs === undefined) continue;
    if (oneMs + otherMs < SHORTER * betweenMs) contradictions.push([one, other]);
  }
  const [first, ...others] = contradictions;
  if (!first) return 'one';
  return first.some((depot) => others.every((pair) => pair.includes(depot))) ? 'disputed' : 'several';
}

/**
 * Of `others` the depot that tells whether an origin stands in one place: that furthest from those that are
 * near it. Beside one depot, for all that its neighbours say, a content network looks like any origin.
 * `undefined` where that is known, or where none is far enough to tell.
 */
export function witnessOf(
  measuredMs: ReadonlyMap<string, number>,
  others: Iterable<string>,
  rttBetween: RttBetween,
): string | undefined {
  const nearestFirst = [...measuredMs].toSorted(([, one], [, other]) => one - other);
  const compared = new Map(nearestFirst.slice(0, MOST_COMPARED));
  const places = placesOf(compared, waysBetween([...compared.keys()], rttBetween));
  const [nearest] = nearestFirst;
  if (!nearest || places === 'several') return undefined;
  const [anchor, nearestMs] = nearest;
  // In a dispute nobody is believed more than the others: one is asked that is far from all of them.
  const anchors = places === 'disputed' ? [...compared.keys()] : [anchor];
  const farMs = (depot: string) => Math.min(...anchors.map((one) => rttBetween(one, depot) ?? 0));
  let [furthest, furthestMs]: [string | undefined, number] = [undefined, (2 * nearestMs) / SHORTER];
  for (const depot of others) {
    const betweenMs = farMs(depot);
    if (betweenMs > furthestMs) [furthest, furthestMs] = [depot, betweenMs];
  }
  const hasTold = [...measuredMs.keys()].some(
    (depot) => (rttBetween(anchor, depot) ?? 0) >= AS_FAR * furthestMs,
  );
  return places === 'one' && hasTold ? undefined : furthest;
}

function* waysBetween(depots: readonly string[], rttBetween: RttBetween) {
  for (const [place, one] of depots.entries()) {
    for (const other of depots.slice(place + 1)) yield [one, other, rttBetween(one, other) ?? 0] as const;
  }
}
