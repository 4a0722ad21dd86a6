import type { Estimate } from '../../estimates/estimate.ts';
import { estimateOf, type Prior } from '../../estimates/figure.ts';
import { END_LIVES } from '../../estimates/leg-figures.ts';
import type { Fact } from '../../facts/fact.ts';
import { eachOfSeveralBps, type OriginFigures, type OriginTable } from '../../measuring/origin-table.ts';
import type { RttBounds } from './agreed-bounds.ts';
import type { LinkTable } from './link-table.ts';

/** What a server, or a line, carries where nothing is measured: a usual one, by a factor of two or so. */
export const UNKNOWN_RATE = { bps: 100e6, spread: 0.5 } as const;
/** The same as what several connections are given before anybody has seen it, and again when that was long ago. */
const USUAL_TOTAL: Prior = {
  value: UNKNOWN_RATE.bps,
  between: UNKNOWN_RATE.spread,
  within: 0.3,
  source: 'assumed',
};
/** A depot is about as far from an origin as a client from so large a share of the direct way's round trip on. */
const AS_FAR_SHARE = 0.5;
/**
 * An origin that gives several connections less than so many times what it gives to one holds back the
 * address that they come from.
 */
const HELD_TOGETHER = 1.3;
/**
 * An origin does not hold an address back that gives each of several connections so large a part of what it
 * gives to one alone: more of them would have got more.
 */
const GIVEN_EACH = 0.7;
/** So many depots must say what is worked out for others: one may be wrong, or lie. */
const AGREEING = 2;
/** One alone makes what several got so many times less at most. */
const MOST_BY_ONE = 1.2;

/** Who tells what an origin gives. */
interface OriginReaders {
  readonly origins: Pick<OriginTable, 'witnesses' | 'distribution'>;
  readonly links: Pick<LinkTable, 'isBelieved'>;
}

/** What several connections to an origin were given together. */
export function totalOf(fact: Fact<OriginFigures> | undefined, nowMs: number): Estimate {
  const passedMs = fact ? nowMs - fact.timeMs : 0;
  return estimateOf(fact?.value.total, passedMs, USUAL_TOTAL, END_LIVES.goodputMs);
}

/**
 * What an origin that holds connections back gives to several together; where that is hardly more than it
 * gives to one, what it gives to one. `undefined` where nobody has seen that.
 */
export function heldTogetherBps(
  goodput: Estimate,
  fact: Fact<OriginFigures> | undefined,
  nowMs: number,
): number | undefined {
  const total = totalOf(fact, nowMs);
  const isMeasured = goodput.source === 'measured' && total.source === 'measured';
  if (!isMeasured || fact?.value.limit !== 'origin') return undefined;
  const eachBps = eachOfSeveralBps(fact, nowMs);
  if (eachBps === undefined || eachBps >= GIVEN_EACH * goodput.value) return undefined;
  return total.value < HELD_TOGETHER * goodput.value ? goodput.value : Math.max(total.value, goodput.value);
}

/**
 * The most that an origin was seen to give to one address, where two depots have seen that it gives several
 * connections from there no more than one, and nobody that it gives more.
 */
export function toOneAddressBps(
  { origins, links }: OriginReaders,
  host: string,
  nowMs: number,
): number | undefined {
  let mostBps = 0;
  let seen = 0;
  for (const [depot, fact] of origins.witnesses(host)) {
    if (!links.isBelieved(depot)) continue;
    const { goodputBps } = origins.distribution(depot, host, nowMs);
    if (goodputBps.source === 'measured') mostBps = Math.max(mostBps, goodputBps.value);
    const total = totalOf(fact, nowMs);
    if (total.source !== 'measured') continue;
    const isMore = goodputBps.source === 'measured' && total.value > HELD_TOGETHER * goodputBps.value;
    // How many shared what is no more than that nobody has said.
    if (!isMore && fact.value.limit === 'origin' && eachOfSeveralBps(fact, nowMs) === undefined) continue;
    const heldBps = heldTogetherBps(goodputBps, fact, nowMs);
    if (heldBps === undefined || heldBps > HELD_TOGETHER * goodputBps.value) return undefined;
    seen += 1;
  }
  return seen >= AGREEING ? mostBps : undefined;
}

/** What one connection from an origin was given. */
interface Given {
  readonly bps: number;
  readonly rttMs: number;
  /** It was the origin that held it back. */
  readonly isHeld: boolean;
}

/** What an origin gave to one connection of each depot that has measured it. */
export function givenToOne({ origins, links }: OriginReaders, host: string, nowMs: number): readonly Given[] {
  const given: Given[] = [];
  for (const [depot, { value }] of origins.witnesses(host)) {
    const { goodputBps, rttMs } = origins.distribution(depot, host, nowMs);
    if (!links.isBelieved(depot) || goodputBps.source !== 'measured') continue;
    given.push({ bps: goodputBps.value, rttMs: rttMs.value, isHeld: value.limit === 'origin' });
  }
  return given;
}

/** What an origin surely has under way on one connection, in bytes: what it gave in a round trip. */
export function sentInARoundBytes(given: readonly Given[]): number {
  return Math.max(0, ...given.map(({ bps, rttMs }) => (bps * rttMs) / 8000));
}

/**
 * The most that an origin gives to one connection of the direct way, where a depot says that it is the origin
 * that holds connections back: what any other depot got shows that it gives so much. Where depots say so that
 * are about as far away as the client, what nearer ones got shows what a window gives over the direct way:
 * one that is small is hardly seen from nearby. Two must say it, and more than say otherwise from as far. One
 * alone makes the direct way slower by a fifth, unless only two depots were given anything, and both say that
 * they are held back.
 */
export function toOneConnectionBps(
  given: readonly Given[],
  rttBounds: RttBounds | undefined,
): number | undefined {
  if (!given.some(({ isHeld }) => isHeld)) return undefined;
  const mostBps = Math.max(...given.map(({ bps }) => bps));
  const { leastMs, mostMs } = rttBounds ?? { leastMs: 0, mostMs: 0 };
  const directMs = Math.sqrt((leastMs ** 2 + mostMs ** 2) / 2);
  const isFar = (rttMs: number) => rttMs >= AS_FAR_SHARE * directMs;
  const far = given.filter(({ rttMs }) => isFar(rttMs));
  const held = far.filter(({ isHeld }) => isHeld).length;
  if (held === 0) return mostBps;
  const overDirectBps = Math.max(
    ...given.map(({ bps, rttMs }) => (isFar(rttMs) ? bps : (bps * rttMs) / directMs)),
  );
  const isAgreed = held >= AGREEING || (given.length === 2 && given.every(({ isHeld }) => isHeld));
  const isOutvoted = held <= far.length - held;
  return isAgreed && !isOutvoted ? overDirectBps : Math.max(overDirectBps, mostBps / MOST_BY_ONE);
}
