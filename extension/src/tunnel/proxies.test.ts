import { runInNewContext } from 'node:vm';
import { introductionPort } from '@longhaul/shared';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import * as browserApi from '../browser/browser-api.ts';
import { NOW_MS } from '../testing/fake-downloads.ts';
import type { StandingTunnel } from './leads.ts';
import { ProxyPerRequest } from './proxy-per-request.ts';
import { ProxyScript, proxyScript } from './proxy-script.ts';

interface Asked {
  readonly isProxy: boolean;
  readonly requestId: string;
  readonly realm?: string;
  readonly url: string;
  readonly challenger: { readonly host: string; readonly port: number };
}

/** What the classes have asked of the browser, and what it tells them. */
const browser = vi.hoisted(() => ({
  onAuth: undefined as undefined | ((asked: Asked, answer: (answer: object) => void) => void),
  onRequest: undefined as undefined | ((request: object) => Promise<unknown>),
  urls: [] as readonly string[],
  script: undefined as string | undefined,
  mode: 'system',
  onError: new Set<(failed: { readonly error: string }) => void>(),
}));

vi.mock('../browser/browser-api.ts', () => ({
  api: {
    runtime: { getURL: (path: string) => `moz-extension://own/${path}` },
    proxy: {
      onRequest: {
        addListener: (listener: typeof browser.onRequest, { urls }: { urls: readonly string[] }) =>
          Object.assign(browser, { onRequest: listener, urls }),
        removeListener: () => Object.assign(browser, { onRequest: undefined, urls: [] }),
      },
      settings: {
        get: async () => ({
          levelOfControl: 'controllable_by_this_extension',
          value: { mode: browser.mode },
        }),
        set: async ({ value }: { value: { pacScript: { data: string } } }) =>
          Object.assign(browser, { script: value.pacScript.data }),
        clear: async () => Object.assign(browser, { script: undefined }),
      },
    },
    webRequest: {
      onAuthRequired: {
        addListener: (listener: typeof browser.onAuth) => Object.assign(browser, { onAuth: listener }),
      },
      onErrorOccurred: {
        addListener: (listener: () => void) => browser.onError.add(listener),
        removeListener: (listener: () => void) => browser.onError.delete(listener),
      },
    },
  },
}));

beforeEach(() => {
  Object.assign(browser, {
    onAuth: undefined,
    onRequest: undefined,
    urls: [],
    script: undefined,
    mode: 'system',
  });
});

const standing = (server: string, host: string, jobId = 'job'): StandingTunnel => ({
  server,
  tunnel: {
    jobId,
    chain: ['d1'],
    proxy: { host, port: 7000 },
    ticket: 'secret-ticket',
    startBeforeMs: 0,
    endsAtMs: 0,
  },
  untilMs: NOW_MS,
});

const SCRIPT = proxyScript([
  standing('https://members.example:443', 'd1.example'),
  standing('https://members.example:8443', 'd2.example'),
  standing('https://[2001:db8::1]:443', '2001:db8::2'),
]);
type Find = (url: string, host: string) => string;
const findAt = (nowMs: number, script = SCRIPT) =>
  runInNewContext(`${script}; FindProxyForURL`, { Date: { now: () => nowMs } }) as Find;
const FIND = findAt(NOW_MS - 1);

it.each([
  ['https://members.example/', 'HTTPS d1.example:7000; DIRECT'],
  ['https://members.example:8443/', 'HTTPS d2.example:7000; DIRECT'],
  ['https://[2001:db8::1]/', 'HTTPS [2001:db8::2]:7000; DIRECT'],
  ['https://members.example:444/', 'DIRECT'],
  ['https://a.members.example/', 'DIRECT'],
  ['https://members.example.evil.example/', 'DIRECT'],
  ['http://members.example/', 'DIRECT'],
  ['https://other.example/https://members.example/', 'DIRECT'],
  ['https://constructor/', 'DIRECT'],
])('Chromium reaches %s by %s', (url, way) => {
  expect(FIND(url, '')).toBe(way);
});

it('leads nothing by a ticket that is over, though the background sleeps', () => {
  expect(findAt(NOW_MS)('https://members.example/', '')).toBe('DIRECT');
});

it('shows the script no ticket', () => {
  expect(SCRIPT).not.toContain('secret-ticket');
});

describe('Chromium', () => {
  const ASKED: Asked = {
    isProxy: true,
    requestId: '1',
    realm: 'Longhaul ticket',
    url: 'https://members.example/a',
    challenger: { host: 'd1.example', port: 7000 },
  };
  const TICKET = { authCredentials: { username: 'ticket', password: 'secret-ticket' } };
  const answerTo = (patch: Partial<Asked> = {}) =>
    new Promise<object>((answer) => browser.onAuth?.({ ...ASKED, ...patch }, answer));

  it('waits for what a background that was just woken reads, and gives the depot its ticket', async () => {
    const ticket = Promise.withResolvers<string>();
    const asked: unknown[] = [];
    new ProxyScript(async (...question) => {
      asked.push(question);
      return ticket.promise;
    });
    const answer = answerTo({ challenger: { host: '[2001:db8::2]', port: 7000 } });
    ticket.resolve('secret-ticket');
    expect(await answer).toEqual(TICKET);
    expect(asked).toEqual([['https://members.example/a', { host: '2001:db8::2', port: 7000 }]]);
  });

  it('asks no user for the ticket of a tunnel that there is none of, as after its end, or that cannot be read', async () => {
    new ProxyScript(async () => undefined);
    expect(await answerTo()).toEqual({ cancel: true });
    new ProxyScript(async () => Promise.reject(new Error('no storage')));
    expect(await answerTo()).toEqual({ cancel: true });
  });

  it('gives up where a depot does not take the ticket, and gives a newer one', async () => {
    let ticket = 'secret-ticket';
    new ProxyScript(async () => ticket);
    expect(await answerTo()).toEqual(TICKET);
    expect(await answerTo()).toEqual({ cancel: true });
    expect(await answerTo({ requestId: '2' })).toEqual(TICKET);
    ticket = 'newer';
    expect(await answerTo()).toEqual({ authCredentials: { username: 'ticket', password: 'newer' } });
  });

  it('answers others as if the add-on were not there: another proxy, and sites', async () => {
    new ProxyScript(async (url) => (url === ASKED.url ? undefined : 'secret-ticket'));
    expect(await answerTo({ realm: 'The office' })).toEqual({});
    expect(await answerTo({ isProxy: false, url: 'https://other.example/' })).toEqual({});
  });

  it('has a script while tunnels stand, and none after', async () => {
    const proxies = new ProxyScript(async () => undefined);
    await proxies.lead([standing('https://members.example:443', 'd1.example')]);
    expect(browser.script).toContain('d1.example');
    await proxies.lead([]);
    expect(browser.script).toBeUndefined();
  });

  it('shows a depot its ticket before anything is led there, without a word to the site', async () => {
    const proxies = new ProxyScript(async () => undefined);
    const answers: unknown[] = [];
    const urls: string[] = [];
    const fetchAs = async (url: string) => {
      urls.push(url);
      const find = findAt(NOW_MS - 1, browser.script);
      // Not even a depot that is gone has the site asked.
      expect(find(url, '')).toBe('HTTPS d1.example:7000');
      expect(find('https://members.example/', '')).toBe('DIRECT');
      const elsewhere = { host: 'office.example', port: 7000 };
      answers.push(await answerTo({ url, realm: 'The office', challenger: elsewhere }));
      for (const _ of [1, 2]) answers.push(await answerTo({ url }));
      throw new TypeError('refused');
    };
    vi.stubGlobal('fetch', fetchAs);
    const introduction = await proxies.introduce(standing('https://members.example:443', 'd1.example'));
    expect(introduction, 'it asked twice').toBe('failed');
    expect(answers).toEqual([{}, TICKET, { cancel: true }]);
    expect(urls).toEqual([`https://members.example:${introductionPort('job')}/`]);
    expect(await answerTo({ url: urls[0] ?? '', requestId: '2' })).toEqual({ cancel: true });
    expect(browser.script, 'where nobody leads anything after that').toBeUndefined();
  });

  it('knows that a depot takes a ticket when it has asked for it once, and not where it never asked', async () => {
    const proxies = new ProxyScript(async () => undefined);
    let questions = 1;
    vi.stubGlobal('fetch', async (url: string) => {
      for (let question = 0; question < questions; question += 1) await answerTo({ url });
      throw new TypeError('refused');
    });
    expect(await proxies.introduce(standing('https://members.example:443', 'd1.example'))).toBe('begun');
    questions = 0;
    expect(await proxies.introduce(standing('https://members.example:443', 'd1.example'))).toBe('failed');
  });

  it('asks for nothing at a site that is at the very port by which its depot would know the ticket', async () => {
    const fetched = vi.fn<() => void>();
    vi.stubGlobal('fetch', fetched);
    const server = `https://members.example:${introductionPort('job')}`;
    expect(await new ProxyScript(async () => undefined).introduce(standing(server, 'd1.example'))).toBe(
      'failed',
    );
    expect(fetched).not.toHaveBeenCalled();
  });

  describe('knows by how a name that nobody has is not found whether its system has a proxy', () => {
    let asked: string[];
    /** A browser whose requests end so, the first over https: by an error, an answer, or in silence. */
    const ending = (...ends: (string | number | undefined)[]) => {
      vi.stubGlobal('fetch', async (url: string, { signal }: { readonly signal: AbortSignal }) => {
        const end = ends[asked.push(url) - 1];
        if (typeof end === 'number') return new Response(null, { status: end });
        if (end === undefined) over.abort();
        for (const hear of browser.onError) hear({ error: end ?? 'net::ERR_ABORTED' });
        throw signal.reason ?? new TypeError('Failed to fetch');
      });
      let over: AbortController;
      vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
        over = new AbortController();
        return over.signal;
      });
    };

    beforeEach(() => {
      asked = [];
    });
    afterEach(() => void vi.restoreAllMocks());

    it.each<[string | number, boolean]>([
      ['net::ERR_NAME_NOT_RESOLVED', false],
      ['net::ERR_INTERNET_DISCONNECTED', false],
      // A resolver that lies.
      ['net::ERR_CERT_COMMON_NAME_INVALID', false],
      ['net::ERR_TUNNEL_CONNECTION_FAILED', true],
      ['net::ERR_PROXY_CONNECTION_FAILED', true],
      ['net::ERR_SOCKS_CONNECTION_HOST_UNREACHABLE', true],
      // Of a site's own these come only once its certificate is good: a proxy has hung up, or speaks no HTTP.
      ['net::ERR_EMPTY_RESPONSE', true],
      ['net::ERR_INVALID_HTTP_RESPONSE', true],
      [502, true],
    ])('%s: %s', async (end, isTaken) => {
      ending(end);
      const proxies = new ProxyScript(async () => undefined);
      expect(await Promise.all([proxies.takesProxies(), proxies.takesProxies()])).toEqual([isTaken, isTaken]);
      expect(asked).toEqual(['https://longhaul.invalid/']);
      expect(browser.onError.size).toBe(0);
    });

    const CLOSED = 'net::ERR_CONNECTION_CLOSED';
    it.each<[string, string | undefined, string | number | undefined, boolean]>([
      ['a proxy that promises connections before it has them', CLOSED, 502, true],
      ['a proxy that says nothing of connections', undefined, 403, true],
      ['a proxy that has gone meanwhile', undefined, 'net::ERR_PROXY_CONNECTION_FAILED', true],
      ['a tunnel of all traffic with addresses of its own', CLOSED, 'net::ERR_EMPTY_RESPONSE', false],
      ['a tunnel of all traffic that resets', CLOSED, 'net::ERR_CONNECTION_RESET', false],
      ['a resolver that leads to somebody silent', undefined, undefined, false],
      ['a resolver that leads to an advertisement', undefined, 200, false],
      ['a resolver that takes its time', undefined, 'net::ERR_NAME_NOT_RESOLVED', false],
    ])('once more without encryption: %s', async (_who, first, second, isTaken) => {
      ending(first, second);
      expect(await new ProxyScript(async () => undefined).takesProxies()).toBe(isTaken);
      expect(asked).toEqual(['https://longhaul.invalid/', 'http://longhaul.invalid/']);
      expect(browser.onError.size).toBe(0);
    });

    it.each(['direct', 'pac_script'])('asks nobody while the mode is %s', async (mode) => {
      ending('net::ERR_TUNNEL_CONNECTION_FAILED');
      browser.mode = mode;
      expect(await new ProxyScript(async () => undefined).takesProxies()).toBe(false);
      expect(asked).toEqual([]);
    });
  });

  it('shows two depots their tickets at once, though both are for one name', async () => {
    const proxies = new ProxyScript(async () => undefined);
    const urls: string[] = [];
    const ways: string[] = [];
    vi.stubGlobal('fetch', async (url: string) => {
      urls.push(url);
      await expect.poll(() => urls.length).toBe(2);
      ways.push(findAt(NOW_MS - 1, browser.script)(url, ''));
    });
    await Promise.all([
      proxies.introduce(standing('https://members.example:443', 'd1.example')),
      proxies.introduce(standing('https://members.example:8443', 'd2.example', 'job-2')),
    ]);
    expect(ways.toSorted()).toEqual(['HTTPS d1.example:7000', 'HTTPS d2.example:7000']);
  });
});

describe('Firefox', () => {
  const { tunnel } = standing('https://members.example:443', 'd1.example');
  const PATTERN = 'https://*.members.example/*';

  it('asks for requests of chosen sites alone', () => {
    const proxies = new ProxyPerRequest(async () => tunnel);
    proxies.watch([PATTERN]);
    expect(browser.urls).toEqual([PATTERN]);
    proxies.watch([]);
    expect(browser.onRequest).toBeUndefined();
  });

  it('asks again once the user has given back the permission that he had taken away', () => {
    const { api } = browserApi;
    const given = api.proxy;
    const proxies = new ProxyPerRequest(async () => tunnel);
    proxies.watch([PATTERN]);
    // Firefox takes the listener with it.
    Object.assign(browser, { onRequest: undefined, urls: [] });
    Object.assign(api, { proxy: undefined });
    proxies.watch([PATTERN]);
    Object.assign(api, { proxy: given });
    proxies.watch([PATTERN]);
    expect(browser.urls).toEqual([PATTERN]);
  });

  it('leads a request by its ticket, else directly, and as the user has set it where there is no tunnel', async () => {
    new ProxyPerRequest(async (url) => (url.endsWith('/a') ? tunnel : undefined)).watch([PATTERN]);
    expect(await browser.onRequest?.({ url: 'https://members.example/a' })).toEqual([
      {
        type: 'https',
        host: 'd1.example',
        port: 7000,
        proxyAuthorizationHeader: 'Longhaul secret-ticket',
        connectionIsolationKey: 'job',
      },
      { type: 'direct' },
    ]);
    expect(await browser.onRequest?.({ url: 'https://members.example/b' })).toBeUndefined();
  });

  it('leaves what the add-on asks itself alone: its greeting would wait for the tunnel that waits for it', async () => {
    const asked: string[] = [];
    const proxies = new ProxyPerRequest(async (url) => {
      asked.push(url);
      return tunnel;
    });
    proxies.watch([PATTERN]);
    const url = 'https://d1.members.example:7000/healthz';
    const originUrl = 'moz-extension://own/_generated_background_page.html';
    expect(await browser.onRequest?.({ url, originUrl })).toBeUndefined();
    expect(asked).toEqual([]);
    await browser.onRequest?.({ url, originUrl: 'https://members.example/' });
    expect(asked).toEqual([url]);
  });

  it('leads what the add-on asks in the place of the browser, while it does', async () => {
    const asBrowser = new Set<string>();
    new ProxyPerRequest(async () => tunnel, asBrowser).watch([PATTERN]);
    const request = {
      url: 'https://members.example/a',
      originUrl: 'moz-extension://own/_generated_background_page.html',
    };
    asBrowser.add(request.url);
    expect(await browser.onRequest?.(request)).toMatchObject([{ host: 'd1.example' }, { type: 'direct' }]);
    expect(await browser.onRequest?.({ ...request, url: 'https://members.example/b' })).toBeUndefined();
    asBrowser.clear();
    expect(await browser.onRequest?.(request)).toBeUndefined();
  });
});
