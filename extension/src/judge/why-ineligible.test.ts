import { describe, expect, it } from 'vitest';
import { download } from '../testing/fake-downloads.ts';
import { seenAnswer } from '../testing/seen-answer.ts';
import { settings } from '../testing/settings.ts';
import { whyIneligible, whyUnshareable } from './why-ineligible.ts';

const why = (patch: Parameters<typeof download>[0], set = settings()) =>
  whyIneligible(download(patch), set, 'longhaul', Date.UTC(2026, 10, 21, 0, 0, 20));

describe('whyIneligible', () => {
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

describe('whyUnshareable', () => {
  const unshareable = (
    patch: Parameters<typeof seenAnswer>[0] = {},
    headers: Parameters<typeof seenAnswer>[1] = {},
    set = settings(),
    caught: Parameters<typeof download>[0] = {},
  ) => whyUnshareable(download(caught), seenAnswer(patch, headers), set);

  it('lets the master be told of a plain file that is large enough', () => {
    expect(unshareable()).toBeUndefined();
    expect(unshareable({}, { 'content-length': '2000000' })).toBeUndefined();
  });

  it('leaves files alone that are known to be small', () => {
    expect(unshareable({}, { 'content-length': '1999999' })).toBe('small');
  });

  it("leaves what is personal, and what nobody could tell from another user's file", () => {
    expect(unshareable({}, { vary: 'cookie' })).toBe('personal');
    expect(unshareable({}, { etag: '', 'last-modified': '' })).toBe('no-version');
    expect(whyUnshareable(download(), undefined, settings())).toBe('unseen');
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
    expect(unshareable({}, {}, off('example'))).toBeUndefined();
  });
});
