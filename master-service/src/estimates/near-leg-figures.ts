import type { Figure } from './figure.ts';
import type { LegFigures } from './leg-figures.ts';
import type { LossEvidence } from './loss-evidence.ts';

/** Plans hardly change for a difference of less: another chain must be that much better, too. */
const NEAR = 1.1;
/** How much is known, and how much it scatters, needs to be known less exactly than the figure itself. */
const ROUGHLY = 1.25;
/**
 * What a connection brings goes with the root of the losses (Mathis et al., "The macroscopic behavior of the
 * TCP congestion avoidance algorithm", 1997), and how sure they are with that of the bytes they were counted
 * in.
 */
const NEAR_LOSS = NEAR ** 2;
const ROUGHLY_SENT = ROUGHLY ** 2;
/** A scatter of measurements (variance of their logarithms) below which all are as good as the same. */
const LEAST_SCATTER = 0.01;
/** Bytes that say nothing yet of a loss rate ... */
const LEAST_BYTES = 100_000;
/** ... and a loss of so few bytes is one segment. */
const LEAST_LOST = 1_500;

/**
 * Whether two say of a leg nearly the same: its round trip, its goodput, that of several together and its
 * losses, and how sure all that is.
 */
export function areNear(one: LegFigures, other: LegFigures): boolean {
  return (
    isNearFigure(one.rtt, other.rtt) &&
    areBoth(one.goodput, other.goodput, isNearFigure) &&
    areBoth(one.total, other.total, isNearFigure) &&
    areBoth(one.loss, other.loss, isNearLoss)
  );
}

function areBoth<Part>(
  one: Part | undefined,
  other: Part | undefined,
  isNear: (one: Part, other: Part) => boolean,
): boolean {
  return one === undefined || other === undefined ? one === other : isNear(one, other);
}

function isNearFigure(one: Figure, other: Figure): boolean {
  const scatterOf = ({ scatter, weight }: Figure) => scatter / weight + LEAST_SCATTER;
  return (
    // What only a start has shown is less than what is measured.
    (one.reached === undefined) === (other.reached === undefined) &&
    isWithin(one.value, other.value, NEAR) &&
    isWithin(one.weight, other.weight, ROUGHLY) &&
    isWithin(scatterOf(one), scatterOf(other), ROUGHLY)
  );
}

function isNearLoss(one: LossEvidence, other: LossEvidence): boolean {
  const rateOf = ({ lostBytes, sentBytes }: LossEvidence) =>
    (lostBytes + LEAST_LOST) / (sentBytes + LEAST_BYTES);
  return (
    isWithin(one.sentBytes + LEAST_BYTES, other.sentBytes + LEAST_BYTES, ROUGHLY_SENT) &&
    isWithin(rateOf(one), rateOf(other), NEAR_LOSS)
  );
}

function isWithin(one: number, other: number, times: number): boolean {
  return one <= other * times && other <= one * times;
}
