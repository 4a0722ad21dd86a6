import {
  clickLink,
  expectFile,
  expectFirstThroughDepots,
  expectThroughDepots,
} from '../../fixtures/download-checks.ts';
import { LARGE_BYTES } from '../../fixtures/origin-content.ts';
import { test } from '../../fixtures/test.ts';

test.use({ worldSpec: { listenHost: '::1' } });
test.beforeAll(({ user, world }) => expectFirstThroughDepots(user, world));

test('a chain over IPv6 carries a download', async ({ user, world }) => {
  await expectThroughDepots(world, LARGE_BYTES, async () => {
    await clickLink(user, world, '/kept/large-six.bin');
    await expectFile(user, 'large-six.bin');
  });
});
