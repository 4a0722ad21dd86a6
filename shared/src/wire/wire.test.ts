import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalOriginUrl, type OriginUrl, parseOriginUrl } from '../origin-url.ts';
import {
  formatConnect,
  formatProof,
  introductionPort,
  isIntroductionPort,
  parseConnectTarget,
  parseProof,
} from './connect.ts';
import { formatGetPath, parseGetTarget } from './get-target.ts';
import {
  formatDepotRelayTarget,
  formatOriginRelayTarget,
  isRelayTarget,
  parseRelayTarget,
} from './relay-target.ts';
import { formatSequence, parseStamp } from './signed-requests.ts';
import { formatWayTarget, isWayTarget, parseWayTarget, type WayNotice, wayText } from './well-known.ts';

const ticket = `eyJh.eyJq.${'S'.repeat(86)}`;

const hosts = fc.constantFrom(
  'origin.example',
  '192.0.2.7',
  '2001:db8::1',
  'xn--bcher-kva.example',
  'a_b.example',
);
const nasty = fc.constantFrom(
  '?',
  '&',
  '=',
  '#',
  '%2F',
  '%00',
  '//',
  '%',
  '+',
  '..',
  'a',
  'ticket',
  '&server=x',
);
const text = (parts: fc.Arbitrary<string>) => fc.array(parts, { maxLength: 8 }).map((list) => list.join(''));
const origins: fc.Arbitrary<OriginUrl> = fc.record({
  scheme: fc.constantFrom('http' as const, 'https' as const),
  host: hosts,
  port: fc.integer({ min: 1, max: 65535 }),
  path: text(nasty).map((path) => `/${path.replace(/[?#]/g, '')}`),
  query: fc.option(text(nasty)),
});

describe('a cascade address', () => {
  test('carries every origin URL to the depot, byte by byte', () => {
    fc.assert(
      fc.property(origins, (url) => {
        const target = formatOriginRelayTarget(ticket, url);
        expect(isRelayTarget(target)).toBe(true);
        expect(parseRelayTarget(target)).toEqual({ ok: true, value: { from: 'origin', ticket, url } });
      }),
    );
  });

  test('has the form of the paper', () => {
    const url = {
      scheme: 'http',
      host: 'origin.example',
      port: 80,
      path: '/d/f.iso',
      query: 'a=b&c',
    } as const;
    expect(formatOriginRelayTarget('T', url)).toBe(
      '/d/f.iso?T&server=origin.example&port=80&scheme=http&query=a%3Db%26c',
    );
  });

  test.each([
    ['a doubled parameter', `/f?${ticket}&server=a.example&server=b.example&port=80&scheme=http`],
    ['an unknown parameter', `/f?${ticket}&server=a.example&port=80&scheme=http&x=1`],
    ['a host that is not canonical', `/f?${ticket}&server=0x7f.1&port=80&scheme=http`],
    ['a host with a trick in it', `/f?${ticket}&server=a.example%2Fx&port=80&scheme=http`],
    ['a broken percent-encoding', `/f?${ticket}&server=%zz&port=80&scheme=http`],
    ['no port', `/f?${ticket}&server=a.example&scheme=http`],
    ['another scheme', `/f?${ticket}&server=a.example&port=80&scheme=file`],
    ['an absolute target', `http://evil.example/f?${ticket}&server=a.example&port=80&scheme=http`],
    ['both forms at once, one of them empty', `/f?${ticket}&server=&depot=d1&port=80`],
    ['both forms at once', `/f?${ticket}&server=a.example&depot=d1&port=80`],
  ])('with %s is refused', (_, target) => {
    expect(parseRelayTarget(target).ok).toBe(false);
  });

  test('is told apart from every other request by its first query item alone', () => {
    expect(isRelayTarget('/metrics')).toBe(false);
    expect(isRelayTarget('/f?x=1&server=a')).toBe(false);
    expect(isRelayTarget(`/get/http/x?${ticket}`)).toBe(true);
    expect(isRelayTarget(`/f?a&${ticket}`)).toBe(false);
  });
});

describe('a stepwise address', () => {
  test('names the depot that holds the body, as in the paper', () => {
    const target = formatDepotRelayTarget(ticket, '/d/f.iso', 'd3', 8080);
    expect(target).toBe(`/d/f.iso?${ticket}&depot=d3&port=8080`);
    expect(parseRelayTarget(target)).toEqual({
      ok: true,
      value: { from: 'depot', ticket, path: '/d/f.iso', depot: 'd3', port: 8080 },
    });
  });

  test('without anything but the ticket asks for what is held', () => {
    expect(parseRelayTarget(`/d/f.iso?${ticket}`)).toEqual({
      ok: true,
      value: { from: 'successor', ticket, path: '/d/f.iso' },
    });
    expect(parseRelayTarget(`http://evil.example/f?${ticket}`).ok).toBe(false);
    expect(parseRelayTarget(`/d/f.iso?${ticket}&`).ok).toBe(false);
  });
});

describe("the master's download path", () => {
  const options = fc.record(
    {
      sizeBytes: fc.integer({ min: 0, max: 1e15 - 1 }),
      via: fc.uniqueArray(fc.stringMatching(/^[a-z0-9-]{1,10}$/), { minLength: 1, maxLength: 4 }),
      avoid: fc.uniqueArray(fc.stringMatching(/^[a-z0-9-]{1,10}$/), { minLength: 1, maxLength: 4 }),
      signalling: fc.constantFrom('cascade' as const, 'stepwise' as const),
      lanes: fc.integer({ min: 1, max: 8 }),
    },
    { requiredKeys: [] },
  );

  test('carries URL and options unchanged', () => {
    const noFragment = origins.filter((url) => !url.query?.includes('#'));
    fc.assert(
      fc.property(noFragment, options, (url, asked) => {
        expect(parseGetTarget(formatGetPath(url, asked))).toEqual({
          ok: true,
          value: { url, options: asked },
        });
      }),
    );
  });

  test('takes what browsers and scripts send', () => {
    const canonical = (target: string) => {
      const request = parseGetTarget(target);
      return request.ok ? canonicalOriginUrl(request.value.url) : request.error.code;
    };
    expect(canonical('/get/https/example.org/a//b?c=%2F&d=http://x/?y')).toBe(
      'https://example.org:443/a//b?c=%2F&d=http://x/?y',
    );
    expect(canonical('/get/http/example.org')).toBe('http://example.org:80/');
    expect(canonical('/get?url=https%3A%2F%2Fexample.org%2Fa%2Bb%3Fc%26d&size=5')).toBe(
      'https://example.org:443/a+b?c&d',
    );
    // What another site has appended to the link is nobody's.
    expect(canonical('/get?url=https%3A%2F%2Fexample.org%2Fa%3Fb&fbclid=x')).toBe(
      'https://example.org:443/a?b',
    );
    expect(canonical('/get?size=5&url=https://example.org/a?b=1')).toBe('https://example.org:443/a?b=1');
    expect(canonical('/get?url=https://example.org/a?b=1&c=2')).toBe('bad-options');
    expect(canonical('/get?url=https://example.org/a?b=1&size=2')).toBe('bad-options');
    expect(canonical('/get/http/example.org/\xc3\xa4')).toBe('http://example.org:80/%C3%A4');
    expect(canonical('/get/ftp/example.org/')).toBe('unknown-scheme');
    expect(canonical('/get/http/u:p@example.org/')).toBe('url-has-credentials');
    expect(canonical('/get/~size=x/http/example.org/')).toBe('bad-options');
    for (const lanes of ['0', '9', '08', '2.5', ''])
      expect(canonical(`/get/~lanes=${lanes}/http/example.org/`)).toBe('bad-options');
    expect(canonical('/get/~size=1,zap=2/http/example.org/')).toBe('bad-options');
    expect(canonical('/get/~signalling=smoke/http/example.org/')).toBe('bad-options');
    expect(canonical('/get/')).toBe('bad-url');
    expect(canonical('/get?url=')).toBe('bad-url');
  });

  test('typed into a form, may leave out https, and say the size as people do', () => {
    const form = (fields: Record<string, string>) => {
      const parsed = parseGetTarget(`/get?${new URLSearchParams(fields).toString()}`);
      if (!parsed.ok) return parsed.error.code;
      return `${parsed.value.options.sizeBytes ?? 'no size'} ${canonicalOriginUrl(parsed.value.url)}`;
    };
    expect(form({ url: 'www.debian.org/x.iso', size: '700 MB' })).toBe(
      '700000000 https://www.debian.org:443/x.iso',
    );
    expect(form({ url: 'http://h/', size: ' ' })).toBe('no size http://h:80/');
    expect(form({ url: 'http://h/', size: 'big' })).toBe('bad-options');
    expect(form({ url: 'http://h/', size: '1,lanes=8' })).toBe('bad-options');
    expect(form({ url: 'javascript:alert(1)' })).toBe('bad-url');
  });

  test('never takes a base from elsewhere', () => {
    const parsed = parseOriginUrl('//evil.example/x');
    expect(parsed.ok).toBe(false);
    expect(parseGetTarget('/get/https//evil.example/').ok).toBe(false);
  });
});

describe('the messages between depots', () => {
  test('ask for a tunnel in one head, which no part of it can end', () => {
    const asked = {
      authority: { host: 'origin.test', port: 443 },
      ticket: 'a.b.c',
      chainIndex: 2,
      proof: { depot: 'd1', timeMs: 5, signature: 'S' },
    };
    expect(formatConnect(asked)).toBe(
      'CONNECT origin.test:443 HTTP/1.1\r\nHost: origin.test:443\r\nlonghaul-ticket: a.b.c\r\n' +
        'longhaul-chain: 2\r\nlonghaul-proof: d1 5 S\r\n\r\n',
    );
    for (const end of ['\r\nX: y', '\n', '\r', '\0', 'ä'])
      expect(() => formatConnect({ ...asked, ticket: `a.b${end}.c` })).toThrow(RangeError);
  });

  test('a proof survives its header', () => {
    const proof = { depot: 'rj-1', timeMs: 1_795_000_000_123, signature: 'x'.repeat(86) };
    expect(parseProof(formatProof(proof))).toEqual({ ok: true, value: proof });
    expect(parseProof('rj-1 now x').ok).toBe(false);
  });

  test('the stamp of a request to the master survives its headers', () => {
    const stamp = { timeMs: 1_795_000_000_123, epoch: 'AbC-_123', sequence: 42 };
    expect(parseStamp(String(stamp.timeMs), formatSequence(stamp))).toEqual(stamp);
    for (const [time, sequence] of [
      [undefined, 'AbC-_123 42'],
      ['now', 'AbC-_123 42'],
      ['1', undefined],
      ['1', 'AbC-_123 0'],
      ['1', 'AbC-_123 1e3'],
      ['1', 'short 1'],
      ['1', 'AbC-_123\n1'],
      ['1', 'AbC-_123 1 2'],
    ])
      expect(parseStamp(time, sequence), `${time} ${sequence}`).toBeUndefined();
  });

  test.each(['origin.example:443', '192.0.2.1:80', '[2001:db8::1]:443'])(
    'CONNECT %s is understood',
    (target) => {
      expect(parseConnectTarget(target).ok).toBe(true);
    },
  );

  test.each(['origin.example', 'ORIGIN.example:443', '0x7f.1:80', 'a@b:80', '[::ffff:7f00:1]:080', '/x', ''])(
    'CONNECT %s is refused',
    (target) => {
      expect(parseConnectTarget(target).ok).toBe(false);
    },
  );
});

describe('a notice of a way', () => {
  const notices: fc.Arbitrary<WayNotice> = fc.record({
    ticket: fc.constant(ticket),
    origin: origins.map(({ scheme, host, port }) => ({ scheme, host, port })),
    client: fc.constantFrom('192.0.2.0/24', '2001:db8:7::/48'),
    timeMs: fc.integer({ min: 0, max: 9e14 }),
    keyId: fc.constantFrom('k1', 'AbC-_9'),
    signature: fc.constant('S'.repeat(86)),
  });

  test('survives its request target, which no client’s request looks like', () => {
    fc.assert(
      fc.property(notices, (notice) => {
        const target = formatWayTarget(notice);
        expect(parseWayTarget(target)).toEqual({ ok: true, value: notice });
        expect(isWayTarget(target)).toBe(true);
        expect(isRelayTarget(target)).toBe(false);
      }),
    );
  });

  test('is signed as a whole, for one depot', () => {
    fc.assert(
      fc.property(notices, notices, (one, other) => {
        const isSame = formatWayTarget({ ...one, keyId: 'k' }) === formatWayTarget({ ...other, keyId: 'k' });
        expect(wayText('d1', one) === wayText('d1', other)).toBe(isSame);
        expect(wayText('d1', one)).not.toBe(wayText('d2', one));
      }),
    );
  });

  test.each([
    ['a ticket that is none', { ticket: 'a.b.c' }],
    ['a ticket that is too long', { ticket: `${'e'.repeat(1000)}.eyJq.${'S'.repeat(86)}` }],
    ['a host that is none', { origin: { scheme: 'http', host: 'a/b.example', port: 80 } }],
    ['a port that is none', { origin: { scheme: 'http', host: 'a.example', port: 0 } }],
    ['a client that is no network', { client: '192.0.2.1' }],
    ['a signature that is too short', { signature: 'S' }],
  ])('with %s is refused', (_, change) => {
    const [notice] = fc.sample(notices, 1);
    const target = formatWayTarget({ ...notice, ...change } as WayNotice);
    expect(parseWayTarget(target)).toMatchObject({ ok: false, error: { code: 'bad-request' } });
  });
});

test('the port by which a browser gets to know a ticket is one of those kept for it, and hardly ever that of another job', () => {
  const ports = Array.from({ length: 1000 }, (_, job) => introductionPort(`job-${job}`));
  expect(ports.every(isIntroductionPort)).toBe(true);
  expect([49_151, 65_152, 443].some(isIntroductionPort)).toBe(false);
  expect(new Set(ports).size).toBeGreaterThan(950);
  expect(introductionPort(''), 'FNV-1a of nothing, 2166136261').toBe(49_152 + (2_166_136_261 % 16_000));
});
