import type { TestBrowser } from '../../browsers/browser.ts';
import { launchBrowser } from '../../browsers/launch-browser.ts';
import { backgroundStands, changeSettings, tunnelTo } from '../../fixtures/ask-addon.ts';
import { clickLink, expectFile, expectOnDisk } from '../../fixtures/download-checks.ts';
import { startOfficeProxy } from '../../fixtures/office-proxy.ts';
import { openOptions } from '../../fixtures/options-page.ts';
import { FILE_BYTES } from '../../fixtures/origin-content.ts';
import { expect, test } from '../../fixtures/test.ts';
import type { World } from '../../fixtures/world.ts';

test.use({
  worldSpec: { secure: true },
  // A question to the user that no test can answer.
  browserSpec: { firefoxPrefs: { 'extensions.webextOptionalPermissionPrompts': false } },
});

/** Chooses sites for a tunnel, as a user does. */
async function choose(user: TestBrowser, sites: readonly string[]): Promise<void> {
  await openOptions(user);
  await user.evaluate("document.getElementById('sites-tunnel').value = args[0]", sites.join('\n'));
  await user.click('button[type=submit]');
  await expect.poll(() => user.text('#saved')).toBe('Saved');
}

/** Chooses the origin, and visits it until a tunnel stands; on a busy machine a depot may seem silent at first. */
async function standTunnel(user: TestBrowser, world: World): Promise<void> {
  await expect
    .poll(
      async () => {
        await choose(user, []);
        await choose(user, ['origin.test']);
        await user.goto(`${world.originUrl}/page`);
        return tunnelTo(user, world.originUrl);
      },
      { timeout: 60_000 },
    )
    .toEqual(['d1', 'd3']);
}

/** What the last depot has sent on, also through tunnels that stay open: Chromium keeps them for the next request. */
const tunnelled = (world: World) =>
  world.overlay.metric('d3', 'longhaul_depot_leg_bytes_total', { leg: 'depot', kind: 'sent' });
const relayed = (world: World) => world.overlay.metric('d1', 'longhaul_depot_body_bytes_total');

/** The jobs of the tunnels that have ended at the last depot, of those that brought so many bytes. */
const tunnelJobs = (world: World, leastBytes = 0) =>
  world
    .logOf('d3')
    .split('\n')
    .filter((line) => line.includes('"msg":"tunnel"'))
    .map((line) => JSON.parse(line) as { readonly jobId: string; readonly bytesDown: number })
    .filter(({ bytesDown }) => bytesDown >= leastBytes)
    .map(({ jobId }) => jobId);

test.afterEach(({ user }) => changeSettings(user, { sitesTunnel: [] }));

test('a file behind a login comes whole through depots, which see neither address nor login', async ({
  user,
  world,
}) => {
  await standTunnel(user, world);
  const before = { tunnelled: await tunnelled(world), relayed: await relayed(world) };
  await clickLink(user, world, '/members/behind-a-login.bin');
  await expectFile(user, 'behind-a-login.bin');
  await expect.poll(async () => (await tunnelled(world)) - before.tunnelled).toBeGreaterThan(FILE_BYTES);
  expect(await relayed(world)).toBe(before.relayed);
  await expect.poll(() => tunnelTo(user, world.originUrl)).toEqual(['d1', 'd3']);
  const asked = world.origin.requests.filter(({ url }) => url === '/members/behind-a-login.bin');
  expect(asked.map(({ headers }) => [headers.via, headers.cookie])).toEqual([[undefined, 'member=1']]);
  for (const service of ['master', 'd1', 'd2', 'd3']) {
    expect(world.logOf(service), service).not.toMatch(/\/members|behind-a-login|link=/);
  }
});

test('a download that the browser begins by itself comes through a tunnel that no page has used', async ({
  user,
  world,
}) => {
  test.setTimeout(180_000);
  await standTunnel(user, world);
  const name = 'begun-by-itself.bin';
  await world.overlay.depot('d1').kill();
  // The next tunnel is over another depot, which the browser has never shown a ticket. Where master or depot
  // are late, they are asked again half a minute later.
  let visit = 0;
  await expect
    .poll(
      async () => {
        visit += 1;
        await user.goto(`${world.originUrl}/page?link=/visit-${visit}`);
        return tunnelTo(user, world.originUrl);
      },
      { timeout: 75_000 },
    )
    .toEqual(['d2', 'd3']);
  const before = await tunnelled(world);
  const url = `${world.originUrl}/attachment/${name}`;
  await user.addonCall('await (globalThis.browser ?? chrome).downloads.download({ url: args[0] })', url);
  await expectFile(user, name);
  await expect.poll(async () => (await tunnelled(world)) - before).toBeGreaterThan(FILE_BYTES);
  await world.overlay.restartDepot('d1');
});

test('a download that Chromium begins by itself comes by the newest ticket, though the one before is still good there', async ({
  user,
  world,
}) => {
  test.skip(user.kind === 'firefox', 'Firefox asks the add-on for the ticket of each request');
  const name = 'by-the-newest.bin';
  const activeAt = (depot: string) => world.overlay.metric(depot, 'longhaul_depot_active');
  const active = () => activeAt('d3');
  // Other downloads' tunnels may rest there, some of them over d1.
  const others = (await active()) - (await activeAt('d1'));
  await standTunnel(user, world);
  await user.goto(`${world.originUrl}/page?link=/by-the-older`);
  await choose(user, []);
  // A master that does not remember its plan, and no connection by the older ticket.
  await world.overlay.master.kill();
  await world.overlay.restartMaster();
  await world.overlay.depot('d1').kill();
  await expect.poll(active).toBeLessThanOrEqual(others);
  const older = tunnelJobs(world);
  const broughtBefore = tunnelJobs(world, FILE_BYTES).length;
  const brought = () => tunnelJobs(world, FILE_BYTES).slice(broughtBefore);
  await world.overlay.restartDepot('d1');
  await standTunnel(user, world);
  const url = `${world.originUrl}/attachment/${name}`;
  await user.addonCall('await (globalThis.browser ?? chrome).downloads.download({ url: args[0] })', url);
  await expectFile(user, name);
  await choose(user, []);
  await world.overlay.depot('d1').kill();
  await expect.poll(active).toBeLessThanOrEqual(others);
  await expect.poll(brought).not.toEqual([]);
  for (const job of brought()) expect(older).not.toContain(job);
  await world.overlay.restartDepot('d1');
});

test('what was not chosen comes directly, and so does a site as soon as it is not chosen any more', async ({
  user,
  world,
}) => {
  await standTunnel(user, world);
  const before = await tunnelled(world);
  await user.goto(`${world.privateUrl}/page?link=/files/not-chosen.bin`);
  await user.click('#link');
  await expectFile(user, 'not-chosen.bin');
  await expect.poll(() => tunnelTo(user, world.privateUrl)).toBeUndefined();
  await changeSettings(user, { sitesTunnel: [] });
  await clickLink(user, world, '/members/no-more.bin');
  await expectFile(user, 'no-more.bin');
  await expect.poll(() => tunnelTo(user, world.originUrl)).toBeUndefined();
  expect((await tunnelled(world)) - before).toBeLessThan(FILE_BYTES);
});

test('a tunnel whose entry depot dies is left at once, and a download in it goes on with the bytes that it has', async ({
  user,
  world,
}) => {
  const name = 'large-left-behind.bin';
  await standTunnel(user, world);
  await clickLink(user, world, `/personal/vary=Cookie/${name}`);
  await expectOnDisk(user, name, 3_000_000);
  await world.overlay.depot('d1').kill();
  await expectFile(user, name);
  await expect.poll(() => tunnelTo(user, world.originUrl)).not.toEqual(['d1', 'd3']);
  await user.goto(`${world.originUrl}/page?link=/alive`);
  await expect.poll(() => user.text('#link')).toBe('the file');
  await world.overlay.restartDepot('d1');
});

test('a background that was just woken gives a depot its ticket, and a script that the browser kept leads to no question and no dead end', async ({
  user,
  world,
}) => {
  test.skip(user.kind === 'firefox', 'Firefox keeps no script, and asks the add-on for each request');
  await standTunnel(user, world);
  await user.unloadBackground();
  await user.goto(`${world.originUrl}/page?link=/woken`);
  await expect.poll(() => user.text('#link')).toBe('the file');
  await expect.poll(() => tunnelTo(user, world.originUrl)).toBeInstanceOf(Array);
  await choose(user, ['private.test']);
  await world.overlay.master.kill();
  // As a browser has it that ended while a tunnel stood.
  const [server, depot] = [world.privateUrl, new URL(world.overlay.depot('d2').url).host];
  const script = `function FindProxyForURL(url) { return url.startsWith('${server}/') ? 'HTTPS ${depot}; DIRECT' : 'DIRECT'; }`;
  await user.addonCall(
    "await chrome.proxy.settings.set({ scope: 'regular_only', value: { mode: 'pac_script', pacScript: { data: args[0] } } })",
    script,
  );
  // It fails first, and comes when the add-on has asked for it again.
  await user.goto(`${server}/page?link=/kept`).catch(() => undefined);
  await expect.poll(() => user.text('#link')).toBe('the file');
  await world.overlay.restartMaster();
});

test('without a master a site that was chosen comes directly', async ({ user, world }) => {
  await choose(user, ['private.test']);
  await world.overlay.master.kill();
  await user.goto(`${world.privateUrl}/page?link=/members/without-a-master.bin`);
  await user.click('#link');
  await expectFile(user, 'without-a-master.bin');
  await expect
    .poll(async () => {
      await user.goto(`${world.privateUrl}/page`);
      return tunnelTo(user, world.privateUrl);
    })
    .toBe('master-silent');
  await world.overlay.restartMaster();
});

test('where the system has a proxy Chromium leads nothing past it, and says why', async ({ user, world }) => {
  test.skip(user.kind === 'firefox', 'Firefox leads the sites alone that were chosen');
  test.skip(process.platform !== 'linux', 'elsewhere no environment names the proxy of the system');
  const proxy = await startOfficeProxy(world.hosts);
  const colleague = await launchBrowser('chromium', {
    addonDir: await world.buildAddon('chromium'),
    hosts: world.hosts,
    nameServer: world.nameServer,
    ...(world.ca ? { trustedCa: world.ca } : {}),
    systemProxy: proxy.address,
  });
  try {
    await backgroundStands(colleague);
    await choose(colleague, ['origin.test']);
    await expect
      .poll(async () => {
        await colleague.goto(`${world.originUrl}/page`);
        return tunnelTo(colleague, world.originUrl);
      })
      .toBe('system-proxy');
    expect(proxy.asked).toContain(new URL(world.originUrl).host);
    const set = await colleague.addonCall<{ levelOfControl: string }>('return chrome.proxy.settings.get({})');
    expect(set.levelOfControl).toBe('controllable_by_this_extension');
  } finally {
    await colleague.close();
    await proxy.close();
  }
});
