import {
  beginThroughDepots,
  clickLink,
  expectDirect,
  expectFile,
  expectFirstThroughDepots,
  expectThroughDepots,
} from '../../fixtures/download-checks.ts';
import { FILE_BYTES } from '../../fixtures/origin-content.ts';
import { expect, test } from '../../fixtures/test.ts';

// Here the add-on waits for master and depot as long as it does for users.
test.use({ worldSpec: { isPatient: false } });
test.beforeAll(({ user, world }) => expectFirstThroughDepots(user, world));

test('a link downloads through two depots, byte-identical and under its name', async ({ user, world }) => {
  await expectThroughDepots(world, FILE_BYTES, async () => {
    await clickLink(user, world, '/files/linked.bin');
    await expectFile(user, 'linked.bin');
  });
  expect(await world.overlay.metric('d2', 'longhaul_depot_tunnel_bytes_total')).toBe(0);
});

test('an attachment keeps its name and its query', async ({ user, world }) => {
  await expectThroughDepots(world, FILE_BYTES, async () => {
    await clickLink(user, world, '/attachment/attached.bin?x=1&y=a%2Fb&u=http://z/?q=1');
    await expectFile(user, 'attached.bin');
  });
  const fetched = world.origin.requests.findLast((request) => request.headers.via);
  expect(fetched?.url).toBe('/attachment/attached.bin?x=1&y=a%2Fb&u=http://z/?q=1');
});

test('the name in a download attribute is kept', async ({ user, world }) => {
  await expectThroughDepots(world, FILE_BYTES, async () => {
    await clickLink(user, world, '/files/attribute.bin', { download: 'chosen.bin' });
    await expectFile(user, 'chosen.bin', 'attribute.bin');
  });
});

test('the answer to a form is left alone', async ({ user, world }) => {
  await expectDirect(world, async () => {
    await user.goto(`${world.originUrl}/form`);
    await user.click('#link');
    await expectFile(user, 'posted.bin');
  });
});

test('a file that only members get comes directly, and whole', async ({ user, world }) => {
  await expectDirect(world, async () => {
    await clickLink(user, world, '/members/members.bin');
    await expectFile(user, 'members.bin');
  });
});

test('a redirect to an address that depots refuse comes directly, and whole', async ({ user, world }) => {
  await expectDirect(world, async () => {
    await clickLink(user, world, `/moved?${encodeURIComponent(`${world.privateUrl}/files/private.bin`)}`);
    await expectFile(user, 'private.bin');
  });
});

test('a signed address comes by that which led to it, under the name that it has, and directly where it was linked', async ({
  user,
  world,
}) => {
  await expectThroughDepots(world, FILE_BYTES, async () => {
    await clickLink(user, world, `/moved?${encodeURIComponent(`${world.originUrl}/files/signed.bin?sig=1`)}`);
    await expectFile(user, 'signed.bin');
  });
  const fetched = world.origin.requests.filter((request) => request.headers.via);
  expect(fetched.some(({ url }) => url?.startsWith('/moved?'))).toBe(true);
  await expectDirect(world, async () => {
    await clickLink(user, world, '/files/signed-link.bin?sig=1');
    await expectFile(user, 'signed-link.bin');
  });
});

test('a download goes on as one when the way to the origin breaks', async ({ user, world }) => {
  world.origin.cutForDepots('/files/broken.bin', 200_000);
  await clickLink(user, world, '/files/broken.bin');
  await expectFile(user, 'broken.bin');
  expect(world.origin.cutsWaiting()).toBe(0);
});

test('a download goes on as one when a depot of its chain dies', async ({ user, world }) => {
  const failovers = () => world.overlay.metric('d1', 'longhaul_depot_failovers_total');
  const before = await failovers();
  await beginThroughDepots(user, world, '/files/large-exitless.bin', 3_000_000);
  await world.overlay.depot('d3').kill();
  await expectFile(user, 'large-exitless.bin');
  expect(await failovers()).toBeGreaterThan(before);
  await world.overlay.restartDepot('d3');
});

test('with the master down the direct download works, and depots are used again when it is back', async ({
  user,
  world,
}) => {
  await world.overlay.master.kill();
  await expectDirect(world, async () => {
    await clickLink(user, world, '/files/masterless.bin');
    await expectFile(user, 'masterless.bin');
  });
  await world.overlay.restartMaster();
  await expectFirstThroughDepots(user, world);
  await expectThroughDepots(world, FILE_BYTES, async () => {
    await clickLink(user, world, '/files/mastered-again.bin');
    await expectFile(user, 'mastered-again.bin');
  });
});
