import { Hashed } from './hashed.ts';
import type { Download } from './oracle.ts';
import type { World } from './world.ts';

/** Sizes that somebody would let a master plan: most are some tens of megabytes, some are disk images. */
const SIZE = { medianBytes: 30e6, spread: 1.3, leastBytes: 100_000, mostBytes: 5e9 };
/** A few networks and origins have most of the downloads. */
const POPULARITY = 3;

/** The downloads of a simulated time, in its order: always the same for one seed. */
export function* drawDownloads(
  world: World,
  { downloads, hours, seed }: { readonly downloads: number; readonly hours: number; readonly seed: number },
): Generator<Download> {
  const h = new Hashed(seed + 1);
  const popular = (count: number, ...names: number[]) =>
    Math.floor(count * h.uniform(...names) ** POPULARITY);
  const stepMs = (hours * 3_600_000) / downloads;
  for (let number = 0; number < downloads; number += 1) {
    const size = h.logNormal(SIZE.medianBytes, SIZE.spread, number, 3);
    yield {
      client: world.client(popular(world.size.prefixes, number, 1)),
      origin: world.origin(popular(world.size.origins, number, 2)),
      sizeBytes: Math.round(Math.min(SIZE.mostBytes, Math.max(SIZE.leastBytes, size))),
      atMs: (number + h.uniform(number, 4)) * stepMs,
    };
  }
}
