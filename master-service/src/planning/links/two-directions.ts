import type { Estimate } from '../../estimates/estimate.ts';
import { estimateOf, type Figure, type Prior } from '../../estimates/figure.ts';
import { type LegFigures, LINK_LIVES } from '../../estimates/leg-figures.ts';
import { MOST_APART } from './rtt-disputes.ts';

/**
 * A report older than this does not count by itself any more: what is measured goes over to what is
 * configured, or usual, and a round trip says nothing more of a link that is configured.
 */
export const REPORT_LIFE_MS = 600_000;
/** What the ends of a link measured so long after each other may be two routes. */
const DISPUTED_FOR_MS = 7_200_000;
/** So many times shorter than one end says is the round trip at most by what the other one says. */
const MOST_SHORTENED = 1.2;
/** In the other direction a link may be another one: so much is added to the spread. */
const BACKWARD_SPREAD = 0.5;

/**
 * One of the two directions of a link, as the depot has measured it that sends there. What both say of one leg
 * is put together here, the sender's word first.
 */
export interface Direction {
  readonly value: LegFigures;
  /** Since it was reported. */
  readonly passedMs: number;
  /** The receiver of the leg has measured it, when it sent. */
  readonly isBackward: boolean;
}

interface Aged {
  readonly ageMs: number;
}

/** Whether a figure of a direction still counts by itself. */
export function isFresh(
  direction: Pick<Direction, 'passedMs'> | undefined,
  figure: Aged | undefined,
): boolean {
  return (
    direction !== undefined && figure !== undefined && figure.ageMs + direction.passedMs <= REPORT_LIFE_MS
  );
}

interface PooledRtt {
  readonly figure: Figure;
  readonly passedMs: number;
}

/**
 * The round trip is the same in both directions: what both ends measured, the newer and the more of it the
 * more. Where they are far apart the longer one counts, and it is never shorter by more than a fifth than one
 * of them says: nobody makes himself nearer.
 */
export function pooledRtt(known: readonly Direction[]): PooledRtt | undefined {
  const [first, second] = known.toSorted((one, other) => one.passedMs - other.passedMs);
  if (!first) return undefined;
  const { passedMs } = first;
  if (!second) return { figure: first.value.rtt, passedMs };
  const isShorter = first.value.rtt.value < second.value.rtt.value;
  const [shorter, longer] = isShorter ? [first, second] : [second, first];
  const isOld = second.passedMs - passedMs > DISPUTED_FOR_MS;
  if (!isOld && shorter.value.rtt.value * MOST_APART < longer.value.rtt.value)
    return { figure: longer.value.rtt, passedMs: longer.passedMs };
  // One over the other: nothing is left of both by themselves when both are old.
  const ageOfRtt = ({ value: { rtt }, passedMs: sinceMs }: Direction) => rtt.ageMs + Math.max(0, sinceMs);
  const olderBy = (ageOfRtt(second) - ageOfRtt(first)) / REPORT_LIFE_MS;
  const share = 1 / (1 + (first.value.rtt.weight / second.value.rtt.weight) * Math.exp(olderBy));
  const value = first.value.rtt.value * (second.value.rtt.value / first.value.rtt.value) ** share;
  const leastMs = isOld ? 0 : longer.value.rtt.value / MOST_SHORTENED;
  return { figure: { ...first.value.rtt, value: Math.max(value, leastMs) }, passedMs };
}

/** What several connections get through together. */
export interface Together {
  readonly bps: number;
  readonly ageMs: number;
  /** It was seen in the other direction. */
  readonly isBackward: boolean;
}

/**
 * What several connections get through together, which a link carries at least; `undefined` where nobody has
 * seen that.
 */
export function together(known: readonly Direction[], prior: Prior): Together | undefined {
  // What one direction carries says nothing of another one that is measured.
  const direction = known.find(({ value }) => value.total ?? value.goodput);
  const total = direction?.value.total;
  if (!direction || !total) return undefined;
  const { passedMs, isBackward } = direction;
  const ageMs = Math.max(0, total.ageMs + passedMs);
  if (ageMs <= REPORT_LIFE_MS) return { bps: total.value, ageMs, isBackward };
  const { value, source } = estimateOf(total, passedMs, prior, LINK_LIVES.goodputMs);
  return source === 'measured' ? { bps: value, ageMs, isBackward } : undefined;
}

/** What the other direction says of this one, whose lines carry so much at most. */
export function backward(estimate: Estimate, mostBps: number): Estimate {
  return {
    ...estimate,
    value: Math.min(estimate.value, mostBps),
    spread: Math.hypot(estimate.spread, BACKWARD_SPREAD),
  };
}

/** The age of a figure now; of a round trip where none is named. */
export function ageOf(
  from: { readonly passedMs: number; readonly figure?: Figure } | undefined,
  figure: Aged | undefined = from?.figure,
): number | undefined {
  return from && figure && Math.max(0, figure.ageMs + from.passedMs);
}

/** The greatest of the ages that are known. */
export function oldest(...ages: readonly (number | undefined)[]): number | undefined {
  const known = ages.filter((ageMs) => ageMs !== undefined);
  return known.length > 0 ? Math.max(...known) : undefined;
}
