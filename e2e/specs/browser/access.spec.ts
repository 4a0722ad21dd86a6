import { whyLeft } from '../../fixtures/ask-addon.ts';
import {
  clickLink,
  expectDirect,
  expectFile,
  expectFirstThroughDepots,
  expectThroughAnyDepots,
  expectThroughDepots,
} from '../../fixtures/download-checks.ts';
import { FILE_BYTES } from '../../fixtures/origin-content.ts';
import { expect, test } from '../../fixtures/test.ts';

test.beforeAll(({ user, world }) => expectFirstThroughDepots(user, world));

test('whoever grants no site has his downloads as ever, and is told why', async ({ user, world }) => {
  await user.limitAccess([]);
  await expectDirect(world, async () => {
    await clickLink(user, world, '/files/ungranted.bin');
    await expectFile(user, 'ungranted.bin');
  });
  await expect.poll(() => whyLeft(user)).toBe('no-access');
});

test('the files of a site that is granted, with master and depots, come through depots', async ({
  user,
  world,
}) => {
  await user.limitAccess(['origin.test', 'master.test', 'd1.test']);
  await expectThroughAnyDepots(world, FILE_BYTES, async () => {
    await clickLink(user, world, '/files/granted.bin');
    await expectFile(user, 'granted.bin');
  });
  await user.limitAccess(['origin.test', 'd1.test']);
  await expectDirect(world, async () => {
    await clickLink(user, world, '/files/half-granted.bin');
    await expectFile(user, 'half-granted.bin');
  });
  await expect.poll(() => whyLeft(user)).toBe('no-access');
});

test('when access to all sites is granted again, everything is as before', async ({ user, world }) => {
  await user.limitAccess('all');
  await expectThroughDepots(world, FILE_BYTES, async () => {
    await clickLink(user, world, '/files/regranted.bin');
    await expectFile(user, 'regranted.bin');
  });
});
