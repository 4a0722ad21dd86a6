import { clickLink, expectFile } from '../../fixtures/download-checks.ts';
import { fileBody } from '../../fixtures/origin-content.ts';
import { expect, test } from '../../fixtures/test.ts';
import type { World } from '../../fixtures/world.ts';
import { sha256Hex } from '../../overlay/sample-bytes.ts';

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

for (const [way, options, byDepots] of [
  ['through depots', { sizeBytes: 700_000_000 }, true],
  ['directly', { sizeBytes: 4_000 }, false],
] as const)
  test(`a page of another site reads a file ${way} where its origin opens it to all, and no other one`, async ({
    user,
    world,
  }) => {
    const name = `brief-${byDepots ? 'chained' : 'direct'}.bin`;
    const path = `/open/${name}`;
    await user.goto(`${world.privateUrl}/page?link=/x`);
    const read = await user.evaluate<string>(READ, world.masterLink(world.originUrl + path, options));
    expect(sha256Hex(Buffer.from(read, 'base64'))).toBe(sha256Hex(fileBody(name)));
    expect(requestsOfDepots(world, path).length > 0).toBe(byDepots);
    const closed = `/files/${name}`;
    const refused = await user.evaluate<string>(READ, world.masterLink(world.originUrl + closed, options));
    expect(refused).toBe('TypeError');
  });

/** Reads an address as a page's script does: gives its bytes in base64, or the name of the error. */
const READ = `try {
  const blob = await (await fetch(args[0])).blob();
  return await new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.split(',')[1]);
    reader.readAsDataURL(blob);
  });
} catch (error) {
  return error.name;
}`;

function requestsOfDepots(world: World, path: string) {
  return world.origin.requests.filter(({ url, headers }) => url === path && headers.via);
}
