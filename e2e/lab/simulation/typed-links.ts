import type { LegEstimate } from '@longhaul/shared';
import { type Neighbours, nearestOf } from './neighbours.ts';
import type { Download } from './oracle.ts';
import type { TypedLink } from './planner-port.ts';
import { depotId } from './sim-names.ts';
import type { End, World } from './world.ts';

/** Depots of an end whose links are known: those nearest to it. */
const NEAREST = 20;

/** The links between depots as they are at a moment. */
export function depotLinks(world: World, neighbours: readonly Neighbours[], atMs: number): TypedLink[] {
  return neighbours.map(([one, two]) =>
    typedLink(depotId(one.number), depotId(two.number), world.leg(one, two, atMs)),
  );
}

/** The links of both ends of a download as they are at a moment, to each other and to depots near them. */
export function endLinks(
  world: World,
  depots: readonly End[],
  { client, origin }: Download,
  atMs: number,
): TypedLink[] {
  const ofClient = nearestOf(depots, (depot) => world.leg(client, depot, atMs), NEAREST);
  const ofOrigin = nearestOf(depots, (depot) => world.leg(depot, origin, atMs), NEAREST);
  return [
    typedLink('client', 'origin', world.leg(client, origin, atMs)),
    ...ofClient.map(({ end, leg }) => typedLink('client', depotId(end.number), leg)),
    ...ofOrigin.map(({ end, leg }) => typedLink(depotId(end.number), 'origin', leg)),
  ];
}

function typedLink(
  one: string,
  other: string,
  { rttMs, lossRate, rateBps, windowBytes }: LegEstimate,
): TypedLink {
  return { between: [one, other], rttMs, lossRate, rateBps, windowBytes };
}
