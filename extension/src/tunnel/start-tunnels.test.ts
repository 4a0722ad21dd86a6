import { beforeEach, expect, it, vi } from 'vitest';
import type { RequestEvent } from '../browser/requests.ts';
import { download, FakeDownloads, NOW_MS } from '../testing/fake-downloads.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { plan } from '../testing/plan.ts';
import { settings } from '../testing/settings.ts';
import type { Tunnels } from './tunnels.ts';

type Listener = (event: RequestEvent) => void;
interface Filter {
  readonly urls: readonly string[];
  readonly types?: readonly string[];
}

/** What the browser was asked for, and what it asks. */
const browser = vi.hoisted(() => {
  const listeners = new Map<string, readonly [Listener, Filter]>();
  const event = (name: string) => ({
    addListener: (listener: Listener, filter: Filter) => listeners.set(name, [listener, filter]),
    removeListener: () => listeners.delete(name),
  });
  const session: unknown = undefined;
  const opened: string[] = [];
  return { listeners, event, session, isChromium: false, script: '', opened, greetings: 0, nowMs: 0 };
});

vi.mock('../browser/target.ts', () => ({
  get isChromium() {
    return browser.isChromium;
  },
}));
vi.mock('../browser/browser-api.ts', () => ({
  api: {
    runtime: { getURL: (path: string) => `moz-extension://own/${path}` },
    storage: {
      get session() {
        return browser.session;
      },
    },
    tabs: {
      update: async (tabId: number, { url }: { url: string }) => browser.opened.push(`${tabId} ${url}`),
    },
    proxy: {
      onRequest: browser.event('proxy'),
      settings: {
        get: async () => ({ levelOfControl: 'controllable_by_this_extension', value: { mode: 'system' } }),
        set: async ({ value }: { value: { pacScript: { data: string } } }) =>
          Object.assign(browser, { script: value.pacScript.data }),
        clear: async () => Object.assign(browser, { script: '' }),
      },
    },
    webRequest: {
      onBeforeRequest: browser.event('asked'),
      onResponseStarted: browser.event('answered'),
      onErrorOccurred: browser.event('failed'),
      onAuthRequired: browser.event('auth'),
    },
  },
}));
vi.mock('./system-proxy.ts', () => ({ usesSystemProxy: async () => false }));
vi.mock('../ask/probe-file.ts', () => ({
  greetDepot: async () => {
    browser.greetings += 1;
    return true;
  },
}));
vi.mock('../ask/ask-master.ts', () => ({
  askMaster: async (_master: string, { url, avoid = [] }: { url: string; avoid?: readonly string[] }) => ({
    result: 'plan',
    plan: plan({
      masterUrl: `https://master.example/get/${url.replace('://', '/').replace(/\/$/, ':443/')}`,
      location: `https://${avoid.includes('d1') ? 'd2' : 'd1'}.example:7000`,
      chain: [avoid.includes('d1') ? 'd2' : 'd1'],
      ticket: 'ticket',
      startBefore: new Date(browser.nowMs + 600_000).toISOString(),
      ticketEnds: new Date(browser.nowMs + 24 * 3_600_000).toISOString(),
    }),
  }),
}));

const CUT = {
  state: 'interrupted',
  error: 'NETWORK_FAILED',
  canResume: true,
  bytesReceived: 9,
  referrer: '',
} as const;

const { startTunnels } = await import('./start-tunnels.ts');

const SCRIPT_ASKS = { requestId: '1', method: 'GET', type: 'xmlhttprequest', tabId: 7 };
const request = (host: string, patch: Partial<RequestEvent> = {}): RequestEvent => ({
  ...SCRIPT_ASKS,
  url: `https://${host}/api`,
  originUrl: `https://${host}/`,
  ...patch,
});
const tell = (name: string, event: RequestEvent) => browser.listeners.get(name)?.[0](event);
const kept = new Map<string, string>();

beforeEach(() => {
  browser.listeners.clear();
  Object.assign(browser, {
    session: memoryArea(),
    isChromium: false,
    script: '',
    opened: [],
    greetings: 0,
    nowMs: NOW_MS,
  });
  kept.clear();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  });
});

const start = (sitesTunnel: readonly string[], downloads = new FakeDownloads()) =>
  startTunnels({
    downloads,
    settings: async () => settings({ sitesTunnel }),
    now: () => browser.nowMs,
    pause: () => new Promise(() => undefined),
    wakeAt: () => undefined,
  });

/** A Chromium whose depots take the tickets that it gets to know. */
function startChromium(): void {
  browser.isChromium = true;
  const challenger = { host: 'd1.example', port: 7000 };
  vi.stubGlobal('fetch', async (url: string) => {
    const [asks] = (browser.listeners.get('auth') ?? []) as unknown as [
      (asked: object, answer: (answer: unknown) => void) => void,
    ];
    await new Promise((answer) => asks({ isProxy: true, requestId: '1', url, challenger }, answer));
    throw new TypeError('refused');
  });
}

it('Chromium plans a tunnel for a site whose scripts alone ask it for something', async () => {
  startChromium();
  const { look } = start(['scripts.example']);
  await look();
  tell('asked', request('scripts.example'));
  await expect.poll(() => browser.script).toContain('scripts.example:443');
});

it.each(['asked', 'answered', 'failed'])(
  'is told whatever is %s of chosen sites, and nothing else',
  async (name) => {
    const { look } = start(['members.example', '192.0.2.1', '2001:db8::1']);
    await look();
    const urls = ['https://*.members.example/*', 'https://192.0.2.1/*', 'https://[2001:db8::1]/*'];
    expect(browser.listeners.get(name)?.[1]).toEqual({ urls });
  },
);

it('Firefox is listened to at once when it wakes the background, and no more when no site is chosen', async () => {
  await start(['members.example']).look();
  browser.listeners.clear();
  const { look } = start([]);
  expect([...browser.listeners.keys()].toSorted()).toEqual(['answered', 'asked', 'failed', 'proxy']);
  await look();
  expect(browser.listeners.size).toBe(0);
});

it.each(['NS_ERROR_PROXY_FORBIDDEN', 'NS_ERROR_PROXY_SERVICE_UNAVAILABLE'])(
  'gives a tunnel up whose entry depot refuses what a script asks, as %s',
  async (error) => {
    const host = `${error.toLowerCase().replaceAll('_', '-')}.example`;
    const { look, tunnels } = start([host]);
    await look();
    expect(await tunnels.wayFor(`https://${host}/`)).toMatchObject({ chain: ['d1'] });
    tell('failed', request(host, { error }));
    await expect.poll(() => tunnels.viewOf(`https://${host}/`)).toEqual({ chain: ['d2'] });
    expect(browser.opened).toEqual([]);
  },
);

it("takes what comes out of Firefox's cache for no sign of life of the entry depot", async () => {
  const { look, tunnels } = start(['cached.example']);
  await look();
  const url = 'https://cached.example/';
  const answer = { proxyInfo: { host: 'd1.example', port: 7000 } };
  await tunnels.wayFor(url);
  expect(browser.greetings).toBe(1);
  browser.nowMs += 6_000;
  tell('answered', request('cached.example', { ...answer, fromCache: true }));
  await tunnels.viewOf(url);
  await tunnels.wayFor(url);
  expect(browser.greetings).toBe(2);
  browser.nowMs += 4_000;
  tell('answered', request('cached.example', answer));
  await tunnels.viewOf(url);
  browser.nowMs += 4_000;
  await tunnels.wayFor(url);
  expect(browser.greetings).toBe(2);
});

it.each([
  [206, ['resume 1']],
  [403, []],
])(
  'asks the site of a cut download for its next byte, as the user, before that goes on: %i',
  async (status, resumed) => {
    const url = 'https://cut.example/a.iso';
    const downloads = new FakeDownloads(download({ ...CUT, url, finalUrl: `${url}#part` }));
    const { look, tunnels, mend } = start(['cut.example'], downloads);
    await look();
    await tunnels.wayFor(url);
    const [asked, ways]: [unknown[], unknown[]] = [[], []];
    const own = { url, originUrl: 'moz-extension://own/background.html' };
    const led = (): unknown => tell('proxy', request('cut.example', own));
    vi.stubGlobal('fetch', async (place: string, init: RequestInit) => {
      const { credentials, redirect, headers } = init;
      asked.push([place, { credentials, redirect, headers }]);
      ways.push(await led());
      return new Response('x', { status });
    });
    await mend.follow(1);
    const asUser = { credentials: 'include', redirect: 'manual', headers: { range: 'bytes=9-9' } };
    expect(asked).toEqual([[`${url}#part`, asUser]]);
    expect(ways, 'through the tunnel').toMatchObject([[{ host: 'd1.example' }, { type: 'direct' }]]);
    expect(downloads.log).toEqual(resumed);
    expect(await led(), 'what it asks otherwise').toBeUndefined();
  },
);

it.each<[string, (tunnels: Tunnels) => Promise<void>]>([
  [
    'was idle',
    async (tunnels) => {
      browser.nowMs += 61 * 60_000;
      await tunnels.wake();
    },
  ],
  ['rests', (tunnels) => tunnels.rest()],
  [
    'is over',
    async (tunnels) => {
      browser.nowMs += 24 * 3_600_000;
      await tunnels.wake();
    },
  ],
])(
  'Chromium has the tunnel of a cut download in its script again before that goes on: it %s',
  async (how, ends) => {
    startChromium();
    const host = `${how.replace(' ', '-')}.example`;
    const url = `https://${host}/a.iso`;
    const downloads = new FakeDownloads(download({ ...CUT, url }));
    const scripts: string[] = [];
    downloads.onResume = async () => void scripts.push(browser.script);
    const { tunnels, mend } = start([host], downloads);
    await tunnels.prepare(url);
    expect(await tunnels.viewOf(url)).toEqual({ chain: ['d1'] });
    await ends(tunnels);
    const others = fetch;
    const toAnyone = async (place: string, init?: RequestInit) =>
      place === url ? new Response('x', { status: 206 }) : others(place, init);
    vi.stubGlobal('fetch', toAnyone);
    expect(browser.script).toBe('');
    expect(await tunnels.viewOf(url), 'what the popup says').toBeUndefined();
    await mend.follow(1);
    expect(scripts).toEqual([expect.stringContaining(`${host}:443`)]);
    expect(await tunnels.viewOf(url)).toEqual({ chain: ['d1'] });
  },
);

it('lets what the add-on asks itself be', async () => {
  browser.isChromium = true;
  const { look, tunnels } = start(['own.example']);
  await look();
  const url = 'https://d1.own.example:7000/healthz';
  tell('asked', request('d1.own.example:7000', { url, originUrl: 'moz-extension://own/background.html' }));
  await tunnels.look();
  expect(await tunnels.viewOf(url)).toBeUndefined();
});
