import type { LegEstimate } from '@longhaul/shared';
import type { Hashed } from './hashed.ts';
import { NOISE_OF } from './noise-of.ts';
import type { End, World } from './world.ts';

/** Other depots that a depot's links are known to: near ones, and any. */
const NEIGHBOURS = { near: 8, any: 12 };

/** Two depots that have a link. */
export type Neighbours = readonly [End, End];

/** Pairs of depots that have a link: each with some near ones, and with others anywhere. */
export function drawNeighbours(world: World, depots: readonly End[], noise: Hashed): readonly Neighbours[] {
  const pairs = new Map<string, Neighbours>();
  const note = (depot: End, other: End) => {
    const [one, two] = depot.number < other.number ? [depot, other] : [other, depot];
    pairs.set(`${one.number} ${two.number}`, [one, two]);
  };
  for (const depot of depots) {
    const others = depots.filter((other) => other !== depot);
    const near = nearestOf(others, (other) => world.leg(depot, other, 0), NEIGHBOURS.near);
    for (const { end } of near) note(depot, end);
    for (let at = 0; at < NEIGHBOURS.any; at += 1) {
      const drawn = noise.uniform(depot.number, at, NOISE_OF.neighbour);
      const any = others[Math.floor(drawn * others.length)];
      if (any) note(depot, any);
    }
  }
  return [...pairs.values()];
}

/** So many of the ends that are nearest by these legs, with their legs. */
export function nearestOf(ends: readonly End[], legTo: (end: End) => LegEstimate, count: number) {
  return ends
    .map((end) => ({ end, leg: legTo(end) }))
    .toSorted((one, other) => one.leg.rttMs - other.leg.rttMs)
    .slice(0, count);
}
