import { RandomStream } from '../emulator/random-stream.ts';

/** A value and what it may as well be. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

export interface Estimate extends Interval {
  readonly value: number;
}

/** Two-sided 95 % points of Student's t for 1 to 30 degrees of freedom: NIST/SEMATECH e-Handbook, section 1.3.6.7.2. */
const STUDENT_T_95 = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
  2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
] as const;
/** Two-sided 95 % point of the normal distribution. */
const NORMAL_95 = 1.959964;
/** Fewer values cannot hold a 95 % interval of a median: with 5, even their whole range covers only 93.75 %. */
const FEWEST_FOR_MEDIAN_INTERVAL = 6;
/** Resamples of a bootstrap; the ends of a 95 % interval are then steady to a few hundredths of its width. */
const RESAMPLES = 2000;
/** Fixed, so that a page made twice from one result is the same. */
const BOOTSTRAP_SEED = 'bootstrap';

/** Quantile with linear interpolation between order statistics (type 7 of Hyndman and Fan, 1996). NaN when empty. */
export function quantile(values: readonly number[], share: number): number {
  return quantileOfSorted(sorted(values), share);
}

/** The middle value, or the mean of the two in the middle. NaN when empty. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The least value. NaN when empty. */
export function min(values: readonly number[]): number {
  return quantile(values, 0);
}

/** The greatest value. NaN when empty. */
export function max(values: readonly number[]): number {
  return quantile(values, 1);
}

/** Arithmetic mean. NaN when empty. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Mean with its 95 % interval by Student's t; the interval is the value itself when there is only one. */
export function meanInterval(values: readonly number[]): Estimate {
  return stratifiedMeanInterval([values]);
}

/**
 * Mean of the strata's means, each stratum weighing the same, with a 95 % interval: the variances of the
 * means add, the degrees of freedom follow Welch and Satterthwaite (Biometrics Bulletin 2(6), 1946). What
 * differs *between* strata does not widen the interval. Strata with one value add no variance.
 */
export function stratifiedMeanInterval(strata: readonly (readonly number[])[]): Estimate {
  const value = mean(strata.map(mean));
  const parts = strata.filter((stratum) => stratum.length > 1);
  const variances = parts.map((stratum) => squaredError(stratum) / strata.length ** 2);
  const variance = variances.reduce((sum, part) => sum + part, 0);
  if (variance === 0) return { value, low: value, high: value };
  const weighted = variances.reduce((sum, part, at) => sum + part ** 2 / ((parts[at]?.length ?? 2) - 1), 0);
  const half = studentT95(variance ** 2 / weighted) * Math.sqrt(variance);
  return { value, low: value - half, high: value + half };
}

/**
 * Median with an interval by order statistics, free of any assumption about the distribution (David and
 * Nagaraja, Order Statistics, 3rd ed., section 7.1): the number of values below the median is binomial with
 * 1/2. `coverage` is the true probability, at least 0.95 from 6 values on; below that the interval is the
 * whole range and `coverage` what it is worth.
 */
export function medianInterval(values: readonly number[]): Estimate & { readonly coverage: number } {
  const ordered = sorted(values);
  const n = ordered.length;
  let outside = 2 ** -n;
  let cut = 0;
  if (n >= FEWEST_FOR_MEDIAN_INTERVAL) {
    let term = outside;
    for (;;) {
      term *= (n - cut) / (cut + 1);
      if (outside + term > 0.025) break;
      outside += term;
      cut += 1;
    }
  }
  const at = (index: number) => ordered[index] ?? Number.NaN;
  return {
    value: quantileOfSorted(ordered, 0.5),
    low: at(cut),
    high: at(n - 1 - cut),
    coverage: Math.max(0, 1 - 2 * outside),
  };
}

/**
 * Median of `above` by median of `below`, with a 95 % interval by the percentile bootstrap (Efron, Annals of Statistics
 * 7(1), 1979), resampling both, with a fixed seed. With fewer than about 10 values each it is rather too narrow: where
 * little is known, ask for a margin. Null when either is empty or the ratio is no finite number.
 */
export function ratioOfMedians(above: readonly number[], below: readonly number[]): Estimate | null {
  return bootstrap(
    [above],
    [below],
    ([only = []]) => median(only),
    (a, b) => a / b,
  );
}

/** Median of `left` less median of `right`, likewise. */
export function differenceOfMedians(left: readonly number[], right: readonly number[]): Estimate | null {
  return bootstrap(
    [left],
    [right],
    ([only = []]) => median(only),
    (a, b) => a - b,
  );
}

/** Mean of the strata's means by the other's, likewise; each stratum is resampled by itself. */
export function ratioOfMeans(
  above: readonly (readonly number[])[],
  below: readonly (readonly number[])[],
): Estimate | null {
  return bootstrap(
    above,
    below,
    (strata) => mean(strata.map(mean)),
    (a, b) => a / b,
  );
}

type Strata = readonly (readonly number[])[];

function bootstrap(
  left: Strata,
  right: Strata,
  statistic: (strata: Strata) => number,
  compare: (left: number, right: number) => number,
): Estimate | null {
  const value = compare(statistic(left), statistic(right));
  if (!Number.isFinite(value)) return null;
  const random = new RandomStream(BOOTSTRAP_SEED);
  const again = (strata: Strata) =>
    statistic(
      strata.map((values) => values.map(() => values[Math.floor(random.next() * values.length)] ?? 0)),
    );
  const drawn = Array.from({ length: RESAMPLES }, () => compare(again(left), again(right)));
  // A resample of zeros only (failed transfers) gives 0/0; it says nothing.
  const told = sorted(drawn.filter((result) => !Number.isNaN(result)));
  return { value, low: quantileOfSorted(told, 0.025), high: quantileOfSorted(told, 0.975) };
}

/** The 95 % point of Student's t; beyond the table by the expansion 26.7.5 of Abramowitz and Stegun. */
function studentT95(degrees: number): number {
  // Downwards is the careful side; 6.9999999 for 7 is only rounding.
  const whole = Math.max(1, Math.floor(degrees + 1e-6));
  const listed = STUDENT_T_95[whole - 1];
  if (listed !== undefined) return listed;
  const z = NORMAL_95;
  return z + (z ** 3 + z) / (4 * whole) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * whole ** 2);
}

/** Squared standard error of the mean. */
function squaredError(values: readonly number[]): number {
  const centre = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - centre) ** 2, 0);
  return squares / (values.length - 1) / values.length;
}

function sorted(values: readonly number[]): number[] {
  return values.toSorted((a, b) => a - b);
}

function quantileOfSorted(ordered: readonly number[], share: number): number {
  const place = (ordered.length - 1) * share;
  const low = ordered[Math.floor(place)] ?? Number.NaN;
  const high = ordered[Math.ceil(place)] ?? Number.NaN;
  // Written so that two infinities stay infinite.
  return low === high ? low : low + (high - low) * (place - Math.floor(place));
}
