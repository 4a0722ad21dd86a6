import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import { formatPrefix, type Prefix, readAddress, readPrefix, truncate } from './address.ts';
import { PrefixTable } from './prefix-table.ts';
import { PrefixTableBuilder } from './prefix-table-builder.ts';

type Entry = readonly [prefix: string, value: number];

function tableOf(entries: readonly Entry[]): PrefixTable {
  const builder = new PrefixTableBuilder();
  for (const [text, value] of entries) builder.add(asPrefix(text), value);
  return new PrefixTable(builder.build());
}

function asPrefix(text: string): Prefix {
  const prefix = readPrefix(text);
  if (typeof prefix === 'string') throw new Error(prefix);
  return prefix;
}

function look(table: PrefixTable, address: string) {
  const read = readAddress(address);
  const match = read && table.match(read);
  expect(read && table.valueOf(read)).toBe(match?.value);
  return match && { value: match.value, prefix: formatPrefix(match.prefix) };
}

/** Every prefix is tried, by another library. */
function lookSlowly(entries: readonly Entry[], address: string) {
  const parsed = ipaddr.process(address);
  let best: { value: number; prefix: string; length: number } | undefined;
  for (const [prefix, value] of entries) {
    const [base, length] = ipaddr.parseCIDR(prefix);
    if (base.kind() !== parsed.kind() || !parsed.match(base, length)) continue;
    if (!best || length > best.length) best = { value, prefix, length };
  }
  return best && { value: best.value, prefix: best.prefix };
}

// Few different bits, so that prefixes nest and meet, and addresses lie at their edges.
const word = fc.constantFrom(
  0,
  1,
  0x8000_0000,
  0x8000_0001,
  0xffff_ffff,
  0xffff_fffe,
  0x0a00_0000,
  0x0a00_ffff,
);
const words = fc.oneof(word, fc.nat(0xffff_ffff));
const prefixes = (isV6: boolean) =>
  fc
    .record({ high: words, low: words, length: fc.nat(isV6 ? 64 : 32) })
    .map(({ high, low, length }) =>
      formatPrefix({ ...truncate({ isV6, high, low: isV6 ? low : 0 }, length), length }),
    );
const entries = fc.array(fc.tuple(fc.oneof(prefixes(false), prefixes(true)), fc.nat(0xffff_ffff)), {
  maxLength: 60,
});
const v4Address = words.map((high) => ipaddr.fromByteArray(bytesOf(high)).toString());
const v6Address = fc
  .tuple(words, words, fc.nat(0xffff))
  .map(([high, low, last]) =>
    ipaddr
      .fromByteArray([...bytesOf(high), ...bytesOf(low), 0, 0, 0, 0, 0, 0, ...bytesOf(last).slice(2)])
      .toString(),
  );

function bytesOf(value: number): number[] {
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
}

describe('a table of prefixes', () => {
  test('says of every address what trying each prefix says, with IPv4 and IPv6 nested in any order', () => {
    fc.assert(
      fc.property(entries, fc.array(fc.oneof(v4Address, v6Address), { minLength: 1 }), (given, addresses) => {
        const table = tableOf(given);
        for (const address of addresses) expect(look(table, address)).toEqual(lookSlowly(given, address));
      }),
      { numRuns: 400 },
    );
  });

  test('is right at both edges of each of its prefixes', () => {
    fc.assert(
      fc.property(entries, (given) => {
        const table = tableOf(given);
        for (const [prefix] of given) {
          const family = prefix.includes(':') ? ipaddr.IPv6 : ipaddr.IPv4;
          const first = family.networkAddressFromCIDR(prefix).toString();
          const last = family.broadcastAddressFromCIDR(prefix).toString();
          expect([first, last].map((edge) => look(table, edge))).toEqual(
            [first, last].map((edge) => lookSlowly(given, edge)),
          );
        }
      }),
      { numRuns: 200 },
    );
  });

  test('knows nothing of an address that no prefix is around, and nothing at all when it is empty', () => {
    const table = tableOf([['192.0.2.0/24', 7]]);
    expect(look(table, '192.0.3.0')).toBeUndefined();
    expect(look(table, '192.0.1.255')).toBeUndefined();
    expect(look(table, '2001:db8::1')).toBeUndefined();
    expect(look(tableOf([]), '192.0.2.1')).toBeUndefined();
  });

  test('counts the first of two values of one prefix', () => {
    const table = tableOf([
      ['192.0.2.0/24', 7],
      ['192.0.2.0/24', 8],
    ]);
    expect(look(table, '192.0.2.1')).toEqual({ value: 7, prefix: '192.0.2.0/24' });
    expect(table.size).toBe(1);
  });

  test('takes 13 bytes for a prefix of IPv4 and 17 for one of IPv6, beside its two indexes', () => {
    const indexes = tableOf([]).bytes;
    expect(indexes).toBeLessThan(530_000);
    const many = Array.from({ length: 1000 }, (_, at): Entry => [`10.${at >> 8}.${at & 255}.0/24`, at]);
    expect(tableOf(many).bytes - indexes).toBe(13_000);
    expect(tableOf([['2001:db8::/32', 1]]).bytes - indexes).toBe(17);
  });
});

describe('an address', () => {
  test('is read as another library reads it, in whatever spelling', () => {
    const spelled = fc.oneof(
      v4Address,
      v6Address,
      v4Address.map((address) => `::ffff:${address}`),
      v4Address.map((address) => `64:ff9b::${address}`),
      v6Address.map((address) => `${address}%eth0`),
      v6Address.map((address) => address.toUpperCase()),
      fc.ipV4(),
      // The library takes RFC 4291's outdated `::192.0.2.1` for a mapped address.
      fc.ipV6().filter((text) => !/^::\d+\./.test(text)),
    );
    fc.assert(
      fc.property(spelled, (text) => {
        const parsed = ipaddr.process(text.split('%', 1)[0] ?? '');
        const bytes = [...parsed.toByteArray(), 0, 0, 0, 0];
        const numberAt = (at: number) => bytes.slice(at, at + 4).reduce((sum, byte) => sum * 256 + byte, 0);
        expect(readAddress(text)).toEqual({
          isV6: parsed.kind() === 'ipv6',
          high: numberAt(0),
          low: parsed.kind() === 'ipv6' ? numberAt(4) : 0,
        });
      }),
      { numRuns: 400 },
    );
  });

  test.each([
    '',
    '1.2.3',
    '1.2.3.4.5',
    '1.2.3.256',
    '01.2.3.4',
    '1.2.3.4 ',
    '1..2.3',
    ':',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '12345::',
    '1:2:3:4:5:6:7:8::',
    '::1.2.3',
    '1:',
    ':1',
    'g::',
    'example.org',
  ])('is not what %s says', (text) => {
    expect(readAddress(text)).toBeUndefined();
    expect(ipaddr.IPv6.isValid(text) && text !== '').toBe(false);
  });

  test('never ends the process, whatever stands there', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...Array.from('0123456789abcdef:./%xg')) }), (text) => {
        const read = readAddress(text);
        if (read) expect(ipaddr.isValid(text.split('%', 1)[0] ?? '')).toBe(true);
        expect(['string', 'object']).toContain(typeof readPrefix(text));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a prefix', () => {
  test.each([
    ['192.0.2.0', /no prefix/],
    ['192.0.2.0/33', /not a length from \/0 to \/32/],
    ['192.0.2.0/024', /no prefix/],
    ['192.0.2.7/24', /bits behind its length: 192\.0\.2\.0\/24 is meant/],
    ['2001:db8::/65', /not a length from \/0 to \/64/],
    ['2001:db8::1/64', /2001:db8::\/64 is meant/],
    ['::ffff:192.0.2.0/80', /not a length/],
  ])('%s is refused with what is wrong', (text, wrong) => {
    expect(readPrefix(text)).toMatch(wrong);
  });

  test('of IPv4 may be spelled as mapped to IPv6', () => {
    expect(readPrefix('::ffff:192.0.2.0/120')).toEqual(readPrefix('192.0.2.0/24'));
  });
});
