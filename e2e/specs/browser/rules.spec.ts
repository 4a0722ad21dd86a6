import { changeSettings, whyLeft } from '../../fixtures/ask-addon.ts';
import { clickLink, expectDirect, expectFile, expectThroughDepots } from '../../fixtures/download-checks.ts';
import { openOptions } from '../../fixtures/options-page.ts';
import { FILE_BYTES } from '../../fixtures/origin-content.ts';
import { expect, test } from '../../fixtures/test.ts';

const ALL = { mode: 'all', kinds: [] };

test.afterEach(async ({ user }) => {
  await changeSettings(user, {
    smallestBytes: 2_000_000,
    sitesOff: [],
    sitesAlways: [],
    kinds: ALL,
    bypassKey: 'alt',
  });
});

for (const [what, settings, why] of [
  ['of a site that the user never wants, and of the names below it,', { sitesOff: ['test'] }, 'site-off'],
  ['of a kind that the user does not want', { kinds: { mode: 'except', kinds: ['bin'] } }, 'kind'],
  ['smaller than the user wants', { smallestBytes: 2 * FILE_BYTES }, 'small'],
] as const) {
  test(`a file ${what} is left to the browser`, async ({ user, world }) => {
    await changeSettings(user, settings);
    await expectDirect(world, async () => {
      await clickLink(user, world, `/files/left-${why}.bin`);
      await expectFile(user, `left-${why}.bin`);
    });
    await expect.poll(() => whyLeft(user)).toBe(why);
  });
}

test('options that stand open in one window take nothing back that the popup of another one has changed', async ({
  user,
  world,
}) => {
  await openOptions(user);
  await user.addonCall(
    "await (globalThis.browser ?? chrome).runtime.sendMessage({ name: 'set-site', ask: { host: 'origin.test', use: 'never' } })",
  );
  await user.evaluate("document.getElementById('smallest').value = '1'");
  await user.click('button[type=submit]');
  await expect.poll(() => user.text('#saved')).toBe('Saved');
  expect(await user.evaluate("return document.getElementById('sites-never').value")).toBe('origin.test');
  await expectDirect(world, async () => {
    await clickLink(user, world, '/files/off-meanwhile.bin');
    await expectFile(user, 'off-meanwhile.bin');
  });
  await expect.poll(() => whyLeft(user)).toBe('site-off');
});

test('of a site that the user always wants, files of every kind and size come through depots', async ({
  user,
  world,
}) => {
  await changeSettings(user, {
    sitesAlways: ['origin.test'],
    smallestBytes: 2 * FILE_BYTES,
    kinds: { mode: 'only', kinds: ['iso'] },
  });
  await expectThroughDepots(world, FILE_BYTES, async () => {
    await clickLink(user, world, '/files/always.bin');
    await expectFile(user, 'always.bin');
  });
});

test('a click with the chosen key held leaves the file to the browser, and the next one does not', async ({
  user,
  world,
}) => {
  // Chromium itself saves what is clicked with Alt.
  await changeSettings(user, { bypassKey: 'ctrl' });
  await expectDirect(world, async () => {
    await clickLink(user, world, '/files/held.bin', {}, 'Control');
    await expectFile(user, 'held.bin');
  });
  await expect.poll(() => whyLeft(user)).toBe('key-held');
  await expectThroughDepots(world, FILE_BYTES, async () => {
    await clickLink(user, world, '/files/unheld.bin');
    await expectFile(user, 'unheld.bin');
  });
});

test('without a chosen key nothing of the add-on runs in pages, and a held key means nothing to it', async ({
  user,
  world,
}) => {
  await changeSettings(user, { bypassKey: 'none' });
  const scripts = () =>
    user.addonCall<unknown[]>(
      'return (globalThis.browser ?? chrome).scripting.getRegisteredContentScripts()',
    );
  await expect.poll(scripts).toEqual([]);
  await expectThroughDepots(world, FILE_BYTES, async () => {
    await clickLink(user, world, '/files/keyless.bin', {}, 'Control');
    await expectFile(user, 'keyless.bin');
  });
});
