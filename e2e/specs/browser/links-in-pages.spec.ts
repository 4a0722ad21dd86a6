import { clickLink, expectFile } from '../../fixtures/download-checks.ts';
import { expect, test } from '../../fixtures/test.ts';
import type { World } from '../../fixtures/world.ts';

/** So small that the master leads to the origin at once, and so large that it leads to a depot. */
const WAYS = [
  ['directly', { sizeBytes: 4_000 }, 0],
  ['by a depot that the origin refuses', { sizeBytes: 700_000_000 }, 1],
] as const;

for (const [way, options, byDepots] of WAYS)
  test(`a file that its origin gives only to who comes from its pages is there for a link through the master, led ${way}`, async ({
    user,
    world,
  }) => {
    const name = `hotlinked-${byDepots}.bin`;
    const path = `/hotlinked/${name}`;
    await clickLink(user, world, world.masterLink(world.originUrl + path, options));
    await expectFile(user, name);
    expect(requestsOfDepots(world, path)).toHaveLength(byDepots);
  });

function requestsOfDepots(world: World, path: string) {
  return world.origin.requests.filter(({ url, headers }) => url === path && headers.via);
}
