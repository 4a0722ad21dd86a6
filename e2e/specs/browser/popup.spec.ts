import type { TestBrowser } from '../../browsers/browser.ts';
import { jobState, whyLeft } from '../../fixtures/ask-addon.ts';
import {
  clickLink,
  expectDirect,
  expectFile,
  expectThroughAnyDepots,
} from '../../fixtures/download-checks.ts';
import { FILE_BYTES } from '../../fixtures/origin-content.ts';
import { FROM_MENU, leadDownload } from '../../fixtures/popup-and-menu.ts';
import { expect, test } from '../../fixtures/test.ts';
import type { World } from '../../fixtures/world.ts';

test('"Use direct" lets the rest of a download come from the site itself', async ({ user, world }) => {
  const name = 'large-led-direct.bin';
  await begin(user, world, name);
  await leadDownload(user, 'Use direct', name);
  await expect.poll(() => user.text('#downloads')).toContain('It comes directly, as you chose.');
  await expectFile(user, name);
  const last = requestsOf(world, name).at(-1);
  expect(last?.headers.via).toBeUndefined();
  // Chromium cannot leave the address that it was led to: there the file comes anew beside what is on disk.
  if (user.kind === 'firefox') expect(startOf(last?.headers.range)).toBeGreaterThan(0);
});

test('who leads a download by the keyboard stays at it, whatever is said of it and becomes of it', async ({
  user,
  world,
}) => {
  const name = 'large-led-by-key.bin';
  await begin(user, world, name);
  await user.goto(user.addonPage('popup.html'));
  await expect.poll(() => user.text('#downloads')).toContain('Use direct');
  const focused = () =>
    user.evaluate<[string, string]>(
      `const { activeElement: at } = document;
      return [at.getAttribute('aria-label') ?? '', at.closest('[data-key]')?.querySelector('.name').textContent ?? ''];`,
    );
  const button = `Use direct: ${name}`;
  for (let step = 0; step < 20 && (await focused())[0] !== button; step += 1) await user.press('Tab');
  await user.press('Enter');
  if (user.kind === 'chromium') {
    await expect.poll(() => user.text('#downloads')).toContain('starts again at its first byte');
    expect(await focused()).toEqual([button, name]);
    await user.press('Enter');
  }
  await expect.poll(() => user.text('#downloads')).toContain('It comes directly, as you chose.');
  expect((await focused())[1]).toBe(name);
  await expectFile(user, name);
});

test('"Another path" leads a download over other depots', async ({ user, world }) => {
  const name = 'large-led-elsewhere.bin';
  await begin(user, world, name);
  await leadDownload(user, 'Another path', name);
  await expect.poll(() => user.text('#downloads')).toMatch(/d2/);
  await expect.poll(() => user.text('#downloads')).toContain('It was led over another path, as you chose.');
  await expectFile(user, name);
  expect(requestsOf(world, name).at(-1)?.headers.via).toContain('longhaul-d2');
});

test('the menu of a link leads its file through depots under the name that the site gives it', async ({
  user,
  world,
}) => {
  await expectThroughAnyDepots(world, FILE_BYTES, async () => {
    await user.goto(`${world.originUrl}/page?${new URLSearchParams({ link: '/attachment/menu.bin?n=1' })}`);
    await user.chooseFromMenu('#link', FROM_MENU.through);
    await expectFile(user, 'menu.bin');
  });
});

test('the menu of a link downloads its file directly, past everything, under the name that the site gives it', async ({
  user,
  world,
}) => {
  const page = `${world.originUrl}/page?${new URLSearchParams({ link: '/named/own%20name.bin/menu-direct.bin' })}`;
  await expectDirect(world, async () => {
    await user.goto(page);
    await user.chooseFromMenu('#link', FROM_MENU.directly);
    await expectFile(user, 'own name.bin', 'menu-direct.bin');
  });
  // Chromium lets no add-on say it.
  const asked = world.origin.requests.findLast(({ url }) => url?.endsWith('/menu-direct.bin'));
  if (user.kind === 'firefox') expect(asked?.headers.referer).toBe(page);
});

test('a link that cannot come through depots comes directly, and the popup says why', async ({
  user,
  world,
}) => {
  const link = `${world.privateUrl}/files/menu-refused.bin`;
  await user.goto(`${world.originUrl}/page?${new URLSearchParams({ link })}`);
  await user.chooseFromMenu('#link', FROM_MENU.through);
  await expectFile(user, 'menu-refused.bin');
  await expect.poll(() => whyLeft(user)).toBe('master-refused');
});

test('a site is left alone, and taken again, by the choice in the popup', async ({ user, world }) => {
  const choose = async (use: string) => {
    // The popup in a tab of its own is about the page that was in front last.
    await user.goto(user.addonPage('popup.html'));
    await expect
      .poll(() => user.evaluate("return document.querySelector('#site-use').checkVisibility()"))
      .toBe(true);
    await user.evaluate(
      `const field = document.querySelector('#site-use');
      field.value = args[0];
      field.dispatchEvent(new Event('change'));
      await new Promise((go) => setTimeout(go, 300));`,
      use,
    );
  };
  const page = await openPageBeside(user, world);
  await choose('never');
  await expectDirect(world, async () => {
    await clickLink(user, world, '/files/site-never.bin');
    await expectFile(user, 'site-never.bin');
  });
  await expect.poll(() => whyLeft(user)).toBe('site-off');
  await choose('');
  await expectThroughAnyDepots(world, FILE_BYTES, async () => {
    await clickLink(user, world, '/files/site-usual.bin');
    await expectFile(user, 'site-usual.bin');
  });
  await page();
});

test('the popup says that there is no room for what the user has changed, and shows what holds', async ({
  user,
}) => {
  await user.goto(user.addonPage('popup.html'));
  const isOn = () => user.evaluate<boolean>("return document.querySelector('#enabled').checked");
  await expect.poll(isOn).toBe(true);
  await user.evaluate(
    `const { runtime } = globalThis.browser ?? chrome;
    const send = runtime.sendMessage.bind(runtime);
    runtime.sendMessage = async (message) =>
      message.name === 'change-settings' ? { ok: false, error: 'NoRoomError' } : send(message);`,
  );
  await user.click('#enabled');
  await expect.poll(() => user.text('#state')).toMatch(/^The browser has no room left/);
  expect(await isOn()).toBe(true);
});

test('the place where the popup tells what came of a click is there before the click', async ({
  user,
  world,
}) => {
  const name = 'large-answered.bin';
  await begin(user, world, name);
  await user.goto(user.addonPage('popup.html'));
  await expect
    .poll(() => user.evaluate("return document.querySelectorAll('#downloads [role=status]').length"))
    .toBe(1);
  // Noted as it happens: the download may have ended when it is asked for.
  await user.evaluate(
    `const { runtime } = globalThis.browser ?? chrome;
    const send = runtime.sendMessage.bind(runtime);
    runtime.sendMessage = async (message) =>
      message.name === 'lead' ? { ok: true, answer: false } : send(message);
    const place = document.querySelector('#downloads [role=status]');
    const look = () => {
      if (place.textContent !== '') window.told ??= { inPlace: place.isConnected };
    };
    new MutationObserver(look).observe(place, { childList: true, characterData: true, subtree: true });`,
  );
  await user.click(`[aria-label="Another path: ${name}"]`);
  await expect.poll(() => user.evaluate('return window.told ?? null')).toEqual({ inPlace: true });
  await expectFile(user, name);
});

test('the button counts what runs', async ({ user, world }) => {
  const badge = () => user.addonCall<string>('return (globalThis.browser ?? chrome).action.getBadgeText({})');
  expect(await badge()).toBe('');
  await begin(user, world, 'large-counted.bin');
  await expect.poll(badge).toBe('1');
  await expectFile(user, 'large-counted.bin');
  await expect.poll(badge).toBe('');
});

/** Ten seconds for a file, so that there is time for a click or two. */
const pathOf = (name: string) => `/slow/none/${name}`;

async function begin(user: TestBrowser, world: World, name: string): Promise<void> {
  await clickLink(user, world, pathOf(name));
  await expect.poll(() => jobState(user, name), { intervals: [100] }).toBe('running');
}

/** Opens a page of the origin in a tab behind; closes it again. */
async function openPageBeside(user: TestBrowser, world: World): Promise<() => Promise<void>> {
  const id = await user.addonCall<number>(
    'return (await (globalThis.browser ?? chrome).tabs.create({ url: args[0], active: false })).id',
    `${world.originUrl}/page?link=x`,
  );
  return async () => {
    await user.addonCall('await (globalThis.browser ?? chrome).tabs.remove(args[0])', id);
  };
}

function requestsOf(world: World, name: string) {
  return world.origin.requests.filter(({ url }) => url === pathOf(name));
}

function startOf(range: string | undefined): number {
  return Number(/^bytes=(\d+)-/.exec(range ?? '')?.[1] ?? 0);
}
