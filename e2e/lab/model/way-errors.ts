import { FITTED, type FittedConstants } from '@longhaul/shared';
import { spreadOf } from '../experiments/model-errors.ts';
import { modelledSeconds } from '../experiments/predictions.ts';
import { isLate } from '../report/cells.ts';
import { medianTime } from '../results/median-time.ts';
import { type Estimate, type Interval, mean, ratioOfMedians } from '../results/statistics.ts';
import type { MeasuredWay } from './measured-ways.ts';

/** Within so many standard deviations lie half, and 95 %, of what is normally distributed. */
const HALF_OF_NORMAL = 0.6745;
const NORMAL_95 = 1.96;

/** How far the model is off for one way. */
export interface WayError {
  readonly way: MeasuredWay;
  readonly predictedSeconds: number;
  /** ln(measured / predicted), of the median; positive: it took longer. Of a bound at least so much. */
  readonly logRatio: number;
}

/** Figures over several ways. */
export interface Spread {
  readonly ways: number;
  readonly median: number;
  readonly p90: number;
  readonly mean: number;
}

/** Seconds that the model says of a way, with these constants. */
export function predictedSeconds(
  { modelled, scenario }: MeasuredWay,
  constants: FittedConstants = FITTED,
): number {
  return modelledSeconds(modelled, scenario.sizeBytes, constants);
}

/**
 * The errors of all ways of which one can be told: where transfers were cut and the model says at least as
 * long as that, it may be right; where it says less, it is off by that much or more.
 */
export function errorsOf(ways: readonly MeasuredWay[], constants: FittedConstants = FITTED): WayError[] {
  return ways.flatMap((way) => {
    const predicted = predictedSeconds(way, constants);
    const logRatio = Math.log(way.time.seconds / predicted);
    return way.time.isBound && logRatio <= 0 ? [] : [{ way, predictedSeconds: predicted, logRatio }];
  });
}

/** Median, 90th percentile and mean of |ln(measured / predicted)|; NaN where there is none. */
export function spreadOfErrors(errors: readonly WayError[]): Spread {
  if (errors.length === 0) return { ways: 0, median: Number.NaN, p90: Number.NaN, mean: Number.NaN };
  return {
    ways: errors.length,
    ...spreadOf(errors),
    mean: mean(errors.map(({ logRatio }) => Math.abs(logRatio))),
  };
}

/** Measured by predicted with what the spread of the transfers leaves open; null of a bound. */
export function ratioOf(way: MeasuredWay, predicted = predictedSeconds(way)): Estimate | null {
  if (way.time.isBound) return null;
  return ratioOfMedians(
    way.lines.map(({ seconds }) => seconds),
    [predicted],
  );
}

/**
 * The error that a model without any would have in half of all such measurements: what the spread of so few
 * transfers makes of it.
 */
export function errorOfSpread({ low, high }: Interval): number {
  return (HALF_OF_NORMAL / (2 * NORMAL_95)) * Math.log(high / low);
}

/** The same ways without the transfers that the emulator disturbed; those of which nothing is left are left out. */
export function withoutLate(ways: readonly MeasuredWay[]): MeasuredWay[] {
  return ways.flatMap((way) => {
    const lines = way.lines.filter((line) => !isLate(line));
    return lines.length > 0 ? [{ ...way, lines, time: medianTime(lines) }] : [];
  });
}
