import * as z from 'zod';
import type { Estimate } from './estimate.ts';

/**
 * So many measurements count at most: what has changed is followed within about as many, however much was
 * measured before.
 */
const MOST_WEIGHT = 8;
/**
 * One measurement moves what several others say by a fifth at most, however far it is off: it may be a
 * mistake, or a lie.
 */
const MOST_MOVED = Math.log(1.2);
/** What is said to be less is said to be this: nothing that is measured here is, and of 0 there is no logarithm. */
const LEAST_VALUE = 1e-6;
/** From so many on. */
const SEVERAL = 3;
/**
 * Two measurements in a row that are so many times more than what is known, or less, are no mistake: it has
 * changed.
 */
const CHANGED = Math.log(2);
/** What is less than this share of what it was lately has fallen ... */
const FALLEN = 0.8;
/**
 * ... and two measurements in a row that are so many times more than what is known say that it is over: what
 * was there before needs less to be believed than what nobody has seen.
 */
const RETURNED = Math.log(1.25);
/** What is taken to be known of the scatter of a thing's measurements before the first one: as much as so many tell. */
const SCATTER_SAMPLES = 2;

/**
 * What all measurements of one quantity say, the newer ones more: their mean and scatter. It is kept as a
 * whole, and its age is that of the newest measurement.
 */
export const figureSchema = z.looseObject({
  /** The geometric mean. */
  value: z.number().positive(),
  /** Sum of the squared differences of the logarithms from their mean. */
  scatter: z.number().min(0),
  /** How many measurements it stands for. */
  weight: z.number().positive(),
  ageMs: z.number().min(0),
  /** The newest measurement, where it may be the first one of something that has changed. */
  doubted: z.number().positive().optional(),
  /** The most that it was lately, where that is more: it may be as much again. */
  fellFrom: z.number().positive().optional(),
  /**
   * What a start came to that had met no limit, where that is all that was seen: the value is what is
   * expected by it, and the first measurement stands in its place.
   */
  reached: z.number().positive().optional(),
});
export type Figure = Readonly<z.output<typeof figureSchema>>;

/** What is known of a quantity of which nothing is measured. */
export interface Prior {
  /** The median of all things of the kind. */
  readonly value: number;
  /** How much they differ: standard deviation of the logarithm. */
  readonly between: number;
  /** How much the measurements of one of them differ. */
  readonly within: number;
  readonly source: Estimate['source'];
}

/** What is expected where a start came to so much, and met no limit. */
export function started(expected: number, reached: number): Figure {
  return { value: expected, scatter: 0, weight: 1, ageMs: 0, reached };
}

/** A figure, where it is of what was measured and not only of a start. */
export function measuredOf(figure: Figure | undefined): Figure | undefined {
  return figure?.reached === undefined ? figure : undefined;
}

/**
 * Takes in a measurement that is new now; `passedMs` is how long ago the figure was as it is. Of old
 * measurements the share e^(-age / life) is left (West's weighted mean and variance, Communications of the
 * ACM 22(9), 1979).
 * @param lessShare what is less than this share of what is known has a bound of its own, and counts only in
 * the place of what has been forgotten since the measurement before: what is known gives way to it as slowly
 * as it grows old, however often it is measured
 */
export function observed(
  before: Figure | undefined,
  value: number,
  passedMs: number,
  lifeMs: number,
  lessShare = 0,
): Figure {
  if (!before) return { value: Math.max(value, LEAST_VALUE), scatter: 0, weight: 1, ageMs: 0 };
  const left = leftOf(before, passedMs, lifeMs);
  const weight = Math.min(before.weight * left, MOST_WEIGHT);
  const scatter = before.scatter * (weight / before.weight);
  const logBefore = logOf(before.value);
  const forgotten = Math.min(before.weight, MOST_WEIGHT) - weight;
  const counts = value < lessShare * before.value ? Math.min(1, forgotten) : 1;
  const share = counts / (weight + counts);
  const most = weight >= SEVERAL ? MOST_MOVED / share : Number.POSITIVE_INFINITY;
  const difference = Math.min(Math.max(logOf(value) - logBefore, -most), most);
  return {
    value: Math.exp(logBefore + share * difference),
    scatter: scatter + weight * share * difference ** 2,
    weight: weight + counts,
    ageMs: 0,
  };
}

/**
 * The same of a quantity that may change at once: where two measurements in a row are far off to the same
 * side, the nearer one of both stands in the place of all that was known. Of what has fallen two that are
 * clearly more say that it is back. What has a bound of its own by `lessShare` is followed as slowly as that.
 */
export function followed(
  before: Figure | undefined,
  value: number,
  passedMs: number,
  lifeMs: number,
  lessShare = 0,
): Figure {
  const figure = observed(before, value, passedMs, lifeMs, lessShare);
  if (!before) return figure;
  const most = mostLately(before, passedMs, lifeMs);
  if (value < lessShare * before.value) return withMost(figure, most);
  const { doubted } = before;
  const offBy = (measured: number) => logOf(measured) - logOf(before.value);
  const now = Math.max(value, LEAST_VALUE);
  const changedUp = before.value < FALLEN * most ? RETURNED : CHANGED;
  if (offBy(now) < changedUp && offBy(now) > -CHANGED) return withMost(figure, most);
  if (doubted === undefined || offBy(now) * offBy(doubted) < 0)
    return withMost({ ...figure, doubted: now }, most);
  const nearer = Math.abs(offBy(doubted)) < Math.abs(offBy(now)) ? doubted : now;
  const apart = logOf(now) - logOf(doubted);
  const mayBeFurther = Math.abs(logOf(now) - logOf(nearer)) >= CHANGED;
  const changed = { value: nearer, scatter: apart ** 2 / 2, weight: 2, ageMs: 0 };
  return withMost(mayBeFurther ? { ...changed, doubted: now } : changed, most);
}

/** What a figure has fallen from lately; `undefined` where it is about as much. */
export function fellFrom(figure: Figure, passedMs: number, lifeMs: number): number | undefined {
  const most = mostLately(figure, passedMs, lifeMs);
  return figure.value < FALLEN * most ? most : undefined;
}

/** A figure as it was before it fell lately: what it has fallen by turned out to be of something else. */
export function unfallen(figure: Figure, passedMs: number, lifeMs: number): Figure {
  const { scatter, weight, ageMs } = figure;
  return { value: Math.max(figure.value, mostLately(figure, passedMs, lifeMs)), scatter, weight, ageMs };
}

/** The most that a figure was, which is forgotten as measurements are. */
function mostLately(figure: Figure, passedMs: number, lifeMs: number): number {
  const { value, fellFrom: most = value } = figure;
  return value * (most / value) ** leftOf(figure, passedMs, lifeMs);
}

function withMost(figure: Figure, most: number): Figure {
  return most > figure.value ? { ...figure, fellFrom: most } : figure;
}

function logOf(value: number): number {
  return Math.log(Math.max(value, LEAST_VALUE));
}

/** The same figure, as it is some time later. */
export function later(figure: Figure, passedMs: number): Figure {
  return { ...figure, ageMs: figure.ageMs + Math.max(0, passedMs) };
}

/**
 * What the next measurement will be, by the figure and the prior: normal with unknown mean and variance,
 * whose predictive spread covers how little is known and how much it varies (Murphy, "Conjugate Bayesian
 * analysis of the Gaussian distribution", 2007, section 6). Nothing but the prior where there is no figure.
 */
export function estimateOf(
  figure: Figure | undefined,
  passedMs: number,
  prior: Prior,
  lifeMs: number,
): Estimate {
  const left = figure ? leftOf(figure, passedMs, lifeMs) : 0;
  const weight = (figure?.weight ?? 0) * left;
  // So many measurements tell as much of the mean as the prior does.
  const priorWeight = prior.between > 0 ? (prior.within / prior.between) ** 2 : Number.POSITIVE_INFINITY;
  const share = priorWeight === Number.POSITIVE_INFINITY ? 0 : weight / (weight + priorWeight);
  const scatter = (figure?.scatter ?? 0) * left;
  const variance = (SCATTER_SAMPLES * prior.within ** 2 + scatter) / (SCATTER_SAMPLES + weight);
  const ofMean = priorWeight === Number.POSITIVE_INFINITY ? 0 : variance / (weight + priorWeight);
  return {
    value: prior.value * ((figure?.value ?? prior.value) / prior.value) ** share,
    spread: Math.sqrt(variance + (weight > 0 ? ofMean : prior.between ** 2)),
    ageMs: figure && figure.ageMs + Math.max(0, passedMs),
    samples: weight,
    source: share >= 0.5 ? 'measured' : prior.source,
  };
}

function leftOf({ ageMs }: Figure, passedMs: number, lifeMs: number): number {
  // The clock may have been set back.
  return Math.exp(-(ageMs + Math.max(0, passedMs)) / lifeMs);
}
