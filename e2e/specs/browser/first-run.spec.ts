import type { TestBrowser } from '../../browsers/browser.ts';
import { launchBrowser } from '../../browsers/launch-browser.ts';
import { whyLeft } from '../../fixtures/ask-addon.ts';
import {
  clickLink,
  expectDirect,
  expectFile,
  expectThroughAnyDepots,
} from '../../fixtures/download-checks.ts';
import { FILE_BYTES } from '../../fixtures/origin-content.ts';
import { expect, test } from '../../fixtures/test.ts';

test('nothing is led elsewhere before the user has seen three screens and said yes, by the keyboard alone', async ({
  browserKind,
  world,
}) => {
  const user = await launchBrowser(browserKind, {
    hosts: world.hosts,
    addonDir: await world.buildAddon(browserKind, { consented: false }),
    allowInsecureDownloads: true,
  });
  try {
    await expect.poll(() => openPages(user)).toContain(user.addonPage('welcome.html'));
    // It knows a master, and may reach everything.
    await expectDirect(world, async () => {
      await clickLink(user, world, '/files/before-consent.bin');
      await expectFile(user, 'before-consent.bin');
    });
    await user.goto(user.addonPage('popup.html'));
    await expect.poll(() => user.text('#state')).toBe('Nothing is led elsewhere before you say yes.');
    await user.goto(user.addonPage('welcome.html'));
    await expect.poll(() => user.text('#step')).toBe('1 of 3');
    await pressOn(user, 'next');
    await expect.poll(() => user.text('#step')).toBe('2 of 3');
    await pressOn(user, 'next');
    await pressOn(user, 'test');
    await expect.poll(() => user.text('#master-error')).toMatch(/only sites that its operator has named/);
    await pressOn(user, 'yes');
    await expect.poll(() => user.text('#outcome')).toMatch(/^Longhaul is ready\./);
    await expectThroughAnyDepots(world, FILE_BYTES, async () => {
      // A new browser may take long until its add-on has asked: ten seconds by itself.
      await clickLink(user, world, '/slow/none/large-after-consent.bin');
      await expectFile(user, 'large-after-consent.bin');
      expect(await whyLeft(user)).toBeUndefined();
    });
  } finally {
    await user.close();
  }
});

test('who says "not now" keeps all downloads as they are, and is led back by the popup', async ({
  browserKind,
  world,
}) => {
  const user = await launchBrowser(browserKind, {
    hosts: world.hosts,
    addonDir: await world.buildAddon(browserKind, { consented: false, master: '' }),
    allowInsecureDownloads: true,
  });
  try {
    await user.goto(user.addonPage('welcome.html'));
    await expect.poll(() => user.text('#step')).toBe('1 of 3');
    await user.click('#next');
    await user.click('#next');
    await user.click('#yes');
    await expect.poll(() => user.text('#master-error')).toMatch(/^Give the host/);
    await user.click('#not-now');
    await expect.poll(() => user.text('#outcome')).toMatch(/^Nothing is led elsewhere\./);
    await user.goto(user.addonPage('popup.html'));
    await expect.poll(() => user.text('#welcome')).toBe('Begin');
  } finally {
    await user.close();
  }
});

/** Goes to a button by the Tab key, and presses it. */
async function pressOn(user: TestBrowser, id: string): Promise<void> {
  const focused = () => user.evaluate<string>('return document.activeElement.id');
  for (let step = 0; step < 20 && (await focused()) !== id; step += 1) await user.press('Tab');
  expect(await focused()).toBe(id);
  await user.press('Enter');
}

/** The addresses of all tabs of the add-on. */
function openPages(user: TestBrowser): Promise<string[]> {
  return user.addonCall(
    'return (await (globalThis.browser ?? chrome).tabs.query({})).map((tab) => tab.url ?? tab.pendingUrl)',
  );
}
