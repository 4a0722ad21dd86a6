import {
  clickLink,
  expectFile,
  expectFirstThroughDepots,
  expectThroughDepots,
} from '../../fixtures/download-checks.ts';
import { LARGE_BYTES } from '../../fixtures/origin-content.ts';
import { test } from '../../fixtures/test.ts';

test.use({ worldSpec: { secure: true } });
test.beforeAll(({ user, world }) => expectFirstThroughDepots(user, world));

test('an https page and an https origin download through https depots', async ({ user, world }) => {
  await expectThroughDepots(world, LARGE_BYTES, async () => {
    await clickLink(user, world, '/kept/large-secure.bin');
    await expectFile(user, 'large-secure.bin');
  });
});
