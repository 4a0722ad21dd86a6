import { clickLink, expectFile, expectHandedOver } from '../../fixtures/download-checks.ts';
import { FILE_BYTES } from '../../fixtures/origin-content.ts';
import { test } from '../../fixtures/test.ts';

test('a link that asks for stepwise signalling leads to the same file under its name', async ({
  user,
  world,
}) => {
  const link = world.masterLink(`${world.originUrl}/files/stepwise.bin`, { signalling: 'stepwise' });
  await expectHandedOver(world, FILE_BYTES, async () => {
    await clickLink(user, world, link);
    await expectFile(user, 'stepwise.bin');
  });
});
