import { FITTED, type FittedConstants } from '@longhaul/shared';
import type { MeasuredWay } from './measured-ways.ts';
import { type Range, searchLeast } from './search-least.ts';
import { errorsOf } from './way-errors.ts';

/** The constants, and what is tried of each: one that ends at an end of its range was not found there. */
export const RANGES: Readonly<Record<keyof FittedConstants, Range>> = {
  timeoutShare: { least: 0, most: 4 },
  roundsPerLossInStart: { least: 0, most: 16 },
};
const NAMES = Object.keys(RANGES) as (keyof FittedConstants)[];

/** The constants with the least mean |ln(measured / predicted)| over these ways. */
export function fitConstants(ways: readonly MeasuredWay[]): FittedConstants {
  if (ways.length === 0) return FITTED;
  const start = NAMES.map((name) => FITTED[name]);
  const ranges = NAMES.map((name) => RANGES[name]);
  return constantsOf(
    searchLeast(start, ranges, (point) => {
      // A bound that the model does not contradict counts as right: the mean is over all ways.
      const sum = errorsOf(ways, constantsOf(point)).reduce(
        (all, { logRatio }) => all + Math.abs(logRatio),
        0,
      );
      return sum / ways.length;
    }),
  );
}

function constantsOf(point: readonly number[]): FittedConstants {
  return {
    ...FITTED,
    ...Object.fromEntries(NAMES.map((name, at) => [name, point[at]])),
  };
}
