import { agreedBounds, type RttBounds } from './agreed-bounds.ts';
import { type Around, BESIDE_MS, type EndLeg, type EndLegs } from './end-leg.ts';
import { firstOfBoth, nearest, nearestOfBoth } from './nearest-legs.ts';

/** Measured depots from which others' distances to an end are worked out: the nearest ones bound them best. */
const MOST_ANCHORS = 3;
/** A round trip between bounds that are e apart is known by so much, and at worst as well as one between strangers. */
const BOUNDS_SPREAD = { perE: 0.3, most: 0.8 } as const;

interface WorkOutInit {
  /** Depots that have measured an end's neighbours. */
  readonly near: ReadonlyMap<string, unknown>;
  /** A depot's leg, by what is known beside its round trip. */
  readonly legOf: (depot: string) => EndLeg;
  readonly around: Around;
  readonly isUsable: (depot: string) => boolean;
}

/**
 * Adds the legs of depots that have not measured an end, by those that have, and by what they have measured
 * of its neighbours.
 */
export function withWorkedOut(legs: EndLegs, init: WorkOutInit): EndLegs {
  const { near, legOf, isUsable } = init;
  const all = withTriangles(legs, init);
  const nearestMs = Math.min(...[...legs.values()].map(({ link }) => link.rttMs));
  // With one that is measured beside the end, triangles tell more than neighbours do.
  if (nearestMs > BESIDE_MS) {
    for (const depot of near.keys()) {
      if (legs.has(depot)) continue;
      const byNeighbours = legOf(depot);
      if (apartOf(byNeighbours) < apartOf(all.get(depot))) all.set(depot, byNeighbours);
    }
  }
  return nearestOfBoth(all, isUsable);
}

/** Adds the legs of depots that have not measured an end, by those that have. */
function withTriangles(legs: EndLegs, { legOf, around, isUsable }: WorkOutInit): EndLegs {
  const told = new Map<string, RttBounds[]>();
  for (const [anchor, { link }] of nearest(legs, MOST_ANCHORS)) {
    for (const [depot, rttMs] of around(anchor)) {
      if (legs.has(depot)) continue;
      const bounds = { leastMs: Math.abs(rttMs - link.rttMs), mostMs: rttMs + link.rttMs };
      const known = told.get(depot);
      if (known) known.push(bounds);
      else told.set(depot, [bounds]);
    }
  }
  // Only the nearest are planned with, and what else is known of a leg costs far more than its bounds.
  const derived = [...told]
    .map(([depot, all]) => {
      const { leastMs, mostMs } = boundsByAll(all);
      return { depot, leastMs, mostMs, rttMs: Math.sqrt((leastMs ** 2 + mostMs ** 2) / 2) };
    })
    .toSorted((one, other) => one.rttMs - other.rttMs);
  const isAmongFirst = firstOfBoth(isUsable);
  const all: EndLegs = new Map(legs);
  for (const { depot, leastMs, mostMs, rttMs } of derived) {
    if (!isAmongFirst(depot)) continue;
    const apart = Math.log(mostMs / Math.max(leastMs, mostMs / 20));
    const { link, doubt } = legOf(depot);
    all.set(depot, {
      link: { ...link, rttMs, source: 'derived' },
      doubt: { ...doubt, rtt: Math.min(BOUNDS_SPREAD.most, BOUNDS_SPREAD.perE * apart) },
      bounds: { leastMs, mostMs },
    });
  }
  return all;
}

/**
 * What triangles with some depots leave; where they contradict each other, who says that it is near is
 * outvoted: nobody makes others near.
 */
function boundsByAll(all: readonly RttBounds[]): RttBounds {
  let [leastMs, mostMs] = [0, Number.POSITIVE_INFINITY];
  for (const bounds of all) {
    leastMs = Math.max(leastMs, bounds.leastMs);
    mostMs = Math.min(mostMs, bounds.mostMs);
  }
  const isAgreed = leastMs <= mostMs;
  return (isAgreed ? undefined : agreedBounds(all, 'furthest')) ?? { leastMs, mostMs };
}

/** How far apart the bounds of a round trip are, as a logarithm. */
function apartOf(leg: EndLeg | undefined): number {
  if (!leg?.bounds) return Number.POSITIVE_INFINITY;
  const { leastMs, mostMs } = leg.bounds;
  return Math.log(mostMs / Math.max(leastMs, mostMs / 1000));
}
