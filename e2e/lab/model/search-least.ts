/** What a constant may be. */
export interface Range {
  readonly least: number;
  readonly most: number;
}

/** So many places of a range are tried before the search goes into detail. */
const PLACES = 17;
/** It ends when a step is this share of its range. */
const LEAST_STEP = 1 / 4096;
/** A cost that is less by rounding alone is no gain. */
const LEAST_GAIN = 1e-9;

/**
 * The point of least cost that is found from `start` on: along one coordinate after the other, over its whole
 * range first, then by steps that halve. Always the same for one cost; a coordinate on which the cost does
 * not depend stays where it is.
 */
export function searchLeast(
  start: readonly number[],
  ranges: readonly Range[],
  cost: (point: readonly number[]) => number,
): readonly number[] {
  let best = { point: start, cost: cost(start) };
  const offer = (coordinate: number, value: number): boolean => {
    const { least, most } = ranges[coordinate] ?? { least: value, most: value };
    const point = best.point.with(coordinate, Math.min(most, Math.max(least, value)));
    const offered = cost(point);
    if (!(offered < best.cost - LEAST_GAIN)) return false;
    best = { point, cost: offered };
    return true;
  };
  const sweep = () => {
    const gains = ranges.map(({ least, most }, coordinate) =>
      Array.from({ length: PLACES }, (_, at) => least + (at * (most - least)) / (PLACES - 1)).map((value) =>
        offer(coordinate, value),
      ),
    );
    return gains.flat().includes(true);
  };
  while (sweep());
  for (let share = 1 / (PLACES - 1); share > LEAST_STEP; ) {
    const gains = ranges.flatMap(({ least, most }, coordinate) =>
      [-share, share].map((step) => offer(coordinate, (best.point[coordinate] ?? 0) + step * (most - least))),
    );
    if (!gains.includes(true)) share /= 2;
  }
  return best.point;
}
