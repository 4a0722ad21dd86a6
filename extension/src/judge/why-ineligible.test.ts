import { describe, expect, it } from 'vitest';
import { download } from '../testing/fake-downloads.ts';
import { settings } from '../testing/settings.ts';
import { type Surroundings, whyIneligible } from './why-ineligible.ts';

const around = (patch: Partial<Surroundings> = {}): Surroundings => ({
  addonId: 'longhaul',
  isOwnUrl: false,
  wasPosted: false,
  page: '',
  ...patch,
});
const why = (patch: Parameters<typeof download>[0], set = settings(), where = around()) =>
  whyIneligible(download(patch), set, where);

describe('whyIneligible', () => {
  it('lets the master be asked about a large file from a public web server', () => {
    expect(why({})).toBeUndefined();
    expect(why({ url: 'http://203.0.114.9:8080/a.iso' })).toBeUndefined();
    expect(why({ totalBytes: undefined })).toBeUndefined();
  });

  it('does nothing while it is off, has no master, or the window is private', () => {
    expect(why({}, settings({ enabled: false }))).toBe('off');
    expect(why({}, settings({ master: '' }))).toBe('no-master');
    expect(why({ incognito: true })).toBe('incognito');
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
    expect(why({}, settings(), around({ isOwnUrl: true }))).toBe('own');
  });

  it('leaves the downloads of other add-ons, answers to forms and resumed downloads alone', () => {
    expect(why({ addonId: 'somebody' })).toBe('other-addon');
    expect(why({}, settings(), around({ wasPosted: true }))).toBe('post');
    expect(why({ bytesReceived: 1 })).toBe('not-running');
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

  it('diverts from the private hosts that the user names, on the ports that he names', () => {
    const set = settings({ privateHosts: ['origin.test', '127.0.0.1:8080', '*.lab.internal'] });
    expect(why({ url: 'https://origin.test:8443/a' }, set)).toBeUndefined();
    expect(why({ url: 'http://127.0.0.1:8080/a' }, set)).toBeUndefined();
    expect(why({ url: 'http://127.0.0.1:8081/a' }, set)).toBe('private-host');
    expect(why({ url: 'http://a.lab.internal/a' }, set)).toBeUndefined();
    expect(why({ url: 'http://lab.internal/a' }, set)).toBe('private-host');
  });

  it('respects a site that is switched off, as the page, the linked host and the host of the file', () => {
    const off = (...sitesOff: string[]) => settings({ sitesOff });
    expect(why({}, off('page.example'))).toBe('site-off');
    expect(why({}, off('origin.example'))).toBe('site-off');
    expect(why({ finalUrl: 'https://cdn.example/a' }, off('cdn.example'))).toBe('site-off');
    expect(why({ referrer: '' }, off('x.example'), around({ page: 'https://x.example/p' }))).toBe('site-off');
    expect(why({}, off('example'))).toBeUndefined();
  });

  it('leaves files alone that are known to be small', () => {
    expect(why({ totalBytes: 1_999_999 })).toBe('small');
    expect(why({ totalBytes: 2_000_000 })).toBeUndefined();
  });
});
