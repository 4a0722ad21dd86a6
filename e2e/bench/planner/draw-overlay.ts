import { seededRandom } from '../../lab/results/seeded-random.ts';
import type { PlannerCaseId } from './planner-case.ts';
import { PLANNER_CASES } from './planner-case.ts';

interface DrawnLink {
  readonly between: readonly [string, string];
  readonly rttMs: number;
  readonly lossRate: number;
  readonly rateBps: number;
}

type Place = readonly [number, number];

/**
 * Depots on a map, linked with the nearest and with some far away; round trips by distance, losses with a
 * tail, lines of 0.1 to 10 Gbit/s.
 */
export function drawOverlay(
  id: PlannerCaseId,
  seed: number,
): { readonly ids: readonly string[]; readonly links: readonly DrawnLink[] } {
  const { depots, links: degree, ends } = PLANNER_CASES[id];
  const next = seededRandom(seed);
  const ids = Array.from({ length: depots }, (_, index) => `d${index}`);
  const places = ids.map((): Place => [next(), next()]);
  const links = new Map<string, DrawnLink>();
  const add = (one: string, from: Place, other: string, to: Place, rateBps: number): void => {
    const distance = Math.hypot(from[0] - to[0], from[1] - to[1]);
    const rttMs = 2 + 150 * distance * (1 + next() / 2);
    const lossRate = next() < 0.5 ? 0 : 10 ** (-5 + 3 * next()) * Math.min(1, rttMs / 100);
    links.set([one, other].toSorted().join(' '), { between: [one, other], rttMs, lossRate, rateBps });
  };
  const nearest = (place: Place) =>
    places
      .map((other, index) => ({ index, distance: Math.hypot(place[0] - other[0], place[1] - other[1]) }))
      .toSorted((one, other) => one.distance - other.distance)
      .map(({ index }) => index);
  const placeOf = (index: number): Place => places[index] ?? [0, 0];
  for (const [index, id] of ids.entries()) {
    const isMesh = degree >= depots - 1;
    const near = isMesh ? ids.keys() : nearest(placeOf(index)).slice(1, 1 + degree / 4);
    const far = isMesh ? [] : Array.from({ length: degree / 4 }, () => Math.floor(next() * depots));
    for (const other of [...near, ...far])
      if (other !== index) add(id, placeOf(index), ids[other] ?? '', placeOf(other), 10 ** (8 + 2 * next()));
  }
  const [client, origin]: readonly Place[] = [
    [next() / 5, next()],
    [0.8 + next() / 5, next()],
  ];
  for (const [end, place, rateBps] of [
    ['client', client ?? [0, 0], 1e8],
    ['origin', origin ?? [1, 1], 1e9],
  ] as const)
    for (const index of nearest(place).slice(0, ends))
      add(end, place, ids[index] ?? '', placeOf(index), rateBps);
  add('client', client ?? [0, 0], 'origin', origin ?? [1, 1], 1e8);
  return { ids, links: [...links.values()] };
}
