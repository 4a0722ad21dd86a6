import type { FigureSource } from '@longhaul/shared';

/**
 * What is known of one positive quantity: a round trip, a rate, a loss. Its logarithm is taken to be normally distributed,
 * because all of these differ by factors and have a long tail.
 */
export interface Estimate {
  /** The median, in the quantity's unit; above 0. */
  readonly value: number;
  /** Standard deviation of the natural logarithm: 0.1 stands for about 10 %, 0.7 for a factor of two, 0 for no doubt. */
  readonly spread: number;
  /** Age of the newest measurement in it; `undefined` where nothing of it is measured. */
  readonly ageMs: number | undefined;
  /** Measurements that it rests on, old ones as parts of one; 0 where nothing of it is measured. */
  readonly samples: number;
  readonly source: FigureSource;
}

/** One value of a quantity with its share of the probability. */
export interface Point {
  readonly value: number;
  readonly weight: number;
}

/** No figure is surer than this: a millionth, so that weights stay finite. */
const LEAST_SPREAD = 1e-6;
/** Of a measurement less than this share is left: what stands in its place is the prior. */
const PRIOR_BELOW_SHARE = 0.5;

/** What several independent estimates of one quantity say together: each counts by the inverse of its variance. */
export function combine(estimates: readonly [Estimate, ...Estimate[]]): Estimate {
  const weights = estimates.map(({ spread }) => 1 / Math.max(spread, LEAST_SPREAD) ** 2);
  const weight = weights.reduce((sum, one) => sum + one, 0);
  const logs = estimates.reduce((sum, { value }, index) => sum + (weights[index] ?? 0) * Math.log(value), 0);
  const surest = estimates.reduce((best, one) => (one.spread < best.spread ? one : best));
  return {
    value: Math.exp(logs / weight),
    spread: Math.sqrt(1 / weight),
    ageMs: leastOf(estimates.flatMap(({ ageMs }) => ageMs ?? [])),
    samples: estimates.reduce((sum, { samples }) => sum + samples, 0),
    source: surest.source,
  };
}

/**
 * What is left of an estimate at its age: it goes back to the prior, by the share e^(-age / life) of the way left (an
 * Ornstein-Uhlenbeck process). What is not measured has no age and stays.
 */
export function decayed(estimate: Estimate, prior: Estimate, lifeMs: number): Estimate {
  const { value, spread, ageMs, samples, source } = estimate;
  if (ageMs === undefined) return estimate;
  // The clock may have been set back.
  const left = Math.exp(-Math.max(0, ageMs) / lifeMs);
  return {
    value: prior.value * (value / prior.value) ** left,
    spread: Math.hypot(left * spread, Math.sqrt(1 - left ** 2) * prior.spread),
    ageMs,
    samples: left * samples,
    source: left >= PRIOR_BELOW_SHARE ? source : prior.source,
  };
}

/**
 * The sum of independent quantities, such as the round trips of a way's links, or its losses while they are small
 * (Fenton and Wilkinson's approximation: L. Fenton, IRE Transactions on Communications Systems 8, 1960).
 */
export function sumOf(estimates: readonly [Estimate, ...Estimate[]]): Estimate {
  const means = estimates.map(({ value, spread }) => value * Math.exp(spread ** 2 / 2));
  const mean = means.reduce((sum, one) => sum + one, 0);
  const variance = estimates.reduce(
    (sum, { spread }, index) => sum + (means[index] ?? 0) ** 2 * Math.expm1(spread ** 2),
    0,
  );
  const logVariance = Math.log1p(variance / mean ** 2);
  const ages = estimates.flatMap(({ ageMs }) => ageMs ?? []);
  return {
    value: mean * Math.exp(-logVariance / 2),
    spread: Math.sqrt(logVariance),
    ageMs: ages.length > 0 ? Math.max(...ages) : undefined,
    samples: Math.min(...estimates.map(({ samples }) => samples)),
    source: 'derived',
  };
}

/** Three values that stand for the whole distribution in a mean over it (Gauss-Hermite quadrature). One where there is no doubt. */
export function pointsOf({ value, spread }: Estimate): readonly Point[] {
  if (spread <= LEAST_SPREAD) return [{ value, weight: 1 }];
  const factor = Math.exp(Math.sqrt(3) * spread);
  return [
    { value: value / factor, weight: 1 / 6 },
    { value, weight: 2 / 3 },
    { value: value * factor, weight: 1 / 6 },
  ];
}

function leastOf(values: readonly number[]): number | undefined {
  return values.length > 0 ? Math.min(...values) : undefined;
}
