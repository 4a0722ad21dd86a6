import { clickLink, expectFile, expectThroughDepots } from '../../fixtures/download-checks.ts';
import { FILE_BYTES } from '../../fixtures/origin-content.ts';
import { test } from '../../fixtures/test.ts';

test.use({ worldSpec: { listenHost: '::1' } });

test('a chain over IPv6 carries a download', async ({ user, world }) => {
  await expectThroughDepots(world, FILE_BYTES, async () => {
    await clickLink(user, world, '/files/six.bin');
    await expectFile(user, 'six.bin');
  });
});
