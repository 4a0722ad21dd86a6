import { RandomStream } from '../emulator/random-stream.ts';
import { type Estimate, median, quantile } from './statistics.ts';

/** As many as the other bootstraps have. */
const RESAMPLES = 2000;
/** Fixed, so that a page made twice from one result is the same. */
const BOOTSTRAP_SEED = 'pairs';
/** With fewer values the 5th percentile would be guessed from two of them: then the least is told. */
const FEWEST_FOR_FIFTH_PERCENTILE = 20;

/** A measured value and what it is held against, under the same random numbers. */
export type Pair = readonly [above: number, below: number];

export interface PairedRatio extends Estimate {
  /** How many pairs there were. */
  readonly pairs: number;
}

/**
 * Median of the ratios within pairs, with a 95 % interval by the percentile bootstrap over pairs (Efron, Annals of
 * Statistics 7(1), 1979). What both sides of a pair share, such as the same losses, does not widen it. Pairs without a
 * finite ratio are left out; null when none is left.
 */
export function medianOfRatios(pairs: readonly Pair[]): PairedRatio | null {
  const ratios = pairs.map(([above, below]) => above / below).filter(Number.isFinite);
  if (ratios.length === 0) return null;
  const random = new RandomStream(BOOTSTRAP_SEED);
  const draw = () => ratios.map(() => ratios[Math.floor(random.next() * ratios.length)] ?? Number.NaN);
  const drawn = Array.from({ length: RESAMPLES }, () => median(draw()));
  return {
    value: median(ratios),
    low: quantile(drawn, 0.025),
    high: quantile(drawn, 0.975),
    pairs: ratios.length,
  };
}

/** What only a few of a variant's transfers fall below. */
export interface LowEnd {
  readonly value: number;
  /** `least` where there are too few values for a percentile. */
  readonly kind: 'fifth-percentile' | 'least';
}

/** The 5th percentile, or the least of fewer than 20 values. NaN when empty. */
export function lowEnd(values: readonly number[]): LowEnd {
  return values.length < FEWEST_FOR_FIFTH_PERCENTILE
    ? { value: quantile(values, 0), kind: 'least' }
    : { value: quantile(values, 0.05), kind: 'fifth-percentile' };
}
