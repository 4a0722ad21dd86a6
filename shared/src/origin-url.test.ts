import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import {
  canonicalHost,
  canonicalOriginUrl,
  cleanFileName,
  fileNameOf,
  type OriginUrl,
  originHref,
  parseHref,
  parseOriginParts,
  parseOriginUrl,
  resolveLocation,
  withHttps,
} from './origin-url.ts';

function parsed(text: string): OriginUrl {
  const url = parseOriginUrl(text);
  if (!url.ok) throw url.error;
  return url.value;
}

function refusal(text: string): string {
  const url = parseOriginUrl(text);
  return url.ok ? 'accepted' : url.error.code;
}

/** Node leaves two characters of a path as they are that Chromium encodes, and Firefox one of them. */
function asChromium(url: URL): string {
  url.pathname = url.pathname.replaceAll('|', '%7C').replaceAll('^', '%5E');
  return url.href;
}

describe('an origin URL', () => {
  test.each([
    ['https://Example.ORG/a', 'https://example.org:443/a'],
    ['http://example.org', 'http://example.org:80/'],
    ['http://example.org?x', 'http://example.org:80/?x'],
    ['http://example.org/?', 'http://example.org:80/?'],
    ['http://example.org./a', 'http://example.org:80/a'],
    ['https://bücher.example/ä b', 'https://xn--bcher-kva.example:443/%C3%A4%20b'],
    ['http://0x7f.1/x', 'http://127.0.0.1:80/x'],
    ['http://2130706433/x', 'http://127.0.0.1:80/x'],
    ['http://[2001:DB8:0::1]:8080/x', 'http://[2001:db8::1]:8080/x'],
    ['http://h/a//b/c%2Fd?u=http://z/?q=1#frag', 'http://h:80/a//b/c%2Fd?u=http://z/?q=1'],
    ['http://h/a/../b/./%2E%2e/c/..?d=/../e', 'http://h:80/?d=/../e'],
    ['http://h/../../a/.', 'http://h:80/a/'],
    ['http://h\\a\\..\\b?c\\d', 'http://h:80/b?c\\d'],
    ['http://h/a|b/c%7cd?e|f', 'http://h:80/a%7Cb/c%7cd?e|f'],
    ['http://h/a^b?c^d', 'http://h:80/a%5Eb?c^d'],
    ['http://h/a^b c', 'http://h:80/a%5Eb%20c'],
    ['http://h/over\n  \ttwo lines', 'http://h:80/over%20%20two%20lines'],
  ])('%s has the one canonical form %s', (text, canonical) => {
    expect(canonicalOriginUrl(parsed(text))).toBe(canonical);
  });

  test.each([
    ['ftp://example.org/', 'unknown-scheme'],
    ['javascript:alert(1)', 'bad-url'],
    ['example.org/file', 'bad-url'],
    ['http://user:secret@example.org/', 'url-has-credentials'],
    ['http://example.org:0/', 'bad-port'],
    ['http://example.org:65536/', 'bad-port'],
    ['http://example.org:8o/', 'bad-port'],
    ['http:///path', 'bad-url'],
    ['http://exa mple.org/', 'bad-url'],
    ['http://[::1/', 'bad-url'],
    ['http://localhost../x', 'bad-url'],
    ['http://example..org/x', 'bad-url'],
    ['http://.example.org/x', 'bad-url'],
    ['http://./x', 'bad-url'],
    [`http://example.org/${'a'.repeat(9000)}`, 'bad-url'],
  ])('%s is refused as %s', (text, code) => {
    expect(refusal(text)).toBe(code);
  });

  test('is what a browser asks for that is given the same text', () => {
    const part = fc.stringMatching(/^[\x09\x0a\x20-\x7e]{0,3}$/);
    const piece = fc.oneof(part, fc.constantFrom('/', '..', '.', '%2e', '\\', '?', '#', 'é'));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = `http://h/${pieces.join('')}`;
        const [browser = ''] = asChromium(new URL(text)).split('#', 1);
        expect(originHref(parsed(text))).toBe(browser);
      }),
      { numRuns: 1000 },
    );
  });

  test.each(["http://h/a/../{b}?c'", 'https://[2001:db8::1]:8443/\\?'])(
    'that is written by a program is the same bytes when it is read: %s',
    (text) => {
      const url = parseHref(text);
      expect(url.ok && originHref(url.value)).toBe(text);
      expect(url.ok && parseHref(canonicalOriginUrl(url.value))).toEqual(url);
    },
  );

  test.each(['h/a', 'ftp://h/a', 'http://h/a#b', 'http://h/a b', ' http://h/a'])(
    'that no program would write is none: %s',
    (text) => {
      expect(parseHref(text).ok).toBe(false);
    },
  );

  test('keeps every byte of path and query, whatever they are', () => {
    const pathBytes = fc.stringMatching(/^\/[\x21-\x22\x24-\x3e\x40-\x7e]*$/);
    const queryBytes = fc.option(fc.stringMatching(/^[\x21-\x7e]*$/));
    fc.assert(
      fc.property(pathBytes, queryBytes, (path, query) => {
        const url = parseOriginParts('https', `example.org${path}${query === null ? '' : `?${query}`}`);
        expect(url).toMatchObject({ ok: true, value: { path, query } });
      }),
    );
  });

  test('has one canonical form however often it is parsed', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true }), (text) => {
        const canonical = canonicalOriginUrl(parsed(text));
        expect(canonicalOriginUrl(parsed(canonical))).toBe(canonical);
        expect(canonicalOriginUrl(parsed(originHref(parsed(text))))).toBe(canonical);
      }),
    );
  });
});

test('a canonical host is its own canonical form', () => {
  const hostBytes = fc.stringMatching(/^(?:[A-Za-z0-9_-]|\.|%2[eE]|\u3002|\[::|\]){1,12}$/);
  expect(canonicalHost('[2001:DB8:0::1]')).toEqual(canonicalHost('2001:db8::1'));
  fc.assert(
    fc.property(hostBytes, (text) => {
      const host = canonicalHost(text);
      if (!host.ok) return;
      expect(canonicalHost(host.value)).toEqual(host);
    }),
    { numRuns: 1000 },
  );
});

test('a name is what the URL standard makes of it, or refused', () => {
  const label = fc.stringMatching(/^(?:xn--)?[a-z0-9_-]{0,8}$/);
  fc.assert(
    fc.property(fc.array(label, { minLength: 1, maxLength: 5 }), (labels) => {
      const text = labels.join('.');
      const host = canonicalHost(text);
      const byStandard = URL.parse(`http://${text}/`)?.hostname.replace(/\.$/, '');
      if (host.ok) expect(host.value).toBe(byStandard);
    }),
    { numRuns: 2000 },
  );
  expect(canonicalHost(`${'a.'.repeat(126)}ab`).ok).toBe(false);
});

describe('a redirect of the origin', () => {
  const base = parsed('https://example.org:8443/dir/file?old');
  test.each([
    ['https://other.example/x?y', 'https://other.example:443/x?y'],
    ['//other.example/x', 'https://other.example:443/x'],
    ['/x//y%2Fz?q#frag', 'https://example.org:8443/x//y%2Fz?q'],
    ['sibling', 'https://example.org:8443/dir/sibling'],
    ['?new', 'https://example.org:8443/dir/file?new'],
    // As HTTP gives it: the two bytes of an umlaut in UTF-8, and one in Latin-1.
    ['/\xc3\xbc', 'https://example.org:8443/%C3%BC'],
    ['x\xfc?\xc3\xbc', 'https://example.org:8443/dir/x%FC?%C3%BC'],
    ['https://b\xc3\xbccher.example/', 'https://xn--bcher-kva.example:443/'],
    ['/a/../b', 'https://example.org:8443/b'],
    ['https://other.example/a/%2e%2e/b/.', 'https://other.example:443/b/'],
    ['//other.example/../b', 'https://other.example:443/b'],
    ['\\\\other.example\\b', 'https://other.example:443/b'],
    ['https:/dir/x', 'https://example.org:8443/dir/x'],
    ['/a b"c', 'https://example.org:8443/a%20b%22c'],
  ])('to %s leads to %s', (location, canonical) => {
    const target = resolveLocation(base, location);
    expect(target.ok && canonicalOriginUrl(target.value)).toBe(canonical);
  });

  test.each(['ftp://example.org/x', 'data:text/html,x', 'https://u:p@example.org/'])(
    'to %s is refused',
    (location) => {
      expect(resolveLocation(base, location).ok).toBe(false);
    },
  );
});

test('a redirect to an address that is too long is not even read; its fragment does not count', () => {
  const base = parsed('https://example.org/');
  const parse = vi.spyOn(URL, 'parse');
  const letters = Array.from({ length: 1500 }, (_unused, place) => String.fromCodePoint(0x4e00 + place));
  const raw = Buffer.from(`//${letters.join('')}/`).toString('latin1');
  expect(resolveLocation(base, raw).ok).toBe(false);
  expect(parse).not.toHaveBeenCalled();
  parse.mockRestore();
  const there = resolveLocation(base, `/there#${'x'.repeat(20_000)}`);
  expect(there.ok && canonicalOriginUrl(there.value)).toBe('https://example.org:443/there');
});

describe('the file name of a URL', () => {
  test.each([
    ['http://h/dir/file.iso?x', 'file.iso'],
    ['http://h/a%20b.bin', 'a b.bin'],
    ['http://h/..%2F..%2Fetc%2Fpasswd', '__.._etc_passwd'],
    ['http://h/dir/', 'h'],
    ['http://[2001:db8::1]/', '2001_db8__1'],
    ['http://h/%FF', '%FF'],
  ])('%s is %s', (text, name) => {
    expect(fileNameOf(parsed(text))).toBe(name);
  });

  test('has at most 255 bytes, keeps its ending, and is cut between characters, however long it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 400 }), (text) => {
        const name = cleanFileName(`${text}x.iso`) ?? '';
        expect(new TextEncoder().encode(name).length).toBeLessThanOrEqual(255);
        expect(name.endsWith('.iso')).toBe(true);
        expect(name.isWellFormed()).toBe(true);
        const whole = cleanFileName(`${text.slice(0, 40)}x.iso`) ?? '';
        if (text.length <= 40) expect(name).toBe(whole);
      }),
    );
    // In the time of one look at each character; in more than that this would not end.
    expect(cleanFileName(`${'\u{1f4be}'.repeat(2_000_000)}.iso`)).toBe(`${'\u{1f4be}'.repeat(62)}.iso`);
  });
});

describe('an address without a scheme', () => {
  test.each([
    'www.debian.org/x.iso',
    ' Example.org',
    'example.org:8443/a b?c',
    'bücher.example/ä',
    '192.0.2.1/x',
    '[2001:db8::1]:8443/x',
    'example.org?x=http://y/',
  ])('is taken as https: %s', (text) => {
    expect(withHttps(text)).toBe(`https://${text.trim()}`);
    expect(refusal(withHttps(text))).toBe('accepted');
  });

  test('is told from other text in no time, however long that is', () => {
    for (const text of ['.'.repeat(1e6), 'a.'.repeat(5e5), ':1'.repeat(5e5)]) {
      expect(withHttps(`${text}@`)).toBe(`${text}@`);
    }
  });

  test.each([
    'https://example.org/',
    'HTTP://example.org/',
    'ftp://example.org/',
    '//example.org/x',
    '/example.org/x',
    'javascript:alert(1)',
    'mailto:a@example.org',
    'user:secret@example.org/',
    'https:/example.org/',
    'just words. And more',
    'localhost/x',
    '',
  ])('is left alone where it is none: %s', (text) => {
    expect(withHttps(text)).toBe(text.trim());
  });
});

test('a host is as long as a name can be, and no longer', () => {
  const host = `${'a'.repeat(61)}.`.repeat(5).slice(0, 249);
  expect(refusal(`https://${host}.org/`)).toBe('accepted');
  expect(refusal(`https://a${host}.org/`)).toBe('bad-url');
});

test.each([
  ['letters', (letters: readonly string[]) => letters.join('')],
  ['escapes', (letters: readonly string[]) => encodeURIComponent(letters.join(''))],
  ['letters of any kind', (letters: readonly string[]) => `${'a'.repeat(1000)}${letters.join('')}`],
])(
  'a host of more %s than a name can have is not even read: that takes the square of their number',
  (_, write) => {
    const parse = vi.spyOn(URL, 'parse');
    const letters = Array.from({ length: 4000 }, (_unused, place) => String.fromCodePoint(0x4e00 + place));
    expect(refusal(`https://${write(letters)}/`)).toBe('bad-url');
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
    expect(refusal(`https://${write(letters.slice(0, 3)).slice(-27)}.example/`)).toBe('accepted');
  },
);
