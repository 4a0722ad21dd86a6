import { OWN_LINE } from '../../estimates/own-lines.ts';
import type { Fact } from '../../facts/fact.ts';
import { fullBpsOf, type OriginFigures } from '../../measuring/origin-table.ts';
import { type Around, type EndLeg, type EndLegs, isMeasured } from './end-leg.ts';
import type { LinkTable } from './link-table.ts';

/**
 * Two round trips that add up to a third one within this part of it, and so many ms: the longer way leads by
 * the place between.
 */
const ADDS_UP = { share: 0.05, ms: 1 } as const;
/**
 * What passes a narrow place is expected to get so many times as much: ways that lead by one place need not
 * share all of it.
 */
const ROOM = 1.25;
/** The depots nearest to an origin, whose links show what has become of the ways to it. */
const NEAREST = 2;
/** So many depots must say it: one may lie, or be narrow itself. */
const AGREEING = 2;
/** A link that carries less than this part of what it did of late has become narrow. */
const FALLEN_SHARE = 0.5;

/** What is known of narrow places, in bits per second; `undefined` where nothing tells of one. */
export interface NarrowPlaces {
  /**
   * What the way from the origin to a depot carries at most, as it was filled, where the depot itself
   * receives more elsewhere.
   */
  readonly fullBps: (depot: string) => number | undefined;
  /** What is left of a link that carried more than twice as much of late, on the leg on which `from` sends to `to`. */
  readonly fallenBps: (to: string, from: string) => number | undefined;
}

/** The narrow places that depots' links, and what they have had from an origin, tell of. */
export function narrowPlacesBy(
  links: LinkTable,
  known: ReadonlyMap<string, Fact<OriginFigures>>,
  nowMs: number,
): NarrowPlaces {
  return {
    fullBps: (depot) => {
      const fact = known.get(depot);
      const fullBps = fact && links.isBelieved(depot) ? fullBpsOf(fact, nowMs) : undefined;
      // Where it is the depot's own line that is full, others have theirs.
      return fullBps && links.mostReceivedBps(depot) >= OWN_LINE.times * fullBps ? fullBps : undefined;
    },
    fallenBps: (to, from) => {
      const { goodputBps, totalBps = 0, fellFromBps = 0, isBackward } = links.distribution(to, from, nowMs);
      // What `to` sends is its own word, and says nothing of what it gets.
      if (isBackward) return undefined;
      const nowBps = Math.max(goodputBps.value, totalBps);
      // Where it is the line of one end that has fallen, what passes it by may be as before.
      const mostElsewhereBps = Math.min(links.mostSentBps(from), links.mostReceivedBps(to));
      const isOwnLine = mostElsewhereBps < OWN_LINE.times * nowBps;
      const isTold = nowBps < FALLEN_SHARE * fellFromBps && !isOwnLine && links.isBelieved(from);
      return isTold ? nowBps : undefined;
    },
  };
}

/** A bound of a way, and whose word it is. */
interface Bound {
  readonly bps: number;
  readonly by: string;
}

/** A depot by which others may lead. */
interface Passed {
  readonly rttMs: number;
  /** Round trips from there to other depots. */
  readonly aroundMs: ReadonlyMap<string, number>;
  readonly bounds: readonly Bound[];
}

/**
 * Bounds the legs from an origin whose rates nobody has measured by narrow places that they lead by, where
 * two depots say so. Where a way becomes narrow that many share, else each of them would look as it did
 * before until a download over it has been slow.
 */
export function boundByNarrowPlaces(legs: EndLegs, around: Around, places: NarrowPlaces): void {
  const nearestFirst = [...legs]
    .filter(([, leg]) => isMeasured(leg))
    .toSorted(([, one], [, other]) => one.link.rttMs - other.link.rttMs);
  const passed = new Map<string, Passed>();
  for (const [place, [depot, leg]] of nearestFirst.entries()) {
    const fullBps = places.fullBps(depot);
    // What one connection got, and no more is known of, shows that nothing is so narrow.
    const isOpen = isRated(leg) && fullBps === undefined;
    const behind = isOpen ? [] : boundsBehind(depot, leg, passed, places);
    const bounds = fullBps === undefined ? behind : [{ bps: fullBps, by: depot }, ...behind];
    if (bounds.length > 0 || place < NEAREST)
      passed.set(depot, { rttMs: leg.link.rttMs, aroundMs: new Map(around(depot)), bounds });
    const agreedBps = agreedOf(bounds);
    if (!isRated(leg) && ROOM * agreedBps < leg.link.rateBps)
      legs.set(depot, { ...leg, link: { ...leg.link, rateBps: ROOM * agreedBps, rateSource: 'derived' } });
  }
}

/** What bounds that which comes past depots by which a way leads to `depot`. */
function boundsBehind(
  depot: string,
  { link }: EndLeg,
  passed: ReadonlyMap<string, Passed>,
  places: NarrowPlaces,
): Bound[] {
  const slackMs = ADDS_UP.share * link.rttMs + ADDS_UP.ms;
  const bounds: Bound[] = [];
  for (const [by, { rttMs, aroundMs, bounds: before }] of passed) {
    const betweenMs = aroundMs.get(depot);
    if (betweenMs === undefined || Math.abs(rttMs + betweenMs - link.rttMs) > slackMs) continue;
    const fallenBps = places.fallenBps(depot, by);
    if (fallenBps !== undefined) bounds.push({ bps: fallenBps, by });
    // By one beside the origin every way seems to lead, also those that leave it on its other side.
    if (rttMs > slackMs) bounds.push(...before);
  }
  return bounds;
}

/** The least that as many say as must agree: nobody bounds others alone, however often it comes. */
function agreedOf(bounds: readonly Bound[]): number {
  const saying = new Set<string>();
  for (const { bps, by } of bounds.toSorted((one, other) => one.bps - other.bps)) {
    saying.add(by);
    if (saying.size >= AGREEING) return bps;
  }
  return Number.POSITIVE_INFINITY;
}

/** Whether somebody has measured what a leg carries, or typed it in. */
function isRated({ link }: EndLeg): boolean {
  return link.rateSource === undefined || link.rateSource === 'measured' || link.goodputBps !== undefined;
}
