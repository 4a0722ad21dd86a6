import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { launchBrowser } from '../../browsers/launch-browser.ts';
import { backgroundStands } from '../../fixtures/ask-addon.ts';
import { createOtherAddon, SAVED_TEXT } from '../../fixtures/other-addon.ts';
import { expect, test } from '../../fixtures/test.ts';

test('what another add-on saves has the folder and the name that it was given there', async ({
  browserKind,
  world,
}) => {
  test.skip(browserKind !== 'chromium', 'Firefox asks no add-on for the names of downloads');
  const other = await createOtherAddon();
  const user = await launchBrowser(browserKind, {
    hosts: world.hosts,
    addonDir: await world.buildAddon(browserKind),
    otherAddonDirs: [other.dir],
  });
  try {
    await backgroundStands(user);
    const path = join(user.downloadsDir, 'sub', 'x.txt');
    await user.goto(other.savePage('sub/x.txt'));
    await expect.poll(() => existsSync(path)).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe(SAVED_TEXT);
  } finally {
    await user.close();
    await other.remove();
  }
});
