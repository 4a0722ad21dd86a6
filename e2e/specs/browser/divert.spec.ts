import type { TestBrowser } from '../../browsers/browser.ts';
import {
  changeSettings,
  isLookedAfter,
  linkRuleCount,
  shownHeaders,
  watchHeaders,
} from '../../fixtures/ask-addon.ts';
import {
  clickLink,
  expectDirect,
  expectFile,
  expectOnDisk,
  expectThroughDepots,
  firstBytesOf,
} from '../../fixtures/download-checks.ts';
import { FILE_BYTES } from '../../fixtures/origin-content.ts';
import { expect, test } from '../../fixtures/test.ts';
import type { World } from '../../fixtures/world.ts';

test.beforeEach(async ({ user }) => {
  await changeSettings(user, { noWastedByte: true });
  await expectReady(user);
});
test.afterEach(({ user }) => changeSettings(user, { noWastedByte: false, sitesOff: [] }));

test('nothing is fetched twice: the file comes through depots alone, under its name, and is looked after', async ({
  user,
  world,
}) => {
  await expectThroughDepots(world, FILE_BYTES, async () => {
    await clickLink(user, world, '/files/unwasted.iso?x=1&y=a%2Fb');
    await expect.poll(() => isLookedAfter(user, 'unwasted.iso')).toBe(true);
    await expectFile(user, 'unwasted.iso');
  });
  const own = requestsOf(world, '/files/unwasted.iso').filter(({ headers }) => !headers.via);
  // Chromium does not ask the origin at all; Firefox hears its head, and hangs up.
  expect(own).toHaveLength(user.kind === 'chromium' ? 0 : 1);
});

test('neither master nor depots are shown the page that a diverted file was linked on, nor cookies', async ({
  user,
  world,
}) => {
  await watchHeaders(user);
  await clickLink(user, world, '/files/unshown.iso');
  await expectFile(user, 'unshown.iso');
  const asked = (await shownHeaders(user)).filter(
    ({ url }) => new URL(url).host !== new URL(world.originUrl).host,
  );
  expect(asked).not.toEqual([]);
  for (const { names } of asked) {
    expect(names).not.toContain('referer');
    expect(names).not.toContain('cookie');
  }
});

test('a page that takes frames from itself alone has what it starts in one, through depots', async ({
  user,
  world,
}) => {
  await expectThroughDepots(world, FILE_BYTES, async () => {
    await user.goto(`${world.originUrl}/page?link=/x`);
    await user.evaluate(
      `const policy = document.createElement('meta');
      policy.httpEquiv = 'Content-Security-Policy';
      policy.content = "frame-src 'self'";
      document.head.append(policy);
      const frame = document.createElement('iframe');
      frame.src = args[0];
      document.body.append(frame);`,
      '/files/framed.iso',
    );
    await expectFile(user, 'framed.iso');
  });
});

test('an answer to a click that browsers show in a page is shown there', async ({ user, world }) => {
  await user.goto(`${world.originUrl}/page?link=/x`);
  await expect.poll(() => user.text('#link')).toBe('the file');
});

test('what the user does not want is not diverted, as soon as he says so', async ({ user, world }) => {
  await changeSettings(user, { sitesOff: ['origin.test'] });
  await expectReady(user);
  await expectDirect(world, async () => {
    await clickLink(user, world, '/files/off.iso');
    await expectFile(user, 'off.iso');
  });
  await changeSettings(user, { noWastedByte: false });
  if (user.kind === 'chromium') await expect.poll(() => linkRuleCount(user)).toBe(0);
});

test('a diverted download goes on where it was when its entry depot comes back', async ({ user, world }) => {
  const name = 'large-diverted.iso';
  const path = `/files/${name}`;
  await clickLink(user, world, path);
  await expect.poll(() => isLookedAfter(user, name), { intervals: [100] }).toBe(true);
  await expectOnDisk(user, name, 3_000_000);
  await world.overlay.depot('d1').kill();
  const before = requestsOf(world, path).length;
  await world.overlay.restartDepot('d1');
  await expectFile(user, name, name, { timeout: 60_000 });
  const starts = firstBytesOf(requestsOf(world, path).slice(before));
  expect(starts).not.toEqual([]);
  expect(Math.min(...starts)).toBeGreaterThan(1_500_000);
});

test('with the master gone the file comes directly all the same, and nothing is led there until it is back', async ({
  user,
  world,
}) => {
  await world.overlay.master.kill();
  await expectDirect(world, async () => {
    await clickLink(user, world, '/files/rescued.iso');
    await expectFile(user, 'rescued.iso');
  });
  if (user.kind === 'chromium') await expect.poll(() => linkRuleCount(user)).toBe(0);
  await expect.poll(() => user.text('#link')).toBe('the file');
  await world.overlay.restartMaster();
  await expectReady(user, 60_000);
  await expectThroughDepots(world, FILE_BYTES, async () => {
    await clickLink(user, world, '/files/led-again.iso');
    await expectFile(user, 'led-again.iso');
  });
});

test('a file that depots are refused comes directly, to those who may have it', async ({ user, world }) => {
  await expectDirect(world, async () => {
    await clickLink(user, world, '/members/only-members.iso');
    await expectFile(user, 'only-members.iso');
  });
});

/** Waits until the browser diverts. */
async function expectReady(user: TestBrowser, timeout = 10_000): Promise<void> {
  if (user.kind === 'chromium') await expect.poll(() => linkRuleCount(user), { timeout }).toBeGreaterThan(0);
}

function requestsOf(world: World, path: string) {
  return world.origin.requests.filter(({ url }) => url?.split('?')[0] === path);
}
