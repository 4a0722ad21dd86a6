import * as z from 'zod';
import type { Estimate } from './estimate.ts';
import { type Figure, figureSchema, followed, later, measuredOf, observed, started } from './figure.ts';
import { lossEvidenceSchema, withSent } from './loss-evidence.ts';

/** After which time so much is left of a measurement as of anything: 1 / e. */
export interface Lives {
  readonly rttMs: number;
  readonly goodputMs: number;
  readonly lossMs: number;
}

/**
 * Of links between depots, which are tested when they are idle: goodput and losses change with what else is
 * on the way, round trips when routes do.
 */
export const LINK_LIVES: Lives = { rttMs: 86_400_000, goodputMs: 3_600_000, lossMs: 3_600_000 };
/**
 * Of ways to clients and origins, which nobody tests. A download that comes sooner shows what has changed,
 * and counts more than all before; where none comes, what was measured in the morning says more of the
 * afternoon than what is usual elsewhere. Losses are mostly those of a line or a route, which stay for days
 * (Zhang, Duffield, Paxson, Shenker, "On the constancy of Internet path properties", 2001).
 */
export const END_LIVES: Lives = { rttMs: 86_400_000, goodputMs: 21_600_000, lossMs: 43_200_000 };

/**
 * What holds a way to an end back (others who fill it, a server's busy hour) is believed for so long: nobody
 * tests such ways, and other traffic has its hours.
 */
export const HINDERED_MS = 1_200_000;

/** Nothing is left of older measurements. */
export const MEASURED_LIFE_MS = 7 * 86_400_000;
/** A depot that tells only a loss rate has sent so many bytes at least. */
const LEAST_LOSS_BYTES = 10_000_000;
/**
 * What connections get through together that is less than this share of what others did may have been all
 * that they had: it counts as what is known is forgotten.
 */
const LESS_TOGETHER = 0.8;
/** A rate that is less than this share of what was known has changed, and did not drift. */
const FALLEN = 0.6;
/** So many times what was doubted of a rate shows that it was none of its changes. */
const REFUTING = 1.25;
/**
 * What a way is known to carry at least tells enough of it from this share of what is expected on; less may
 * have been a start and no more.
 */
const TELLING_LEAST = 0.5;
/** A shorter round trip is one on the same machine. */
const LEAST_RTT_MS = 1e-3;

/** What a sender has measured on its connections to one end: all that its reports said, the newer ones more. */
export const legFiguresSchema = z.looseObject({
  rtt: figureSchema,
  goodput: figureSchema.optional(),
  /** Of several connections together, where that is more than one of them. */
  total: figureSchema.optional(),
  loss: lossEvidenceSchema.optional(),
});
export type LegFigures = z.output<typeof legFiguresSchema>;

/** What is known of a leg whose sender is given, and how sure that is. */
export interface LegDistribution {
  readonly rttMs: Estimate;
  readonly lossRate: Estimate;
  /** Of one connection with the sender's own settings. */
  readonly goodputBps: Estimate;
  /** That was measured in the other direction only. */
  readonly isBackward?: boolean | undefined;
  /** Of several together at least, where that is known to be more. */
  readonly totalBps?: number | undefined;
  /** What was measured last of one, where that may be the first sign of a change. */
  readonly doubtedBps?: number | undefined;
  /** What one got before that became far less at once. */
  readonly fellFromBps?: number | undefined;
}

/** What one report says. */
interface LegReport {
  readonly rttMs: number;
  readonly goodputBps?: number | undefined;
  /** It may be more: the sender had met no limit yet. */
  readonly leastGoodputBps?: number | undefined;
  /** Of several connections together, at least. */
  readonly totalBps?: number | undefined;
  /** Of several connections that filled the way: it carries no more. */
  readonly fullBps?: number | undefined;
  readonly lossRate?: number | undefined;
  readonly sentBytes?: number | undefined;
  readonly retransmittedBytes?: number | undefined;
}

/**
 * Takes in a report that is new now; `passedMs` is how long ago the figures were as they are. What was
 * carried at least counts where it is more than is known, and of what nobody has measured, or is forgotten,
 * where it tells enough. Of what nobody has measured it is what is expected then, since no limit was met,
 * until the first measurement; but not where that is a bound by other links, which no start has shown. What
 * several connections got through that filled the way is what it carries, more or less than was known; one
 * alone gets no more.
 * @param slowerShare a goodput that is less than this share of what is known, and what was lost at it, counts
 * only in the place of what has been forgotten
 * @param expectedBps what is expected of it, in bits per second; left out, nothing that was carried at least
 * tells enough
 * @param isBound that is the most that other links let expect
 */
export function withReport(
  known: LegFigures | undefined,
  report: LegReport,
  passedMs: number,
  lives: Lives,
  {
    slowerShare = 0,
    expectedBps = Number.POSITIVE_INFINITY,
    isBound = false,
  }: { readonly slowerShare?: number; readonly expectedBps?: number; readonly isBound?: boolean } = {},
): { rtt: Figure; goodput?: Figure; total?: Figure; loss?: NonNullable<LegFigures['loss']> } {
  const { rttMs, leastGoodputBps: leastBps = 0, totalBps = 0, fullBps = 0 } = report;
  const { rtt, goodput, total, loss } = known ?? {};
  const measured = measuredOf(goodput);
  const sent = sentOf(report);
  const tellingBps = TELLING_LEAST * expectedBps;
  const isForgotten = goodput !== undefined && goodput.ageMs + passedMs > lives.goodputMs;
  const knownBps = isForgotten ? Math.min(goodput.value, tellingBps) : (goodput?.value ?? tellingBps);
  const isTold = report.goodputBps !== undefined || leastBps > knownBps;
  const full = fullBps && followed(total, fullBps, passedMs, lives.goodputMs);
  // The mean of reports counts as well: by the least of rates that scatter one alone would get less than all together.
  const isFullBelow = full && Math.max(full.value, fullBps) < (goodput?.value ?? tellingBps);
  const isStart = isTold && report.goodputBps === undefined && measured === undefined;
  const toldBps = Math.max(report.goodputBps ?? 0, leastBps);
  const goodputBps = isTold ? toldBps : isFullBelow ? fullBps : 0;
  // Less than is known, that may have been more, is no sign of a change.
  const mayBeMore = report.goodputBps === undefined && !isFullBelow && goodputBps < (measured?.value ?? 0);
  const take = mayBeMore ? observed : followed;
  const newGoodput = isStart
    ? started(isBound ? leastBps : Math.max(leastBps, expectedBps), leastBps)
    : goodputBps
      ? take(measured, goodputBps, passedMs, lives.goodputMs, slowerShare)
      : goodput && later(isRefuted(goodput, leastBps) ? withoutDoubt(goodput) : goodput, passedMs);
  // What several got before one has got far less is of the time before.
  const hasFallen = measured && newGoodput && !mayBeMore && newGoodput.value < FALLEN * measured.value;
  const knownTotal = hasFallen ? undefined : total;
  // Connections that have little to get through say nothing of what they could.
  const newTotal =
    full ||
    (totalBps > (newGoodput?.value ?? tellingBps)
      ? followed(knownTotal, totalBps, passedMs, lives.goodputMs, LESS_TOGETHER)
      : knownTotal && later(knownTotal, passedMs));
  const isOfOther = report.goodputBps !== undefined && toldBps < slowerShare * (measured?.value ?? 0);
  const newLoss = sent
    ? withSent(loss, sent, passedMs, lives.lossMs, isOfOther)
    : loss && { ...loss, ageMs: loss.ageMs + passedMs };
  return {
    rtt: observed(rtt, Math.max(rttMs, LEAST_RTT_MS), passedMs, lives.rttMs),
    ...(newGoodput ? { goodput: newGoodput } : {}),
    ...(newTotal ? { total: newTotal } : {}),
    ...(newLoss ? { loss: newLoss } : {}),
  };
}

/** Whether a doubt that a rate is less is none any more, since as much was got through at least. */
function isRefuted({ value, doubted = Number.POSITIVE_INFINITY }: Figure, leastBps: number): boolean {
  return doubted < value && leastBps > REFUTING * doubted;
}

function withoutDoubt({ value, scatter, weight, ageMs, fellFrom }: Figure): Figure {
  return { value, scatter, weight, ageMs, ...(fellFrom === undefined ? {} : { fellFrom }) };
}

/** What was sent and lost by a report; `undefined` where it says nothing of that. */
function sentOf({ sentBytes, retransmittedBytes, lossRate }: LegReport):
  | {
      sentBytes: number;
      lostBytes: number;
    }
  | undefined {
  if (sentBytes !== undefined && retransmittedBytes !== undefined)
    return sentBytes > 0 ? { sentBytes, lostBytes: Math.min(sentBytes, retransmittedBytes) } : undefined;
  if (lossRate === undefined) return undefined;
  return { sentBytes: LEAST_LOSS_BYTES, lostBytes: lossRate * LEAST_LOSS_BYTES };
}
