import type { EndName } from '@longhaul/shared';
import { siteOf } from '../../measuring/measured-by.ts';
import type { OriginFigures } from '../../measuring/origin-table.ts';
import { type Around, atSite, BESIDE_MS, type EndLeg, type EndLegs, withTyped } from './end-leg.ts';
import { NO_DOUBT } from './leg-scenarios.ts';
import type { LinkTable } from './link-table.ts';
import type { LinkEstimate } from './link-view.ts';
import { firstOfBoth } from './nearest-legs.ts';

/** Such a part of a way may be a detour. */
const DETOUR_SHARE = 0.2;

/** The depots that a download may pass. */
export interface EndDepots {
  readonly around: Around;
  /** Whether the download may pass a depot. */
  readonly isUsable: (depot: string) => boolean;
}

/** One end of a download, and what is known of it. */
export interface KnownEnd extends EndDepots {
  readonly end: EndName;
  /**
   * Depots that have measured the end, the nearest first, and those that have measured its neighbours, with
   * who speaks for them.
   */
  readonly measured: ReadonlyMap<string, string>;
  readonly near: ReadonlyMap<string, string>;
  readonly site: string | undefined;
  readonly legOf: (depot: string) => EndLeg;
  readonly typedOf: (depot: string) => LinkEstimate | undefined;
  /** Whether a depot that measured the end knows nothing but the round trip. */
  readonly isRttAlone: (depot: string) => boolean;
}

/**
 * The legs to an end that somebody has measured or typed in, else those of its neighbours; complete where
 * some are typed in for everybody.
 */
export function knownLegs(
  links: LinkTable,
  known: KnownEnd,
): {
  readonly legs: EndLegs;
  readonly isComplete: boolean;
} {
  const { end, measured, near, site, legOf, typedOf, isRttAlone, around, isUsable } = known;
  const legs: EndLegs = new Map();
  const typed = links.linkedWith(end);
  const isAmongFirst = firstOfBoth(isUsable);
  for (const depot of measured.keys()) {
    if (links.isFixed(end, depot) || !(isAmongFirst(depot) || typed.has(depot))) continue;
    const leg = legOf(depot);
    legs.set(depot, typed.has(depot) && isRttAlone(depot) ? withTyped(leg, typedOf(depot)) : leg);
  }
  for (const depot of typed) {
    const link = legs.has(depot) ? undefined : typedOf(depot);
    if (link) legs.set(depot, { link, doubt: NO_DOUBT });
  }
  if (typed.size > 0) return { legs, isComplete: true };
  if (site !== undefined && !legs.has(site) && mayBeAt(site, legs, around))
    legs.set(site, atSite(legOf(site)));
  if (legs.size === 0) for (const depot of near.keys()) legs.set(depot, legOf(depot));
  return { legs, isComplete: false };
}

/** Who speaks for each depot: itself where it is believed, else the master of its site. */
export function speakersOf(links: LinkTable, told: Iterable<string>): ReadonlyMap<string, string> {
  const speakers = new Map<string, string>();
  for (const by of told) {
    const site = siteOf(by);
    const isHeard = site === undefined ? links.isBelieved(by) : !speakers.has(site);
    if (isHeard) speakers.set(site ?? by, by);
  }
  return speakers;
}

/** Whether somebody who measured an end knows nothing of it but the round trip. */
export function tellsRttAlone(figures: OriginFigures | undefined): boolean {
  return !figures?.goodput && !figures?.loss && !figures?.total;
}

/** Whether an end can be at a site, by how far the depots are from there that have measured it: ways may be detours. */
function mayBeAt(site: string, legs: EndLegs, around: Around): boolean {
  for (const [anchor, { link }] of legs) {
    for (const [depot, rttMs] of around(anchor)) {
      if (depot === site && Math.abs(rttMs - link.rttMs) > BESIDE_MS + DETOUR_SHARE * rttMs) return false;
    }
  }
  return true;
}
