import { createHash, generateKeyPairSync, sign, verify } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseOriginUrl } from './origin-url.ts';
import {
  chainsForEntry,
  claimsInGroup,
  decodeTicket,
  hashAuthority,
  hashOriginUrl,
  isEntryDepot,
  issueTicket,
  type TicketClaims,
  ticketPhase,
  verifyTicket,
} from './ticket.ts';
import { CLOCK_SKEW_SECONDS } from './wire/protocol.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const other = generateKeyPairSync('ed25519');
const signer = (bytes: Uint8Array) => sign(null, bytes, privateKey);
const verifier = (bytes: Uint8Array, signature: Uint8Array) => verify(null, bytes, publicKey, signature);
const sha256 = (text: string) => createHash('sha256').update(text).digest();

const claims: TicketClaims = {
  jobId: 'Zm9vYmFyYmF6',
  kind: 'get',
  urlHash: 'A'.repeat(22),
  authorityHash: 'B'.repeat(22),
  chains: [
    ['rj-1', 'sp-1', 'sc-1'],
    ['rj-1', 'mg-1', 'sc-1'],
    ['pe-1', 'sp-1'],
  ],
  promises: [
    { rateBps: 95_600_000, worstRttMs: 20, worstLossRate: 0.0025 },
    { rateBps: 80_000_000, worstRttMs: 110, worstLossRate: 0 },
    { rateBps: 7_000, worstRttMs: 4095, worstLossRate: 1 },
  ],
  lanes: 4,
  budgetBytes: 2 ** 40,
  budgetConnections: 4096,
  issuedAt: 1_795_000_000,
  lastStart: 1_795_000_600,
  endOfLife: 1_795_086_400,
};

/** What stands before the places of a chain. */
const PROMISE = 'AAABkAUADI';

function open(text: string) {
  const decoded = decodeTicket(text);
  return decoded.ok
    ? verifyTicket(decoded.value, decoded.value.keyId === 'm1' ? verifier : undefined)
    : decoded;
}

function refusal(text: string): string {
  const opened = open(text);
  return opened.ok ? 'accepted' : opened.error.code;
}

/** A ticket with its header or claims exchanged, signed or with the old signature. */
function altered(change: { header?: object; payload?: object; resign?: boolean }): string {
  const [header = '', payload = '', signature = ''] = issueTicket(claims, 'm1', signer).split('.');
  const edit = (part: string, by: object = {}) => {
    const value: object = JSON.parse(Buffer.from(part, 'base64url').toString());
    return Buffer.from(JSON.stringify({ ...value, ...by })).toString('base64url');
  };
  const signed = `${edit(header, change.header)}.${edit(payload, change.payload)}`;
  const newSignature = sign(null, Buffer.from(signed), privateKey).toString('base64url');
  return `${signed}.${change.resign ? newSignature : signature}`;
}

test.each(['get', 'stepwise', 'tunnel'] as const)('a ticket of the kind %s is read as what it is', (kind) => {
  expect(open(issueTicket({ ...claims, kind }, 'm1', signer))).toEqual({
    ok: true,
    value: { ...claims, kind },
  });
});

describe('a ticket', () => {
  test('brings its claims to the depot unchanged', () => {
    expect(open(issueTicket(claims, 'm1', signer))).toEqual({ ok: true, value: claims });
  });

  test('for three hops with two alternatives fits into 512 characters, even with the longest of everything', () => {
    const id = (n: number) => `depot-000${n}`;
    const chains = [
      [id(1), id(2), id(3)],
      [id(4), id(5), id(6)],
      [id(7), id(8), id(9)],
    ];
    const promises = chains.map(() => ({ rateBps: 100e9, worstRttMs: 4000, worstLossRate: 0.99999 }));
    const longest = { ...claims, chains, promises, jobId: 'x'.repeat(11), budgetBytes: 2 ** 46 };
    expect(issueTicket(longest, 'k'.repeat(16), signer).length).toBeLessThanOrEqual(512);
  });

  test('rounds its promises to what fits: kbit/s, milliseconds, 1e-5', () => {
    const digits = { min: 0, noNaN: true };
    const promise = fc.record({
      rateBps: fc.double({ ...digits, max: 1e15 }),
      worstRttMs: fc.double({ ...digits, max: 1e5 }),
      worstLossRate: fc.double({ ...digits, max: 1 }),
    });
    fc.assert(
      fc.property(fc.tuple(promise, promise, promise), fc.integer({ min: 1, max: 8 }), (promises, lanes) => {
        const opened = open(issueTicket({ ...claims, promises, lanes }, 'm1', signer));
        if (!opened.ok) throw opened.error;
        expect(opened.value.lanes).toBe(lanes);
        for (const [index, { rateBps, worstRttMs, worstLossRate }] of promises.entries()) {
          const kept = opened.value.promises[index];
          expect(kept?.rateBps).toBe(Math.min(Math.round(rateBps / 1000), 2 ** 30 - 1) * 1000);
          expect(kept?.worstRttMs).toBe(Math.min(Math.round(worstRttMs), 4095));
          expect(kept?.worstLossRate).toBeCloseTo(worstLossRate, 4);
        }
      }),
    );
  });

  test('changed in any single character is never accepted', () => {
    const text = issueTicket(claims, 'm1', signer);
    fc.assert(
      fc.property(
        fc.nat(text.length - 1),
        fc.constantFrom('A', 'Z', 'a', 'z', '0', '9', '-', '_', '.'),
        (index, char) => {
          fc.pre(text[index] !== char);
          expect(refusal(text.slice(0, index) + char + text.slice(index + 1))).not.toBe('accepted');
        },
      ),
      { numRuns: 500 },
    );
  });

  test('of a forger is refused', () => {
    expect(refusal(issueTicket(claims, 'm1', (bytes) => sign(null, bytes, other.privateKey)))).toBe(
      'ticket-signature-wrong',
    );
    expect(refusal(altered({ payload: { n: '1.zzzzzzzzzz.9.1.1.1' } }))).toBe('ticket-signature-wrong');
  });

  test('with an unknown key, algorithm or version is refused before any cryptography', () => {
    const never = () => {
      throw new Error('cryptography was used');
    };
    const refusedAs = (text: string) => {
      const decoded = decodeTicket(text);
      const result = decoded.ok
        ? verifyTicket(decoded.value, decoded.value.keyId === 'm1' ? never : undefined)
        : decoded;
      return result.ok ? 'accepted' : result.error.code;
    };
    expect(refusedAs(altered({ header: { alg: 'none' } }))).toBe('ticket-version-unknown');
    expect(refusedAs(altered({ header: { alg: 'HS256' } }))).toBe('ticket-version-unknown');
    expect(refusedAs(altered({ header: { typ: 'lh2' } }))).toBe('ticket-version-unknown');
    expect(refusedAs(altered({ header: { kid: 'm2' } }))).toBe('ticket-key-unknown');
  });

  test.each([
    ['a chain with a depot twice', { c: `a.b~${PROMISE}010` }],
    ['an empty chain', { c: `a.b~${PROMISE}` }],
    ['a depot that is not listed', { c: `a~${PROMISE}01` }],
    ['too long a chain', { c: `a.b.c.d.e~${PROMISE}01234` }],
    ['too many alternatives', { c: `a~${Array(6).fill(`${PROMISE}0`).join('~')}` }],
    ['a chain without a promise', { c: 'a.b~01' }],
    ['a promise that is no number', { c: 'a.b~AAAA!AAAAA01' }],
    ['a loss above one', { c: 'a.b~AAAAAAA___01' }],
    ['no lanes', { n: '0.1.5.1.1.1' }],
    ['more than eight lanes', { n: '9.1.5.1.1.1' }],
    ['a negative budget', { n: '1.-1.5.1.1.1' }],
    ['an endless budget', { n: '1.zzzzzzzzzzz.5.1.1.1' }],
    ['a missing time', { n: '1.1.5.1.1' }],
    ['a hash too few', { u: 'A'.repeat(22) }],
    ['another kind', { k: 'x' }],
  ])('with %s is malformed, however well signed', (_, payload) => {
    expect(refusal(altered({ payload, resign: true }))).toBe('ticket-malformed');
  });

  test('that is noise never crashes the depot', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(refusal(text)).not.toBe('accepted');
      }),
    );
    fc.assert(
      fc.property(fc.base64String(), fc.base64String(), (a, b) => {
        expect(refusal(`${a}.${b}.${'A'.repeat(86)}`)).not.toBe('accepted');
      }),
    );
  });
});

describe("a ticket's life", () => {
  test('allows a minute between the clocks at each of its borders', () => {
    const skew = CLOCK_SKEW_SECONDS;
    const phase = (at: number) => ticketPhase(claims, at);
    expect(phase(claims.issuedAt - skew - 1)).toBe('future');
    expect(phase(claims.issuedAt - skew)).toBe('start');
    expect(phase(claims.lastStart + skew)).toBe('start');
    expect(phase(claims.lastStart + skew + 1)).toBe('resume');
    expect(phase(claims.endOfLife + skew)).toBe('resume');
    expect(phase(claims.endOfLife + skew + 1)).toBe('over');
  });
});

describe("a ticket's chains", () => {
  test('begin at their own entry depots, and end with the entry depot alone', () => {
    const chainsOf = (entry: string) => chainsForEntry(claims, entry).map(({ chain }) => chain);
    expect(chainsForEntry(claims, 'pe-1')).toEqual([
      { chainIndex: 2, chain: ['pe-1', 'sp-1'] },
      { chainIndex: 3, chain: ['pe-1'] },
    ]);
    expect(chainsOf('rj-1')[0]).toEqual(['rj-1', 'sp-1', 'sc-1']);
    expect(chainsOf('rj-1').at(-1)).toEqual(['rj-1']);
    expect(chainsOf('rj-1').every(([entry]) => entry === 'rj-1')).toBe(true);
    expect(chainsOf('sp-1')).toEqual([]);
    const alone = { ...claims, chains: [['rj-1'], ['rj-1', 'sp-1']] };
    expect(chainsForEntry(alone, 'rj-1').map(({ chainIndex }) => chainIndex)).toEqual([0, 1]);
    expect(isEntryDepot(claims, 'sc-1')).toBe(false);
  });
});

describe('the hashes in a ticket', () => {
  test('tell URLs and origins apart, and one URL in two spellings together', () => {
    const hash = (text: string) => {
      const url = parseOriginUrl(text);
      return url.ok ? hashOriginUrl(url.value, sha256) : 'refused';
    };
    expect(hash('https://example.org/a')).toBe(hash('https://EXAMPLE.org:443/a'));
    expect(hash('https://example.org/a')).not.toBe(hash('http://example.org:443/a'));
    expect(hash('https://example.org/a')).not.toBe(hash('https://example.org/a?'));
    expect(hashAuthority('example.org', 443, sha256)).not.toBe(hashAuthority('example.org', 80, sha256));
    expect(hash('https://example.org/a')).toMatch(/^[A-Za-z0-9_-]{22}$/);
  });
});

describe('a ticket of an entry group', () => {
  const ofGroup = { ...claims, group: 'south' };
  const read = (of: TicketClaims) => open(issueTicket(of, 'm1', signer));

  test('names it, and comes back as it was', () => {
    expect(read(ofGroup)).toEqual({ ok: true, value: ofGroup });
    expect(issueTicket(ofGroup, 'm1', signer).length - issueTicket(claims, 'm1', signer).length).toBeLessThan(
      20,
    );
    expect(refusal(issueTicket({ ...claims, group: 'Süd' }, 'm1', signer))).toBe('ticket-malformed');
  });

  test('lets each of its depots begin, by chains of its own or alone, and nobody else', () => {
    const at = (depot: string, group?: string) => claimsInGroup(ofGroup, depot, group);
    expect(at('pe-1', 'south'), 'it has a chain').toBe(ofGroup);
    expect(chainsForEntry(at('ba-1', 'south'), 'ba-1')).toEqual([{ chainIndex: 3, chain: ['ba-1'] }]);
    for (const claimsThere of [at('ba-1'), at('ba-1', 'north'), claimsInGroup(claims, 'ba-1', 'south')]) {
      expect(isEntryDepot(claimsThere, 'ba-1')).toBe(false);
    }
  });
});
