/** A depot must be nearer by so much, at the best, to be worth a connection. */
const NEARER = 0.8;
/** Depots that have measured the end and place the others: the nearest ones. */
const MOST_ANCHORS = 4;

/** The round trip between two depots in milliseconds; `undefined` where nobody knows it. */
type RttBetween = (one: string, other: string) => number | undefined;

/**
 * Of `others` the depot that may lie nearest to an end, by the triangles with those that have measured it: it
 * is as far from them as the end is. `undefined` where none may be much nearer than they are. One that lies
 * among three moves nothing by much: what counts is what most of them allow.
 */
export function nearerDepot(
  measuredMs: ReadonlyMap<string, number>,
  others: Iterable<string>,
  rttBetween: RttBetween,
): string | undefined {
  const told = [...measuredMs].toSorted(([, one], [, other]) => one - other).slice(0, MOST_ANCHORS);
  // Nobody makes himself nearer than the others allow.
  const anchors = told.map(([depot, rttMs]): [string, number] => {
    const least = leastByEach(
      depot,
      told.filter(([other]) => other !== depot),
      rttBetween,
    );
    return [depot, Math.max(rttMs, least[(least.length - 1) >> 1] ?? 0)];
  });
  let best: string | undefined;
  let bestMs = NEARER * Math.min(...anchors.map(([, rttMs]) => rttMs));
  for (const depot of others) {
    const least = leastByEach(depot, anchors, rttBetween);
    const leastMs = least[least.length >> 1] ?? Number.POSITIVE_INFINITY;
    if (leastMs >= bestMs) continue;
    best = depot;
    bestMs = leastMs;
  }
  return best;
}

/** How near a depot can be at the best, by the triangle with each anchor, in ascending order. */
function leastByEach(
  depot: string,
  anchors: readonly (readonly [depot: string, rttMs: number])[],
  rttBetween: RttBetween,
): number[] {
  return anchors
    .flatMap(([anchor, rttMs]) => {
      const betweenMs = rttBetween(depot, anchor);
      return betweenMs === undefined ? [] : [Math.abs(betweenMs - rttMs)];
    })
    .toSorted((one, other) => one - other);
}
