import { clickLink, expectFile, expectThroughDepots } from '../../fixtures/download-checks.ts';
import { FILE_BYTES } from '../../fixtures/origin-content.ts';
import { test } from '../../fixtures/test.ts';

test.use({ worldSpec: { secure: true } });

test('an https page and an https origin download through https depots', async ({ user, world }) => {
  await expectThroughDepots(world, FILE_BYTES, async () => {
    await clickLink(user, world, '/files/secure.bin');
    await expectFile(user, 'secure.bin');
  });
});
