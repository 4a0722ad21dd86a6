import { parseOriginUrl } from '@longhaul/shared';
import { beforeEach, describe, expect, it } from 'vitest';
import type { PlanReply } from '../ask/ask-master.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { plan } from '../testing/plan.ts';
import { settings } from '../testing/settings.ts';
import type { StandingTunnel } from './leads.ts';
import { type TunnelDependencies, Tunnels } from './tunnels.ts';

type Proxy = StandingTunnel['tunnel']['proxy'];

const FILE = 'https://members.example/files/a.iso?token=1#part';
const NOW_MS = Date.UTC(2026, 10, 21);
const MINUTE_MS = 60_000;

let nowMs: number;
/** How far the client's clock is ahead of the master's. */
let aheadMs: number;
/** How long a plan may wait for its first request. */
let startMs: number;
/** What the master was asked. */
let asked: { url: string; avoid?: readonly string[] | undefined }[];
let greeted: string[];
let standing: readonly StandingTunnel[];
/** Whether a tunnel has stood at any time. */
let hasStood: boolean;
let wanted: ReturnType<typeof settings>;
let reply: (url: string, avoid: readonly string[]) => PlanReply | Promise<PlanReply>;
let isThere: boolean;
/** Lets the time pass that a request is held for at most. */
let holdIsOver: () => void;

const tunnelPlan = (url: string, entry = 'd1', patch: object = {}): PlanReply => {
  const parsed = parseOriginUrl(url);
  if (!parsed.ok) throw parsed.error;
  const { host, port } = parsed.value;
  const answeredAtMs = nowMs - aheadMs;
  return {
    result: 'plan',
    plan: plan({
      jobId: `job-${asked.length}`,
      masterUrl: `https://master.example/get/https/${host}:${port}/`,
      location: `https://${entry}.example:7000`,
      chain: [entry, 'd3'],
      ticket: `ticket-${asked.length}`,
      answeredAt: new Date(answeredAtMs).toISOString(),
      startBefore: new Date(answeredAtMs + startMs).toISOString(),
      ticketEnds: new Date(answeredAtMs + 24 * 60 * MINUTE_MS).toISOString(),
      ...patch,
    }),
  };
};

const tunnels = (patch: Partial<TunnelDependencies> = {}) =>
  new Tunnels({
    area: memoryArea(),
    settings: async () => wanted,
    mayLead: async () => true,
    takesProxies: async () => false,
    askMaster: async (_master, { url, avoid }) => {
      asked.push({ url, ...(avoid ? { avoid } : {}) });
      return reply(url, avoid ?? []);
    },
    greetDepot: async (location) => {
      greeted.push(location);
      return isThere;
    },
    deadline: () => new AbortController().signal,
    now: () => nowMs,
    pause: () =>
      new Promise((over) => {
        holdIsOver = over;
      }),
    isOneServerPerDepot: false,
    changed: async (now) => {
      standing = now;
      hasStood ||= now.length > 0;
    },
    introduce: async () => 'needless',
    ...patch,
  });

beforeEach(() => {
  nowMs = NOW_MS;
  aheadMs = 0;
  startMs = 10 * MINUTE_MS;
  asked = [];
  greeted = [];
  standing = [];
  hasStood = false;
  wanted = settings({ sitesTunnel: ['members.example'] });
  reply = (url, avoid) => tunnelPlan(url, avoid.includes('d1') ? 'd2' : 'd1');
  isThere = true;
});

describe('where others would lose a proxy that they need', () => {
  let isTaken: boolean;
  let introduced: string[];
  const chromium = () =>
    tunnels({
      isOneServerPerDepot: true,
      takesProxies: async () => isTaken,
      introduce: async ({ server }) => {
        introduced.push(server);
        return 'begun';
      },
    });

  beforeEach(() => {
    isTaken = true;
    introduced = [];
  });

  it('nothing is led, nor introduced, and the popup says why', async () => {
    const all = chromium();
    await all.prepare(FILE);
    expect(await all.viewOf(FILE)).toEqual({ why: 'system-proxy' });
    expect([introduced, hasStood]).toEqual([[], false]);
    await all.prepare(FILE);
    nowMs += 4 * MINUTE_MS;
    await all.prepare(FILE);
    expect(asked, 'not again within five minutes').toHaveLength(1);
  });

  it('another network is asked about anew', async () => {
    const all = chromium();
    await all.prepare(FILE);
    isTaken = false;
    await all.rest();
    await all.prepare(FILE);
    expect(standing).toHaveLength(1);
    isTaken = true;
    await all.rest();
    await all.prepare(FILE);
    expect(standing, 'the tunnel of before').toEqual([]);
    expect(await all.viewOf(FILE)).toEqual({ why: 'system-proxy' });
  });
});

describe('a tunnel', () => {
  it('is planned once for each server of a chosen site, and tells the master nothing of the path', async () => {
    const all = tunnels();
    const [one, other] = await Promise.all([all.wayFor(FILE), all.wayFor('https://members.example/page')]);
    expect(one).toMatchObject({ chain: ['d1', 'd3'], proxy: { host: 'd1.example', port: 7000 } });
    expect(other).toEqual(one);
    expect((await all.wayFor('https://cdn.members.example:8443/x'))?.jobId).not.toBe(one?.jobId);
    expect(asked.map(({ url }) => url)).toEqual([
      'https://members.example/',
      'https://cdn.members.example:8443/',
    ]);
    expect(standing.map(({ server }) => server)).toEqual([
      'https://members.example:443',
      'https://cdn.members.example:8443',
    ]);
  });

  it('leads nothing before the browser knows it, and nothing at all where it was taken back meanwhile', async () => {
    const known = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const introduced: string[] = [];
    const all = tunnels({
      introduce: async ({ server, tunnel }) => {
        introduced.push(`${server} ${tunnel.proxy.host}`);
        await known[introduced.length - 1]?.promise;
        return 'needless';
      },
    });
    const way = all.wayFor(FILE);
    await expect.poll(() => introduced).toEqual(['https://members.example:443 d1.example']);
    expect(hasStood).toBe(false);
    known[0]?.resolve();
    expect(await way).toMatchObject({ chain: ['d1', 'd3'] });
    expect(standing).toMatchObject([{ server: 'https://members.example:443' }]);
    const other = all.wayFor('https://cdn.members.example/');
    await expect.poll(() => introduced).toHaveLength(2);
    wanted = settings();
    await all.look();
    known[1]?.resolve();
    expect(await other).toBeUndefined();
    expect(standing).toEqual([]);
  });

  it('is not led through a depot that did not take its ticket, but through another one, or directly', async () => {
    const introducing = (takes: (entry: string) => boolean) =>
      tunnels({ introduce: async ({ tunnel }) => (takes(tunnel.proxy.host) ? 'begun' : 'failed') });
    const other = introducing((entry) => entry === 'd2.example');
    await other.prepare(FILE);
    expect(await other.viewOf(FILE)).toEqual({ chain: ['d2', 'd3'] });
    const none = introducing(() => false);
    await none.prepare(FILE);
    expect(await none.viewOf(FILE)).toEqual({ why: 'depot-silent' });
    expect(standing).toEqual([]);
  });

  it('stands after its first minutes once its depot has taken its ticket, and is planned once in half an hour', async () => {
    const all = tunnels({ isOneServerPerDepot: true, introduce: async () => 'begun' });
    await all.prepare(FILE);
    const [first] = standing;
    expect(first?.untilMs).toBe(nowMs + 60 * MINUTE_MS);
    for (let minute = 0; minute < 29; minute += 1) {
      nowMs += MINUTE_MS;
      await all.prepare(FILE);
    }
    expect(asked).toHaveLength(1);
    expect(standing).toEqual([first]);
  });

  it('stands no more when nobody has asked for it lately, though the background slept, until somebody does', async () => {
    const area = memoryArea();
    const wakeUps: number[] = [];
    const told: (readonly StandingTunnel[])[] = [];
    const chromium = {
      area,
      isOneServerPerDepot: true,
      introduce: async () => 'begun' as const,
      wakeAt: (timeMs: number) => void wakeUps.push(timeMs),
      changed: async (now: readonly StandingTunnel[]) => void told.push(now),
    };
    const before = tunnels(chromium);
    await before.prepare(FILE);
    expect(wakeUps.at(-1)).toBe(NOW_MS + 60 * MINUTE_MS);
    nowMs += 31 * MINUTE_MS;
    await before.prepare(FILE);
    await expect.poll(() => wakeUps.at(-1)).toBe(NOW_MS + 91 * MINUTE_MS);
    const times = told.length;
    await before.wake();
    expect(told, 'nothing has ended yet').toHaveLength(times);
    expect(wakeUps.at(-1)).toBe(NOW_MS + 91 * MINUTE_MS);
    nowMs = wakeUps.at(-1) ?? 0;
    await before.wake();
    expect(told.at(-1)).toEqual([]);
    expect(wakeUps.at(-1)).toBe(Number.POSITIVE_INFINITY);
    const woken = tunnels(chromium);
    await woken.look();
    expect(told.at(-1)).toEqual([]);
    await woken.prepare(FILE);
    await expect.poll(() => told.at(-1)).toMatchObject([{ server: 'https://members.example:443' }]);
  });

  it('stands no more when its ticket is over, whoever asked for it last', async () => {
    const wakeUps: number[] = [];
    const all = tunnels({ wakeAt: (timeMs) => void wakeUps.push(timeMs) });
    await all.prepare(FILE);
    expect(wakeUps.at(-1)).toBe(NOW_MS + 9 * MINUTE_MS);
    nowMs += 9 * MINUTE_MS;
    await all.wake();
    expect(standing).toEqual([]);
  });

  it('does not stand on another network until somebody asks for it, which asks the master anew', async () => {
    const all = tunnels({ isOneServerPerDepot: true, introduce: async () => 'begun' });
    await all.prepare(FILE);
    await all.rest();
    expect(standing).toEqual([]);
    await all.look();
    expect(standing).toEqual([]);
    await all.prepare(FILE);
    await expect.poll(() => standing).toHaveLength(1);
    expect(asked).toHaveLength(2);
  });

  it('shows a depot no ticket a second time that the browser shows as it is', async () => {
    const introduced: string[] = [];
    const all = tunnels({
      isOneServerPerDepot: true,
      introduce: async ({ tunnel }) => {
        introduced.push(tunnel.jobId);
        return 'begun';
      },
    });
    // A master gives it again to who asks twice within a minute.
    reply = (url) => tunnelPlan(url, 'd1', { jobId: 'job-same' });
    await all.prepare(FILE);
    const wish = wanted;
    wanted = settings();
    await all.look();
    expect(standing).toEqual([]);
    wanted = wish;
    await all.look();
    await all.prepare(FILE);
    expect(standing).toHaveLength(1);
    expect(introduced).toEqual(['job-same']);
  });

  it('is planned anew before its ticket is over that nothing has shown, and stands meanwhile', async () => {
    const all = tunnels();
    await all.prepare(FILE);
    const [first] = standing;
    nowMs = (first?.untilMs ?? 0) - 60_000;
    const before = asked.length;
    await all.prepare(FILE);
    await expect.poll(() => asked.length).toBe(before + 1);
    await expect.poll(() => standing[0]?.tunnel.jobId).not.toBe(first?.tunnel.jobId);
    expect(standing[0]?.untilMs).toBeGreaterThan(nowMs);
  });

  it.each([
    ['a site that was not chosen', 'https://other.example/', {}],
    ['a site whose name only ends as a chosen one', 'https://not-members.example/', {}],
    ['what is not encrypted', 'http://members.example/', {}],
    ['the master itself', 'https://master.example/', { sitesTunnel: ['example'] }],
    ['a site that is also under never', FILE, { sitesOff: ['members.example'] }],
    ['any site while it is off, or nobody has consented', FILE, { enabled: false }],
    ['any site without a master', FILE, { master: '' }],
  ])('is never asked for to %s', async (_what, url, patch) => {
    wanted = settings({ sitesTunnel: ['members.example'], ...patch });
    expect(await tunnels().wayFor(url)).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it('is not asked for while the browser does not let the add-on set proxies', async () => {
    expect(await tunnels({ mayLead: async () => false }).wayFor(FILE)).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it('never leads the master, or anybody, to a private host', async () => {
    wanted = settings({ sitesTunnel: ['files.corp'] });
    const all = tunnels();
    expect(await all.wayFor('https://files.corp/a')).toBeUndefined();
    expect(asked).toEqual([]);
    expect(await all.viewOf('https://files.corp/')).toEqual({ why: 'private-host' });
  });

  it.each([
    ['direct-is-best', { decision: 'direct' }],
    ['insecure-chain', { location: 'http://d1.example:7000' }],
    ['plan-unfit', { location: 'https://10.0.0.1:7000' }],
    ['plan-unfit', { ticket: undefined }],
    ['plan-unfit', { startBefore: 'soon' }],
    ['plan-unfit', { masterUrl: 'https://master.example/get/https/elsewhere.example:443/' }],
    ['master-elsewhere', { masterUrl: 'https://liar.example/get/https/members.example:443/' }],
  ])('is not built by a plan that is %s: %j', async (why, patch) => {
    reply = (url) => tunnelPlan(url, 'd1', patch);
    const all = tunnels();
    expect(await all.wayFor(FILE)).toBeUndefined();
    expect(await all.viewOf(FILE)).toEqual({ why });
    expect(greeted).toEqual([]);
  });

  it('outlives the background that planned it', async () => {
    const area = memoryArea();
    const before = await tunnels({ area }).wayFor(FILE);
    expect(await tunnels({ area }).wayFor(FILE)).toEqual(before);
    expect(asked).toHaveLength(1);
  });

  it('is given up when the browser knows it, not before', async () => {
    const known = Promise.withResolvers<void>();
    let isHeld = false;
    const all = tunnels({ changed: () => (isHeld ? known.promise : Promise.resolve()) });
    await all.wayFor(FILE);
    isHeld = true;
    isThere = false;
    let isOver = false;
    const failed = all.failed(FILE, true).then(() => {
      isOver = true;
    });
    await expect.poll(() => asked.length).toBe(2);
    expect(isOver).toBe(false);
    known.resolve();
    await failed;
    expect(isOver).toBe(true);
  });

  it('is given up as soon as its site is not chosen any more', async () => {
    const all = tunnels();
    await all.wayFor(FILE);
    wanted = settings();
    await all.look();
    expect(standing).toEqual([]);
    expect(await all.wayFor(FILE)).toBeUndefined();
  });
});

describe.each([
  ['the master is another one', { master: 'https://other.example' }],
  ['its private host is not permitted any more', { privateHosts: [] }],
  ['its site is not chosen any more', { sitesTunnel: [] }],
  ['the add-on is off', { enabled: false }],
])('as soon as %s', (_why, patch) => {
  const CORP = 'https://files.corp/a';
  beforeEach(() => {
    wanted = settings({ sitesTunnel: ['files.corp', 'example'], privateHosts: ['files.corp'] });
  });

  it('a tunnel is given up', async () => {
    const all = tunnels();
    expect(await all.wayFor(CORP)).toBeDefined();
    wanted = { ...wanted, ...patch };
    await all.look();
    expect(standing).toEqual([]);
    reply = () => ({ result: 'silent' });
    expect(await all.wayFor(CORP)).toBeUndefined();
  });

  it('a tunnel that is on its way to be planned does not stand any more', async () => {
    const answer = Promise.withResolvers<PlanReply>();
    const first = Promise.withResolvers<void>();
    reply = () => {
      first.resolve();
      return answer.promise;
    };
    const all = tunnels();
    const way = all.wayFor(CORP);
    await first.promise;
    wanted = { ...wanted, ...patch };
    await all.look();
    answer.resolve(tunnelPlan('https://files.corp/'));
    expect(await way).toBeUndefined();
    expect(hasStood).toBe(false);
  });

  it('a request that waits for the entry depot goes directly', async () => {
    const greeting = Promise.withResolvers<boolean>();
    const all = tunnels({ greetDepot: () => greeting.promise });
    const way = all.wayFor(CORP);
    await expect.poll(() => standing.length).toBe(1);
    wanted = { ...wanted, ...patch };
    await all.look();
    greeting.resolve(true);
    expect(await way).toBeUndefined();
  });

  it('the master is not asked for a tunnel over another entry depot', async () => {
    const answer = Promise.withResolvers<PlanReply>();
    const all = tunnels({ isOneServerPerDepot: true });
    await all.wayFor('https://a.example/');
    reply = () => answer.promise;
    const way = all.wayFor(CORP);
    await expect.poll(() => asked.length).toBe(2);
    wanted = { ...wanted, ...patch };
    await all.look();
    answer.resolve(tunnelPlan('https://files.corp/'));
    expect(await way).toBeUndefined();
    expect(asked).toHaveLength(2);
  });
});

describe('a private host', () => {
  it('has a tunnel as soon as the user permits it', async () => {
    wanted = settings({ sitesTunnel: ['files.corp'] });
    const all = tunnels();
    await all.wayFor('https://files.corp/a');
    wanted = { ...wanted, privateHosts: ['files.corp'] };
    await all.look();
    expect(await all.wayFor('https://files.corp/a')).toMatchObject({ chain: ['d1', 'd3'] });
  });

  it('is no entry depot any more as soon as the user does not permit it', async () => {
    wanted = { ...wanted, privateHosts: ['10.0.0.1'] };
    reply = (url) => tunnelPlan(url, 'd1', { location: 'https://10.0.0.1:7000' });
    const all = tunnels();
    expect(await all.wayFor(FILE)).toMatchObject({ proxy: { host: '10.0.0.1' } });
    wanted = { ...wanted, privateHosts: [] };
    await all.look();
    expect(standing).toEqual([]);
  });
});

describe('a request', () => {
  it('does not wait for a silent master, and the next ones do not wait at all', async () => {
    const answer = Promise.withResolvers<PlanReply>();
    reply = () => answer.promise;
    const all = tunnels();
    const way = all.wayFor(FILE);
    await expect.poll(() => asked.length).toBe(1);
    holdIsOver();
    expect(await way).toBeUndefined();
    answer.resolve({ result: 'silent' });
    await expect.poll(() => all.viewOf(FILE)).toEqual({ why: 'master-silent' });
    expect(await all.wayFor(FILE)).toBeUndefined();
    expect(asked).toHaveLength(1);
  });

  it('does not wait for a silent entry depot', async () => {
    const all = tunnels({ greetDepot: () => new Promise(() => undefined) });
    const way = all.wayFor(FILE);
    await expect.poll(() => standing.length).toBe(1);
    holdIsOver();
    expect(await way).toBeUndefined();
  });

  it('goes directly at once when the entry depot is gone, then over another one', async () => {
    const all = tunnels();
    await all.wayFor(FILE);
    nowMs += 10_000;
    isThere = false;
    expect(await all.wayFor(FILE)).toBeUndefined();
    isThere = true;
    await expect.poll(() => all.viewOf(FILE)).toEqual({ chain: ['d2', 'd3'] });
    expect(asked.at(-1)).toEqual({ url: 'https://members.example/', avoid: ['d1'] });
    expect((await all.wayFor(FILE))?.proxy.host).toBe('d2.example');
  });

  it.each(['nothing', 'only that there is none'])(
    'that fails at a proxy is asked again when the browser leads nothing there any more, where %s is known of a tunnel',
    async (known) => {
      const cleared = Promise.withResolvers<void>();
      let isKept = false;
      const all = tunnels({ changed: () => (isKept ? cleared.promise : Promise.resolve()) });
      reply = () => ({ result: 'silent' });
      if (known !== 'nothing') await all.wayFor(FILE);
      isKept = true;
      let isOver = false;
      const failed = all.failed(FILE, true).finally(() => {
        isOver = true;
      });
      await expect.poll(() => all.viewOf('https://other.example/')).toBeUndefined();
      expect(isOver).toBe(false);
      cleared.resolve();
      expect(await failed).toBe(true);
    },
  );

  it.each(['planned', 'introduced'])(
    'never goes by a plan over an entry depot that was given up while it was %s',
    async (stage) => {
      const held = Promise.withResolvers<void>();
      const led: string[] = [];
      let isHeld = false;
      const hold = (at: string) => (isHeld && at === stage ? held.promise : Promise.resolve());
      const all = tunnels({
        introduce: async () => {
          await hold('introduced');
          return 'needless';
        },
        changed: async (now) => void led.push(...now.map(({ tunnel }) => tunnel.jobId)),
      });
      const first = await all.wayFor(FILE);
      isHeld = true;
      reply = async (url, avoid) => {
        if (avoid.length === 0) await hold('planned');
        return tunnelPlan(url, avoid.includes('d1') ? 'd2' : 'd1');
      };
      nowMs += 31 * MINUTE_MS;
      await all.wayFor(FILE);
      await expect.poll(() => asked.length).toBe(2);
      expect(await all.failed(FILE, true)).toBe(true);
      isHeld = false;
      held.resolve();
      await expect.poll(() => all.viewOf(FILE)).toEqual({ chain: ['d2', 'd3'] });
      expect(asked.slice(1)).toEqual([
        { url: 'https://members.example/' },
        { url: 'https://members.example/', avoid: ['d1'] },
      ]);
      expect(new Set(led)).toEqual(new Set([first?.jobId, (await all.wayFor(FILE))?.jobId]));
    },
  );

  it('asks the entry depot for a word only when it has shown nothing for seconds', async () => {
    const all = tunnels();
    await all.wayFor(FILE);
    await all.wayFor(FILE);
    nowMs += 4_000;
    await all.answered(FILE, { host: 'd1.example', port: 7000 });
    nowMs += 4_000;
    await all.wayFor(FILE);
    expect(greeted).toEqual(['https://d1.example:7000/']);
    nowMs += 4_000;
    await all.wayFor(FILE);
    expect(greeted).toHaveLength(2);
  });

  it('that Firefox led directly, past an entry depot that was not there, shows nothing of it', async () => {
    const all = tunnels();
    await all.wayFor(FILE);
    nowMs += 6_000;
    await all.answered(FILE, {});
    await all.wayFor(FILE);
    expect(greeted).toHaveLength(2);
  });

  it('that fails gives its tunnel up where the browser blames the proxy, or nobody is there', async () => {
    const all = tunnels();
    await all.wayFor(FILE);
    expect(await all.failed(FILE, false), 'the site itself').toBe(false);
    expect(await all.failed(FILE, true)).toBe(true);
    await expect.poll(() => all.viewOf(FILE)).toEqual({ chain: ['d2', 'd3'] });
    await all.wayFor(FILE);
    isThere = false;
    expect(await all.failed(FILE, false)).toBe(true);
    expect(await all.failed('https://other.example/', true)).toBe(false);
  });

  it('that fails at a proxy of which nothing is known any more goes directly, where its site is chosen', async () => {
    const all = tunnels();
    expect(await all.failed(FILE, true)).toBe(true);
    expect(await all.failed(FILE, false)).toBe(false);
    expect(await all.failed('https://other.example/', true)).toBe(false);
    reply = () => ({ result: 'silent' });
    await all.wayFor(FILE);
    expect(await all.failed(FILE, true), 'while the master is silent').toBe(true);
    expect(await all.failed(FILE, false)).toBe(false);
  });
});

describe.each([
  ['ten minutes ahead of', 10],
  ['a day ahead of', 24 * 60],
  ['ten minutes behind', -10],
  ['a day behind', -24 * 60],
])("where the clock is %s the master's", (_how, aheadMinutes) => {
  /** As Chromium's script, which leads nothing by what is over. */
  const chromium = () =>
    tunnels({
      isOneServerPerDepot: true,
      introduce: async ({ untilMs }) => (nowMs < untilMs ? 'begun' : 'failed'),
    });

  beforeEach(() => {
    aheadMs = aheadMinutes * MINUTE_MS;
  });

  it.each([600, 60, 5])('a tunnel is introduced that must begin within %i s, and stands', async (seconds) => {
    startMs = seconds * 1_000;
    await chromium().prepare(FILE);
    expect(standing).toMatchObject([{ tunnel: { proxy: { host: 'd1.example' } } }]);
    expect(standing[0]?.untilMs).toBe(nowMs + 60 * MINUTE_MS);
    expect(asked).toHaveLength(1);
  });

  it('a ticket is used as long as it is good, and no longer', async () => {
    const all = tunnels();
    await all.prepare(FILE);
    expect(standing[0]?.untilMs).toBe(nowMs + 9 * MINUTE_MS);
    expect((await all.wayFor(FILE))?.ticket).toBe('ticket-1');
    reply = () => ({ result: 'silent' });
    nowMs += (24 * 60 - 1) * MINUTE_MS - 1;
    expect((await all.wayFor(FILE))?.ticket).toBe('ticket-1');
    nowMs += 1;
    expect(await all.wayFor(FILE)).toBeUndefined();
  });
});

it('a tunnel goes by the own clock where the master tells no time', async () => {
  reply = (url) => tunnelPlan(url, 'd1', { answeredAt: undefined });
  const all = tunnels();
  await all.prepare(FILE);
  expect(standing[0]?.untilMs).toBe(nowMs + 9 * MINUTE_MS);
});

describe('a ticket', () => {
  it('that was not shown in its time to start is not used any more', async () => {
    const greeting = Promise.withResolvers<boolean>();
    const all = tunnels({ greetDepot: () => greeting.promise });
    const way = all.wayFor(FILE);
    await expect.poll(() => standing.length).toBe(1);
    holdIsOver();
    expect(await way).toBeUndefined();
    greeting.resolve(true);
    nowMs += 10 * MINUTE_MS;
    expect((await all.wayFor(FILE))?.ticket).toBe('ticket-2');
  });

  it('that was shown in its time to start is good after it', async () => {
    const all = tunnels();
    const first = await all.wayFor(FILE);
    nowMs += 12 * MINUTE_MS;
    expect(await all.wayFor(FILE)).toEqual(first);
    expect(asked).toHaveLength(1);
  });

  it('is shown in Chromium when its entry depot asks for it, and only then, there, and for its server', async () => {
    const area = memoryArea();
    const all = tunnels({ area, isOneServerPerDepot: true });
    const [d1, d2] = ['d1.example', 'd2.example'].map((host) => ({ host, port: 7000 })) as [Proxy, Proxy];
    await all.prepare(FILE);
    nowMs += 10 * MINUTE_MS;
    expect(await all.ticketFor(FILE, d1), 'it was not shown in time').toBeUndefined();
    await all.prepare(FILE);
    expect(await all.ticketFor(FILE, d1)).toBe('ticket-2');
    expect(await all.ticketFor(FILE, d2)).toBeUndefined();
    expect(await all.ticketFor(FILE, { ...d1, port: 443 })).toBeUndefined();
    expect(await all.ticketFor('https://cdn.members.example/', d1)).toBeUndefined();
    nowMs += 12 * MINUTE_MS;
    const woken = tunnels({ area, isOneServerPerDepot: true });
    expect(await woken.ticketFor(FILE, d1), 'a background that was just woken').toBe('ticket-2');
    await woken.prepare(FILE);
    expect(asked).toHaveLength(2);
  });

  it('that Chromium shows anyway stands while it is good', async () => {
    const all = tunnels({ isOneServerPerDepot: true });
    const d1 = { host: 'd1.example', port: 7000 };
    await all.prepare(FILE);
    await all.ticketFor(FILE, d1);
    nowMs += 31 * MINUTE_MS;
    await all.prepare(FILE);
    await expect.poll(() => asked.length).toBe(2);
    nowMs += 20 * MINUTE_MS;
    await all.prepare(FILE);
    expect(await all.ticketFor(FILE, d1)).toBe('ticket-1');
    expect(asked).toHaveLength(2);
  });

  it('that is in use is renewed meanwhile, and goes on while the master is away', async () => {
    const all = tunnels();
    const first = await all.wayFor(FILE);
    reply = () => ({ result: 'silent' });
    nowMs += 31 * MINUTE_MS;
    expect(await all.wayFor(FILE)).toEqual(first);
    await expect.poll(() => asked.length).toBe(2);
    reply = (url) => tunnelPlan(url);
    expect(await all.wayFor(FILE)).toEqual(first);
    expect(asked, 'not again within half a minute').toHaveLength(2);
    nowMs += MINUTE_MS;
    expect(await all.wayFor(FILE)).toEqual(first);
    await expect.poll(async () => (await all.wayFor(FILE))?.ticket).toBe('ticket-3');
  });

  it('is not used to its last minute', async () => {
    const all = tunnels();
    await all.wayFor(FILE);
    reply = () => ({ result: 'silent' });
    nowMs += (24 * 60 - 1) * MINUTE_MS;
    expect(await all.wayFor(FILE)).toBeUndefined();
  });

  it('is given to a depot for one server alone in Chromium, which would give it again for another', async () => {
    wanted = settings({ sitesTunnel: ['example'] });
    const all = tunnels({ isOneServerPerDepot: true });
    await all.wayFor('https://a.example/');
    await all.wayFor('https://b.example/');
    await all.wayFor('https://c.example/');
    expect(standing.map(({ tunnel }) => tunnel.proxy.host)).toEqual(['d1.example', 'd2.example']);
    expect(await all.viewOf('https://c.example/')).toEqual({ why: 'depot-taken' });
  });

  it('is given to a depot for one server alone though two are planned at once', async () => {
    wanted = settings({ sitesTunnel: ['example'] });
    const all = tunnels({ isOneServerPerDepot: true });
    await Promise.all([all.prepare('https://a.example/'), all.prepare('https://b.example/')]);
    expect(standing.map(({ tunnel }) => tunnel.proxy.host).toSorted()).toEqual(['d1.example', 'd2.example']);
  });
});
