import type { EndLegs } from './end-leg.ts';

/**
 * Depots whose legs to an end are planned with, the nearest first: further ones are hardly ever part of a
 * best chain. As many count that no download may pass now: what they have measured still tells where the end
 * is.
 */
const MOST_LEGS = 32;

type IsUsable = (depot: string) => boolean;

/** So many of the nearest legs. */
export function nearest(legs: EndLegs, most: number): EndLegs {
  return legs.size <= most ? legs : new Map(byRtt(legs).slice(0, most));
}

/** The nearest ones of the depots that a download may pass, and of those that it may not. */
export function nearestOfBoth(legs: EndLegs, isUsable: IsUsable): EndLegs {
  if (legs.size <= MOST_LEGS) return legs;
  const isAmongFirst = firstOfBoth(isUsable);
  return new Map(byRtt(legs).filter(([depot]) => isAmongFirst(depot)));
}

function byRtt(legs: EndLegs) {
  return [...legs].toSorted(([, one], [, other]) => one.link.rttMs - other.link.rttMs);
}

/**
 * Of depots that are asked for one after the other the first ones that a download may pass, and as many
 * others: those that are gone take no places.
 */
export function firstOfBoth(isUsable: IsUsable): (depot: string) => boolean {
  let [usable, others] = [0, 0];
  return (depot) => {
    if (isUsable(depot)) return ++usable <= MOST_LEGS;
    return ++others <= MOST_LEGS;
  };
}
