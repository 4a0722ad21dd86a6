import * as z from 'zod';
import type { Estimate } from './estimate.ts';
import { type Figure, figureSchema, later, observed } from './figure.ts';
import { lossEvidenceSchema, withSent } from './loss-evidence.ts';

/** Round trips change when routes do. */
export const RTT_LIFE_MS = 86_400_000;
/** Goodput changes with what else is on its way ... */
export const GOODPUT_LIFE_MS = 3_600_000;
/** ... and so do losses. */
export const LOSS_LIFE_MS = 3_600_000;
/** A depot that tells only a loss rate has sent so many bytes at least. */
const LEAST_LOSS_BYTES = 10_000_000;
/** A shorter round trip is one on the same machine. */
const LEAST_RTT_MS = 1e-3;

/** What a sender has measured on its connections to one end: all that its reports said, the newer ones more. */
export const legFiguresSchema = z.looseObject({
  rtt: figureSchema,
  goodput: figureSchema.optional(),
  loss: lossEvidenceSchema.optional(),
});
export type LegFigures = z.output<typeof legFiguresSchema>;

/** What is known of a leg whose sender is given, and how sure that is. */
export interface LegDistribution {
  readonly rttMs: Estimate;
  readonly lossRate: Estimate;
  /** Of one connection with the sender's own settings. */
  readonly goodputBps: Estimate;
}

/** What one report says. */
interface LegReport {
  readonly rttMs: number;
  readonly goodputBps?: number | undefined;
  readonly lossRate?: number | undefined;
  readonly sentBytes?: number | undefined;
  readonly retransmittedBytes?: number | undefined;
}

/** Takes in a report that is new now; `passedMs` is how long ago the figures were as they are. */
export function withReport(
  known: LegFigures | undefined,
  report: LegReport,
  passedMs: number,
): { rtt: Figure; goodput?: Figure; loss?: NonNullable<LegFigures['loss']> } {
  const { rttMs, goodputBps } = report;
  const { rtt, goodput, loss } = known ?? {};
  const sent = sentOf(report);
  const newGoodput = goodputBps
    ? observed(goodput, goodputBps, passedMs, GOODPUT_LIFE_MS)
    : goodput && later(goodput, passedMs);
  const newLoss = sent
    ? withSent(loss, sent, passedMs, LOSS_LIFE_MS)
    : loss && { ...loss, ageMs: loss.ageMs + passedMs };
  return {
    rtt: observed(rtt, Math.max(rttMs, LEAST_RTT_MS), passedMs, RTT_LIFE_MS),
    ...(newGoodput ? { goodput: newGoodput } : {}),
    ...(newLoss ? { loss: newLoss } : {}),
  };
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
