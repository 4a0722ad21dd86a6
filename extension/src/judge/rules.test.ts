import { describe, expect, it } from 'vitest';
import { download } from '../testing/fake-downloads.ts';
import { seenAnswer } from '../testing/seen-answer.ts';
import { settings } from '../testing/settings.ts';
import { type Caught, RULES, whyByRules } from './rules.ts';

const caught = (patch: Partial<Caught> = {}): Caught => ({
  download: download(),
  seen: 'later',
  settings: settings(),
  addonId: 'longhaul',
  nowMs: Date.UTC(2026, 10, 21, 0, 0, 20),
  isKeyHeld: false,
  hasAccess: true,
  ...patch,
});

const why = (patch: Parameters<typeof download>[0], set = settings()) =>
  whyByRules(caught({ download: download(patch), settings: set }));

describe('before the answer is known, it', () => {
  it('lets a large file from a public web server be looked at', () => {
    expect(why({})).toBeUndefined();
    expect(why({ url: 'http://203.0.114.9:8080/a.iso' })).toBeUndefined();
    expect(why({ totalBytes: undefined })).toBeUndefined();
  });

  it('does nothing while it is off, has no master, or the window or tab is set apart', () => {
    expect(why({}, settings({ enabled: false }))).toBe('off');
    expect(why({}, settings({ master: '' }))).toBe('no-master');
    expect(why({ incognito: true })).toBe('incognito');
    expect(why({ isContained: true })).toBe('container');
  });

  it.each([
    'blob:https://origin.example/1',
    'data:text/plain,x',
    'ftp://origin.example/a',
    'https://u:p@origin.example/a',
  ])('leaves %s alone', (url) => {
    expect(why({ url })).toBe('not-http');
  });

  it('never catches a download of its own, however the browser tells it', () => {
    const relay = `https://depot.example/a?a.b.${'c'.repeat(86)}&server=x&port=1&scheme=http`;
    expect(why({ url: 'https://master.example/get/https/origin.example:443/a' })).toBe('own');
    expect(why({ url: 'https://page.example/a', finalUrl: 'https://origin.example/a#lh-direct' })).toBe(
      'own',
    );
    expect(why({ url: relay })).toBe('own');
    expect(why({ addonId: 'longhaul' })).toBe('own');
  });

  it('leaves the downloads of other add-ons and resumed downloads alone', () => {
    expect(why({ addonId: 'somebody' })).toBe('other-addon');
    expect(why({ bytesReceived: 1 })).toBeUndefined();
    expect(why({ startedAtMs: Date.UTC(2026, 10, 20) })).toBe('not-running');
    expect(why({ state: 'complete' })).toBe('not-running');
  });

  it.each([
    'http://localhost/a',
    'http://127.0.0.1/a',
    'http://192.168.1.7:8080/a',
    'http://[fd00::1]/a',
    'http://[::ffff:10.0.0.1]/a',
    'http://0x7f.1/a',
    'https://nas/a',
    'https://files.corp/a',
    'https://printer.local./a',
    'https://origin.test/a',
  ])('never tells the master about %s', (url) => {
    expect(why({ url })).toBe('private-host');
    expect(why({ url, finalUrl: 'https://public.example/a' })).toBe('private-host');
  });

  it('takes downloads from the private hosts that the user names, on the ports that he names', () => {
    const set = settings({ privateHosts: ['origin.test', '127.0.0.1:8080', '*.lab.internal'] });
    expect(why({ url: 'https://origin.test:8443/a' }, set)).toBeUndefined();
    expect(why({ url: 'http://127.0.0.1:8080/a' }, set)).toBeUndefined();
    expect(why({ url: 'http://127.0.0.1:8081/a' }, set)).toBe('private-host');
    expect(why({ url: 'http://a.lab.internal/a' }, set)).toBeUndefined();
    expect(why({ url: 'http://lab.internal/a' }, set)).toBe('private-host');
  });
});

describe('by the answer, it', () => {
  const unshareable = (
    patch: Parameters<typeof seenAnswer>[0] = {},
    headers: Parameters<typeof seenAnswer>[1] = {},
    set = settings(),
    downloadPatch: Parameters<typeof download>[0] = {},
  ) =>
    whyByRules(
      caught({ download: download(downloadPatch), seen: seenAnswer(patch, headers), settings: set }),
    );

  it('lets the master be told of a plain file that is large enough', () => {
    expect(unshareable()).toBeUndefined();
    expect(unshareable({}, { 'content-length': '2000000' })).toBeUndefined();
  });

  it('leaves the files of a site with a tunnel to the browser, which asks the site itself', () => {
    const tunnel = (...sitesTunnel: string[]) => settings({ sitesTunnel });
    expect(unshareable({}, {}, tunnel('example'))).toBe('tunnel');
    expect(unshareable({}, {}, tunnel('cdn.example'), { finalUrl: 'https://cdn.example/a' })).toBe('tunnel');
    expect(unshareable({ page: 'https://page.example/' }, {}, tunnel('page.example'))).toBeUndefined();
    expect(unshareable({}, {}, tunnel('origin.example'), { url: 'http://origin.example/a' })).toBeUndefined();
    const both = { ...tunnel('example'), sitesAlways: ['origin.example'], sitesOff: [] };
    expect(unshareable({}, {}, both), 'the longest name counts').toBeUndefined();
    expect(unshareable({}, {}, { ...both, sitesAlways: [], sitesOff: ['example'] })).toBe('site-off');
  });

  it('leaves files alone that are known to be small', () => {
    expect(unshareable({}, { 'content-length': '1999999' })).toBe('small');
  });

  it("leaves what is personal, and what nobody could tell from another user's file", () => {
    expect(unshareable({}, { vary: 'cookie' })).toBe('personal');
    expect(unshareable({}, { etag: '', 'last-modified': '' })).toBe('no-version');
    expect(whyByRules(caught({ seen: undefined }))).toBe('unseen');
    expect(whyByRules(caught({ seen: undefined, hasAccess: false }))).toBe('no-access');
  });

  describe('of a signed address', () => {
    const signed = 'https://bucket.example/a.iso?X-Amz-Signature=ab';
    const first = { url: 'https://origin.example/my/a', address: '8.8.8.8' };
    const whyOf = (patch: Partial<typeof first> = {}, set = settings()) => {
      const asked = { ...first, ...patch };
      return unshareable({ first: asked }, {}, set, { url: asked.url, finalUrl: signed });
    };

    it.each([
      ['was linked', { url: signed }],
      ['was led to from another one', { url: 'https://origin.example/a?token=1' }],
      ['was led to from one with a key', { url: 'https://origin.example/a?license_key=1' }],
      ['was led to from what is not encrypted', { url: 'http://origin.example/my/a' }],
    ])('tells nobody of what led there if it %s, and the master otherwise', (_how, patch) => {
      expect(whyOf(patch)).toBe('personal');
      expect(whyOf()).toBeUndefined();
    });

    it('tells nobody of what led there from a private address here, but where the user permits it', () => {
      expect(whyOf({ address: '192.168.1.7' })).toBe('private-address');
      expect(whyOf({ address: '192.168.1.7' }, settings({ privateHosts: ['bucket.example'] }))).toBe(
        'private-address',
      );
      expect(
        whyOf({ address: '192.168.1.7' }, settings({ privateHosts: ['origin.example'] })),
      ).toBeUndefined();
    });
  });

  it('tells nobody of what came through a SOCKS proxy', () => {
    expect(unshareable({ isBySocks: true, address: undefined })).toBe('socks');
    expect(unshareable({ isBySocks: false, address: undefined })).toBeUndefined();
  });

  it("tells nobody of what is out of the browser's cache, from nobody knows which address", () => {
    expect(unshareable({ isCached: true, address: undefined })).toBe('nearly-done');
    expect(unshareable({ isCached: false, address: undefined })).toBeUndefined();
  });

  it('never tells the master of a public name that leads to a private address here', () => {
    expect(unshareable({ address: '192.168.1.7' })).toBe('private-address');
    const set = settings({ privateHosts: ['origin.example'] });
    expect(unshareable({ address: '192.168.1.7' }, {}, set)).toBeUndefined();
  });

  it('respects a site that is switched off, as the page, the linked host and the host of the file', () => {
    const off = (...sitesOff: string[]) => settings({ sitesOff });
    expect(unshareable({}, {}, off('page.example'))).toBe('site-off');
    expect(unshareable({}, {}, off('origin.example'))).toBe('site-off');
    expect(unshareable({}, {}, off('cdn.example'), { finalUrl: 'https://cdn.example/a' })).toBe('site-off');
    expect(unshareable({ page: 'https://x.example/p' }, {}, off('x.example'))).toBe('site-off');
    expect(unshareable({}, {}, off('gin.example'))).toBeUndefined();
  });
});

describe("the user's own rules", () => {
  const small = seenAnswer({}, { 'content-length': '10' });
  const judged = (patch: Partial<Parameters<typeof settings>[0]> = {}, other: Partial<Caught> = {}) =>
    whyByRules(caught({ seen: seenAnswer(), settings: settings(patch), ...other }));

  it('hold for the names below a site, and the longer name counts', () => {
    const cdn = { download: download({ url: 'https://dl.cdn.example/a.iso' }) };
    expect(judged({ sitesOff: ['cdn.example'] }, cdn)).toBe('site-off');
    expect(judged({ sitesOff: ['cdn.example'], sitesAlways: ['dl.cdn.example'] }, cdn)).toBeUndefined();
    expect(judged({ sitesOff: ['dl.cdn.example'], sitesAlways: ['cdn.example'] }, cdn)).toBe('site-off');
    expect(judged({ sitesOff: ['cdn.example'], sitesAlways: ['cdn.example'] }, cdn)).toBe('site-off');
    expect(judged({ sitesOff: ['n.example'] }, cdn)).toBeUndefined();
  });

  it('say never before always where page and file are of different sites', () => {
    expect(judged({ sitesAlways: ['origin.example'], sitesOff: ['page.example'] })).toBe('site-off');
  });

  it('take whatever kind and size from a site that is always wanted, but nothing that would do harm', () => {
    const kinds = { mode: 'only', kinds: ['zip'] } as const;
    expect(judged({ kinds }, { seen: small })).toBe('kind');
    expect(judged({}, { seen: small })).toBe('small');
    const always = { kinds, sitesAlways: ['origin.example'] };
    expect(judged(always, { seen: small })).toBeUndefined();
    expect(judged(always, { seen: seenAnswer({ method: 'POST' }) })).toBe('post');
    expect(judged(always, { seen: seenAnswer({}, { vary: 'cookie' }) })).toBe('personal');
    expect(judged({ ...always, enabled: false })).toBe('off');
    expect(judged(always, { download: download({ incognito: true }) })).toBe('incognito');
  });

  it('go by the name of the file, or by the address where it has none yet', () => {
    const kinds = { mode: 'except', kinds: ['iso', 'gz'] } as const;
    expect(judged({ kinds })).toBe('kind');
    expect(judged({ kinds }, { download: download({ name: '' }) })).toBe('kind');
    expect(judged({ kinds }, { download: download({ name: 'a.tar.gz' }) })).toBe('kind');
    expect(judged({ kinds }, { download: download({ name: 'a.zip' }) })).toBeUndefined();
  });

  it('leave what was clicked with the key held, wherever it is from', () => {
    expect(judged({ sitesAlways: ['origin.example'] }, { isKeyHeld: true })).toBe('key-held');
  });
});

it("asks its rules in one order: what is the browser's own, what nobody may be told, what the user wants", () => {
  expect(RULES.map((rule) => rule.why)).toEqual([
    'incognito',
    'off',
    'no-master',
    'own',
    'other-addon',
    'container',
    'not-running',
    'not-http',
    'private-host',
    'key-held',
    'site-off',
    'tunnel',
    'no-access',
    'socks',
    'unseen',
    'post',
    'saved-as',
    'nearly-done',
    'personal',
    'encoded',
    'no-ranges',
    'private-address',
    'no-version',
    'kind',
    'small',
  ]);
});
