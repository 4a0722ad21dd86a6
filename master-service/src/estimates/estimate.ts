import type { FigureSource } from '@longhaul/shared';

/**
 * What is known of one positive quantity: a round trip, a rate, a loss. Its logarithm is taken to be normally
 * distributed, because all of these differ by factors and have a long tail.
 */
export interface Estimate {
  /** The median, in the quantity's unit; above 0. */
  readonly value: number;
  /**
   * Standard deviation of the natural logarithm: 0.1 stands for about 10 %, 0.7 for a factor of two, 0 for no
   * doubt.
   */
  readonly spread: number;
  /** Age of the newest measurement in it; `undefined` where nothing of it is measured. */
  readonly ageMs: number | undefined;
  /** Measurements that it rests on, old ones as parts of one; 0 where nothing of it is measured. */
  readonly samples: number;
  readonly source: FigureSource;
}
