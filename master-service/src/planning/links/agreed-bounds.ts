/** Between what a round trip must lie, by one who tells of it. */
export interface RttBounds {
  readonly leastMs: number;
  readonly mostMs: number;
}

/**
 * What most of these allow: all of them where they agree. Who says what cannot be true beside the others is
 * outvoted, whether he lies or a detour makes him wrong; so one alone moves nothing past what another one
 * allows (K. Marzullo, "Maintaining the time in a distributed system", 1984, as in NTP). Where as many say
 * one thing as another, `whenSplit` tells which counts. `undefined` of none.
 */
export function agreedBounds(
  all: readonly RttBounds[],
  whenSplit: 'nearest' | 'furthest',
): RttBounds | undefined {
  // What begins where another ends still touches it.
  const edges = all
    .flatMap(({ leastMs, mostMs }) => [
      { atMs: leastMs, change: 1 },
      { atMs: mostMs, change: -1 },
    ])
    .toSorted((one, other) => one.atMs - other.atMs || other.change - one.change);
  let [agreeing, most] = [0, 0];
  let best: RttBounds | undefined;
  for (const [place, { atMs, change }] of edges.entries()) {
    agreeing += change;
    const isMore = agreeing > most || (agreeing === most && whenSplit === 'furthest');
    if (change < 0 || !isMore) continue;
    most = agreeing;
    best = { leastMs: atMs, mostMs: edges[place + 1]?.atMs ?? atMs };
  }
  return best;
}
