import type { TestBrowser } from '../../browsers/browser.ts';
import { changeSettings, isLookedAfter, jobState, jobTries, shownNotices } from '../../fixtures/ask-addon.ts';
import {
  beginThroughDepots,
  bytesOnDisk,
  clickLink,
  expectFile,
  expectFirstThroughDepots,
  expectOnDisk,
  firstBytesOf,
} from '../../fixtures/download-checks.ts';
import { LARGE_BYTES } from '../../fixtures/origin-content.ts';
import { leadDownload } from '../../fixtures/popup-and-menu.ts';
import { answerAsPortal, startPortal } from '../../fixtures/portal.ts';
import { expect, test } from '../../fixtures/test.ts';
import type { World } from '../../fixtures/world.ts';

/** So many bytes are on disk when something breaks: more than the add-on wants to see before it ends the original. */
const ON_DISK_BYTES = 3_000_000;

test.beforeAll(({ user, world }) => expectFirstThroughDepots(user, world));

test('a download goes on where it was when the network was away', async ({ user, world }) => {
  const name = 'large-away.bin';
  await begin(user, world, name);
  // As the browser sees it: nobody of all is there.
  world.origin.setAway(`/files/${name}`, true);
  await Promise.all([world.overlay.depot('d1').kill(), world.overlay.master.kill()]);
  await expect.poll(() => jobTries(user, name)).toBeGreaterThan(1);
  const before = requestsOf(world, name).length;
  const master = world.overlay.restartMaster();
  await expect.poll(() => isHealthy(world)).toBe(true);
  await world.overlay.restartDepot('d1');
  await master;
  world.origin.setAway(`/files/${name}`, false);
  await expectFile(user, name);
  expectNoByteTwice(world, name, before);
  await user.goto(user.addonPage('popup.html'));
  await expect.poll(() => user.text('#done')).toMatch(/its way broke and it went on: \d/);
});

test('one notice tells that a download is whole although its way broke, and none of another one', async ({
  user,
  world,
}) => {
  const before = await shownNotices(user);
  const news = async () => (await shownNotices(user)).filter((id) => !before.includes(id));
  await begin(user, world, 'large-quiet.bin');
  await expectFile(user, 'large-quiet.bin');
  await begin(user, world, 'large-noticed.bin');
  expect(await news()).toEqual([]);
  await world.overlay.depot('d1').kill();
  await world.overlay.restartDepot('d1');
  await expectFile(user, 'large-noticed.bin');
  await expect.poll(news).toHaveLength(1);
});

for (const answer of ['page', 'redirect'] as const) {
  test(`a download goes on although a portal has answered for everybody, by a ${answer}`, async ({
    user,
    world,
  }) => {
    const name = `large-portal-${answer}.bin`;
    await begin(user, world, name);
    const { overlay, origin, listenHost } = world;
    const ports = [overlay.master, overlay.depot('d1')].map(({ url }) => Number(new URL(url).port));
    origin.setAway(`/files/${name}`, true, answerAsPortal(answer));
    await Promise.all([overlay.depot('d1').kill(), overlay.master.kill()]);
    const closePortal = await startPortal(listenHost, ports, answer);
    await expect.poll(() => jobTries(user, name)).toBeGreaterThan(1);
    await closePortal();
    const master = overlay.restartMaster();
    await expect.poll(() => isHealthy(world)).toBe(true);
    await overlay.restartDepot('d1');
    await master;
    origin.setAway(`/files/${name}`, false);
    await expectFile(user, name, name, { timeout: 60_000 });
  });
}

test('what a portal gave in the place of a file is not the file, which comes when the portal has gone', async ({
  user,
  world,
}) => {
  const name = 'huge-not-the-portal.bin';
  const path = `/files/${name}`;
  await begin(user, world, name);
  await leadDownload(user, 'Use direct', name);
  await expect.poll(() => world.origin.sentBytes(path).toOthers).toBeGreaterThan(2 * ON_DISK_BYTES);
  // Browsers ask again by themselves where a connection merely ends, and may take what is answered for the file.
  world.origin.setAway(path, true, answerAsPortal('page'));
  await expect.poll(() => jobTries(user, name)).toBeGreaterThan(0);
  world.origin.setAway(path, false);
  await expectFile(user, name, name, { timeout: 60_000 });
});

test('a download that breaks more often than Chromium resumes goes on each time', async ({ user, world }) => {
  test.setTimeout(300_000);
  const name = 'huge-brittle.bin';
  await begin(user, world, name);
  const before = requestsOf(world, name).length;
  for (let time = 1; time <= 7; time += 1) {
    await world.overlay.depot('d1').kill();
    const atBreak = bytesOnDisk(user, name);
    await world.overlay.restartDepot('d1');
    await expectOnDisk(user, name, atBreak + 500_000);
  }
  await expectFile(user, name, name, { timeout: 60_000 });
  expectNoByteTwice(world, name, before);
});

test('a download that Chromium resumes no more stays on disk, and goes on by a click', async ({
  user,
  world,
}) => {
  test.skip(user.kind === 'firefox', 'Firefox resumes as often as it is told to');
  const name = 'large-clicked.bin';
  await begin(user, world, name);
  const before = requestsOf(world, name).length;
  await world.overlay.depot('d1').kill();
  await expect.poll(() => jobState(user, name)).toBe('waiting');
  // Whoever resumes, five times without a byte are all.
  await user.addonCall(`
    const [{ id }] = await chrome.downloads.search({ orderBy: ['-startTime'], limit: 1 });
    const isBroken = async () => (await chrome.downloads.search({ id }))[0].state === 'interrupted';
    for (let time = 1; time <= 5; time += 1) {
      await chrome.downloads.resume(id).catch(() => undefined);
      while (!(await isBroken())) await new Promise((go) => setTimeout(go, 50));
    }`);
  await world.overlay.restartDepot('d1');
  await expect.poll(() => jobState(user, name)).toBe('click');
  await user.goto(user.addonPage('popup.html'));
  await expect.poll(() => user.text('#downloads')).toContain('What is on disk is kept: go on by a click.');
  await user.click('button.go-on');
  await expectFile(user, name);
  expectNoByteTwice(world, name, before);
});

test('a download goes on where it was when its depot could not reach the origin for a while', async ({
  user,
  world,
}) => {
  const name = 'large-originless.bin';
  await begin(user, world, name);
  world.origin.setAway(`/files/${name}`, true);
  await world.overlay.depot('d1').kill();
  await expect.poll(() => jobState(user, name)).toBe('waiting');
  await world.overlay.restartDepot('d1');
  // Two resumptions that are refused would cost Firefox the bytes, and one of some kinds Chromium.
  await expect.poll(() => jobTries(user, name)).toBeGreaterThan(1);
  await user.goto(user.addonPage('popup.html'));
  await expect.poll(() => user.text('#downloads')).toMatch(/What is on disk is kept; it is tried again/);
  const before = requestsOf(world, name).length;
  world.origin.setAway(`/files/${name}`, false);
  await user.click('.go-on');
  await expectFile(user, name);
  expectNoByteTwice(world, name, before);
});

test('a download goes on although the background was unloaded while it waited', async ({ user, world }) => {
  const name = 'large-asleep.bin';
  await begin(user, world, name);
  const before = requestsOf(world, name).length;
  await world.overlay.depot('d1').kill();
  await expect.poll(() => jobState(user, name)).toBe('waiting');
  await user.goto('about:blank');
  await user.unloadBackground();
  await world.overlay.restartDepot('d1');
  // Nobody asks the add-on: its alarm wakes it, half a minute later.
  await expectFile(user, name, name, { timeout: 60_000 });
  expectNoByteTwice(world, name, before);
});

test('a download goes on although the background was unloaded while it changed places', async ({
  user,
  world,
}) => {
  test.skip(user.kind === 'firefox', 'there it takes a moment, and the original has ended before');
  // So slow that the new download is on trial for ten seconds, while the original is paused.
  await clickLink(user, world, '/slow/d1/large-unloaded.bin');
  await expect.poll(() => jobState(user, 'large-unloaded.bin')).toBe('starting');
  await user.goto('about:blank');
  await user.unloadBackground();
  await expectFile(user, 'large-unloaded.bin', 'large-unloaded.bin', { timeout: 80_000 });
});

test('a download whose entry depot does not come back ends through other depots', async ({ user, world }) => {
  await begin(user, world, 'large-entryless.bin');
  const before = requestsOf(world, 'large-entryless.bin').length;
  await world.overlay.depot('d1').kill();
  await expectFile(user, 'large-entryless.bin', 'large-entryless.bin', { timeout: 60_000 });
  await world.overlay.restartDepot('d1');
  const after = requestsOf(world, 'large-entryless.bin').slice(before);
  // The browser itself has not asked the origin again.
  expect(after).not.toHaveLength(0);
  expect(after.every(({ headers }) => headers.via?.includes('longhaul-d2'))).toBe(true);
  // Chromium cannot leave the address it was led to: what was on disk stood until the new download had more.
  if (user.kind === 'firefox') expectNoByteTwice(world, 'large-entryless.bin', before);
});

test('a file of which the site states another digest comes once over other depots, and then from the site', async ({
  user,
  world,
}) => {
  const name = 'large-misstated.bin';
  const path = `/misstated/${name}`;
  await clickLink(user, world, path);
  await expectFile(user, name, name, { timeout: 60_000 });
  const asked = world.origin.requests.filter(({ url }) => url === path).map(({ headers }) => headers.via);
  for (const depot of ['d1', 'd2'])
    expect(asked.some((via) => via?.includes(`longhaul-${depot}`))).toBe(true);
  expect(asked.at(-1)).toBeUndefined();
  expect(world.origin.sentBytes(path).toDepots).toBeLessThan(2.5 * LARGE_BYTES);
  await expect.poll(() => isLookedAfter(user, name)).toBe(true);
});

test('what is paused when the add-on is switched off goes on at the site, and no master is asked for it', async ({
  user,
  world,
}) => {
  test.skip(user.kind === 'chromium', 'there it goes on at the depot that it was led to');
  const name = 'huge-switched-off.bin';
  await begin(user, world, name);
  const id = await user.addonCall<number>(
    `const [download] = await browser.downloads.search({ query: [args[0]], state: 'in_progress' });
    await browser.downloads.pause(download.id);
    return download.id;`,
    name,
  );
  const before = requestsOf(world, name).length;
  await changeSettings(user, { enabled: false });
  const rules =
    'return (await browser.declarativeNetRequest.getSessionRules()).map(({ action }) => action.type)';
  await expect.poll(() => user.addonCall<string[]>(rules)).not.toContain('redirect');
  await user.addonCall('browser.downloads.resume(args[0])', id);
  await expectFile(user, name);
  const after = requestsOf(world, name).slice(before);
  expect(after.map(({ headers }) => headers.via)).toEqual(after.map(() => undefined));
  expectNoByteTwice(world, name, before);
  await changeSettings(user, { enabled: true });
});

async function begin(user: TestBrowser, world: World, name: string): Promise<void> {
  await beginThroughDepots(user, world, `/files/${name}`, ON_DISK_BYTES);
}

async function isHealthy({ overlay }: World): Promise<boolean> {
  const { port } = new URL(overlay.master.url);
  const answer = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
  return answer?.ok ?? false;
}

function requestsOf(world: World, name: string) {
  return world.origin.requests.filter(({ url }) => url === `/files/${name}`);
}

/** Proves by the origin's requests that nobody asked for what was on disk. */
function expectNoByteTwice(world: World, name: string, before: number): void {
  const starts = firstBytesOf(requestsOf(world, name).slice(before));
  expect(starts.length).toBeGreaterThan(0);
  for (const start of starts) expect(start).toBeGreaterThan(ON_DISK_BYTES / 2);
}
