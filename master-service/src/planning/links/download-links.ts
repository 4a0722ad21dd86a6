import { CLIENT, type EndName, ORIGIN, SEGMENT_BYTES } from '@longhaul/shared';
import { agreedBounds, type RttBounds } from './agreed-bounds.ts';
import { type EndLeg, type EndLegs, isMeasured } from './end-leg.ts';
import type { LegDoubt } from './leg-scenarios.ts';
import type { LinkTable } from './link-table.ts';
import type { LinkEstimate, LinkView, PairKnowledge } from './link-view.ts';

/** A depot is beside an end of a pair when its short leg has no larger share of both. */
const BESIDE_SHARE = 0.25;
/** Depots beside an end that are held against each other, the nearest ones. */
const MOST_BESIDE = 3;
/**
 * Where none is, those count that carried from both ends, and whose way is no more than so many times as long
 * as the shortest one.
 */
const MOST_DETOUR = 1.5;
/** Stands for no loss at all, where it is divided by. */
const LEAST_LOSS = 1e-9;

/** The links of one download: those between depots are everybody's. */
export class DownloadLinks implements LinkView {
  readonly pair: PairKnowledge;
  readonly takesRanges?: boolean;
  readonly #links: LinkTable;
  readonly #client: EndLegs;
  readonly #origin: EndLegs;

  constructor(
    links: LinkTable,
    client: EndLegs,
    origin: EndLegs,
    pair: PairKnowledge,
    takesRanges: boolean | undefined,
  ) {
    this.#links = links;
    this.#client = client;
    this.#origin = origin;
    this.pair = pair;
    if (takesRanges !== undefined) this.takesRanges = takesRanges;
  }

  estimate(one: string, other: string, nowMs: number): LinkEstimate | undefined {
    const legs = this.#legsOf(one, other);
    if (legs) return legs.link;
    if (one !== CLIENT && other !== ORIGIN) return this.#links.estimate(one, other, nowMs);
    return one === CLIENT && other === ORIGIN ? this.#direct(nowMs) : undefined;
  }

  doubt(one: string, other: string, nowMs: number): LegDoubt {
    return this.#legsOf(one, other)?.doubt ?? this.#links.doubt(one, other, nowMs);
  }

  linkedWith(end: EndName): ReadonlySet<string> {
    return new Set((end === CLIENT ? this.#client : this.#origin).keys());
  }

  areAtOneSite(one: string, other: string): boolean {
    return this.#links.areAtOneSite(one, other);
  }

  pairs(): Iterable<readonly [one: string, other: string]> {
    return this.#links.pairs();
  }

  onChange(listener: Parameters<LinkView['onChange']>[0]): void {
    this.#links.onChange(listener);
  }

  /** What is typed in for everybody, as far as the triangles of these two ends allow. */
  #direct(nowMs: number): LinkEstimate | undefined {
    const typed = this.#links.estimate(CLIENT, ORIGIN, nowMs);
    const { rttBounds, sender } = this.pair;
    if (!typed) return undefined;
    const known = sender ? { ...typed, sender } : typed;
    if (!rttBounds || this.#links.isFixed(CLIENT, ORIGIN)) return known;
    return { ...known, rttMs: Math.min(Math.max(typed.rttMs, rttBounds.leastMs), rttBounds.mostMs) };
  }

  #legsOf(one: string, other: string): EndLeg | undefined {
    if (one === CLIENT && other !== ORIGIN) return this.#client.get(other);
    return other === ORIGIN ? this.#origin.get(one) : undefined;
  }
}

/**
 * A depot that has measured both ends and lies beside one of them: its long leg is nearly the way of the pair
 * itself. Of the nearest ones it is that with the middle rate, of two the faster: whoever says that the
 * direct way is slow, or fast, is one of several. Where none lies so, one over which both ends were met: a
 * chain is chosen for legs that lose little, so that they say less of a way that nobody chooses. What a depot
 * sends to a client that has only greeted it is assumed: it stands in only where none has carried.
 */
export function besideOf(client: EndLegs, origin: EndLegs): PairKnowledge['via'] {
  const met: Met[] = [];
  for (const [depot, toClient] of client) {
    const toOrigin = origin.get(depot);
    if (!isMeasured(toClient) || !toOrigin || !isMeasured(toOrigin)) continue;
    const [one, other] = [toClient.link.rttMs, toOrigin.link.rttMs];
    met.push({
      depot,
      shortMs: Math.min(one, other),
      wayMs: one + other,
      hasSent: toClient.link.rateSource === 'measured',
      hasCarried: toOrigin.link.rateSource === 'measured',
      ease: easeOf(toClient.link, toOrigin.link),
    });
  }
  return nearlyTheWay(met.filter(({ hasSent }) => hasSent)) ?? nearlyTheWay(met);
}

function nearlyTheWay(met: readonly Met[]): string | undefined {
  const beside = met.filter(({ shortMs, wayMs }) => shortMs <= BESIDE_SHARE * wayMs);
  if (beside.length > 0) return middleOf(beside.toSorted((one, other) => one.shortMs - other.shortMs));
  const carried = met.filter(({ hasCarried }) => hasCarried);
  const shortestMs = Math.min(...carried.map(({ wayMs }) => wayMs));
  const short = carried.filter(({ wayMs }) => wayMs <= MOST_DETOUR * shortestMs);
  return middleOf(short.toSorted((one, other) => one.shortMs / one.wayMs - other.shortMs / other.wayMs));
}

/** A depot that has measured both ends. */
interface Met {
  readonly depot: string;
  /** Of its two legs the shorter one, and both. */
  readonly shortMs: number;
  readonly wayMs: number;
  /** It has sent to the client, not only been greeted. */
  readonly hasSent: boolean;
  /** The origin sent to it, not only an answer to a probe. */
  readonly hasCarried: boolean;
  readonly ease: number;
}

/** Of the first few the one with the middle rate. */
function middleOf(ordered: readonly Met[]): string | undefined {
  const byEase = ordered.slice(0, MOST_BESIDE).toSorted((one, other) => one.ease - other.ease);
  return byEase[Math.floor(byEase.length / 2)]?.depot;
}

/**
 * Orders ways by what their lines and losses leave to one connection (Mathis et al., Computer Communication
 * Review 27(3), 1997).
 */
function easeOf(one: LinkEstimate, other: LinkEstimate): number {
  const lossRate = Math.max(one.lossRate + other.lossRate, LEAST_LOSS);
  const window = 1 / Math.sqrt(lossRate);
  const byLossBps = (window * SEGMENT_BYTES * 8) / ((one.rttMs + other.rttMs) / 1000);
  return Math.min(one.rateBps, other.rateBps, byLossBps);
}

/**
 * Between what the round trip of a pair must lie, by the depots that both ends are known to; those that have
 * measured one of them themselves, where there are such: what is worked out from one depot's word for many
 * others would be heard as many voices. Where they are split, the way is short: a download that goes direct
 * loses nothing that it would have without the overlay.
 */
export function boundsOf(client: EndLegs, origin: EndLegs): PairKnowledge['rttBounds'] {
  const [told, derived]: [RttBounds[], RttBounds[]] = [[], []];
  for (const [depot, toClient] of client) {
    const toOrigin = origin.get(depot);
    if (!toClient.bounds || !toOrigin?.bounds) continue;
    const [near, far] = [toClient.bounds, toOrigin.bounds];
    const leastMs = Math.max(0, near.leastMs - far.mostMs, far.leastMs - near.mostMs);
    const isTold = isMeasured(toClient) || isMeasured(toOrigin);
    (isTold ? told : derived).push({ leastMs, mostMs: near.mostMs + far.mostMs });
  }
  return agreedBounds(told.length > 0 ? told : derived, 'nearest');
}
