import * as z from 'zod';
import type { Estimate } from './estimate.ts';

/** Bytes that count at most: what has changed is followed within about as many. */
const MOST_BYTES = 400_000_000;
/** Losses come together: of so many bytes of a burst only one loss is news. About seven segments. */
const BYTES_PER_NEWS = 10_000;
/** The shape of the prior (gamma): most links have much less than the mean, some much more. */
const PRIOR_SHAPE = 0.5;

/** How much was sent over a link lately, and how much of it was sent again. */
export const lossEvidenceSchema = z.looseObject({
  sentBytes: z.number().min(0),
  lostBytes: z.number().min(0),
  /** Since the newest of it. */
  ageMs: z.number().min(0),
});
export type LossEvidence = Readonly<z.output<typeof lossEvidenceSchema>>;

/**
 * Takes in what was sent since; of older evidence the share e^(-age / life) is left, and it is bounded.
 * @param isOfOther it may be of another line, and counts only in the place of what has been forgotten since
 */
export function withSent(
  before: LossEvidence | undefined,
  sent: { readonly sentBytes: number; readonly lostBytes: number },
  passedMs: number,
  lifeMs: number,
  isOfOther = false,
): LossEvidence {
  const left = before ? leftOf(before, passedMs, lifeMs) : 0;
  const forgottenBytes = (before?.sentBytes ?? 0) * (1 - left);
  const counts = before && isOfOther ? Math.min(1, forgottenBytes / sent.sentBytes) : 1;
  const sentBytes = (before?.sentBytes ?? 0) * left + counts * sent.sentBytes;
  const lostBytes = (before?.lostBytes ?? 0) * left + counts * sent.lostBytes;
  const kept = Math.min(1, MOST_BYTES / sentBytes);
  return { sentBytes: sentBytes * kept, lostBytes: lostBytes * kept, ageMs: 0 };
}

/** The share that got lost; 0 where nothing was sent. */
export function lossRateOf({ sentBytes, lostBytes }: LossEvidence): number {
  return sentBytes > 0 ? Math.min(1, lostBytes / sentBytes) : 0;
}

/**
 * The loss rate by the evidence and a prior with this mean: a gamma distribution, told by its median and the
 * spread of its logarithm (median: Chen and Rubin, Statistics and Probability Letters 4, 1986; spread: the
 * trigamma function's first terms).
 */
export function lossEstimate(
  evidence: LossEvidence | undefined,
  passedMs: number,
  priorMean: number,
  lifeMs: number,
): Estimate {
  const left = evidence ? leftOf(evidence, passedMs, lifeMs) : 0;
  const news = ((evidence?.sentBytes ?? 0) * left) / BYTES_PER_NEWS;
  const shape = PRIOR_SHAPE + ((evidence?.lostBytes ?? 0) * left) / BYTES_PER_NEWS;
  const priorRate = PRIOR_SHAPE / priorMean;
  return {
    value: Math.min(1, (shape - 1 / 3) / (priorRate + news)),
    spread: Math.sqrt(trigamma(shape)),
    ageMs: evidence && evidence.ageMs + Math.max(0, passedMs),
    samples: news,
    source: news >= priorRate ? 'measured' : 'assumed',
  };
}

function trigamma(shape: number): number {
  // The recurrence up to where the asymptotic series is exact to four digits.
  let sum = 0;
  let at = shape;
  for (; at < 4; at += 1) sum += 1 / at ** 2;
  return sum + 1 / at + 1 / (2 * at ** 2) + 1 / (6 * at ** 3);
}

function leftOf({ ageMs }: LossEvidence, passedMs: number, lifeMs: number): number {
  return Math.exp(-(ageMs + Math.max(0, passedMs)) / lifeMs);
}
