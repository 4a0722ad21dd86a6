import { jobState } from '../../fixtures/ask-addon.ts';
import {
  beginThroughDepots,
  expectFile,
  expectFirstThroughDepots,
  firstBytesOf,
} from '../../fixtures/download-checks.ts';
import { expect, test } from '../../fixtures/test.ts';

/** So many bytes are on disk when the browser ends; Chromium itself remembers some fewer. */
const ON_DISK_BYTES = 5_000_000;
const REMEMBERED_BYTES = 2_000_000;

test('a download goes on with the bytes it has when the browser was ended and started again', async ({
  user,
  world,
}) => {
  const name = 'huge-restarted.bin';
  await expectFirstThroughDepots(user, world);
  await beginThroughDepots(user, world, `/files/${name}`, ON_DISK_BYTES);
  // The add-on has looked at it since it was put in its place.
  await expect.poll(() => jobState(user, name)).toBe('running');
  const asked = () => world.origin.requests.filter(({ url }) => url === `/files/${name}`);
  const before = asked().length;
  await user.restart();
  await expectFile(user, name, name, { timeout: 60_000 });
  const starts = firstBytesOf(asked().slice(before));
  expect(starts).not.toEqual([]);
  for (const start of starts) expect(start).toBeGreaterThan(REMEMBERED_BYTES);
});
