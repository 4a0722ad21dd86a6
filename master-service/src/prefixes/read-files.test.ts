import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { writeMmdb } from '../testing/write-mmdb.ts';
import { formatPrefix, readAddress, truncate } from './address.ts';
import { PrefixTable } from './prefix-table.ts';
import { type AsTableData, readAsTable } from './read-as-table.ts';
import { readCoverage } from './read-coverage.ts';

function coverageOf(...lines: string[]) {
  const read = readCoverage(Buffer.from(lines.join('\n')));
  if (!read.ok) throw read.error;
  const { table, entries, systems } = read.value;
  const { match, of } = lookUpIn(new PrefixTable(table));
  return {
    of: (address: string) => entries[of(address) ?? -1],
    match,
    system: (asNumber: number) => entries[systems.get(asNumber) ?? -1],
  };
}

function lookUpIn(table: PrefixTable) {
  const at = (address: string) => readAddress(address) ?? { isV6: false, high: 0, low: 0 };
  return {
    of: (address: string) => table.valueOf(at(address)),
    match: (address: string) => {
      const match = table.match(at(address));
      return match && [formatPrefix(match.prefix), match.value];
    },
    size: table.size,
  };
}

const mistakesOf = (...lines: string[]) => {
  const read = readCoverage(Buffer.from(lines.join('\n')));
  return read.ok ? undefined : [read.error.code, ...(read.error.detail?.split('; ') ?? [])];
};

function asTableOf(file: Buffer): AsTableData & ReturnType<typeof lookUpIn> {
  const read = readAsTable(file);
  if (!read.ok) throw read.error;
  return { ...read.value, ...lookUpIn(new PrefixTable(read.value.table)) };
}

describe('a coverage file', () => {
  test('says which site a prefix belongs to, the longest one first, and which one a system', () => {
    const { of, system } = coverageOf(
      '# our customers',
      '10.0.0.0/8 rj',
      '',
      '10.1.0.0/16\tpe   fixed  # by contract',
      '2001:db8::/32 rj',
      'AS64500 sp',
      'as64501 sp fixed',
    );
    expect(of('10.2.3.4')).toEqual({ site: 'rj', isFixed: false });
    expect(of('10.1.3.4')).toEqual({ site: 'pe', isFixed: true });
    expect(of('2001:db8:1::1')).toEqual({ site: 'rj', isFixed: false });
    expect(of('192.0.2.1')).toBeUndefined();
    expect(system(64_500)).toEqual({ site: 'sp', isFixed: false });
    expect(system(64_501)).toEqual({ site: 'sp', isFixed: true });
    expect(system(64_502)).toBeUndefined();
  });

  test('with mistakes counts in nothing, and each is told with its line and its reason', () => {
    expect(
      mistakesOf(
        '10.0.0.0/8 rj',
        'nonsense',
        '10.0.0.1/8 rj',
        '10.0.0.0/33 rj',
        '10.0.0.0/8 pe',
        '10.2.0.0/16 r/j',
        '10.3.0.0/16 rj slow',
        'AS0 rj',
        '10.0.0.0/8 rj',
      ),
    ).toEqual([
      'prefixes-invalid',
      'line 2: a prefix and a site belong on each line',
      'line 3: the address has bits behind its length: 10.0.0.0/8 is meant',
      'line 4: /33 is not a length from /0 to /32',
      'line 5: 10.0.0.0/8 is given another site in line 1',
      "line 6: 'r/j' cannot be the name of a site",
      "line 7: 'slow' means nothing behind a site: fixed is all that may stand there",
      "line 8: 'AS0' is no prefix, for example 192.0.2.0/24",
    ]);
  });

  test('with mistakes in every line tells of some, and of how many more there are', () => {
    const mistakes = mistakesOf(...Array.from({ length: 1000 }, (_, at) => `${'x'.repeat(200)}${at} rj`));
    expect(mistakes).toHaveLength(22);
    expect(mistakes?.at(-1)).toBe('and 980 more');
    expect(mistakes?.[1]).toMatch(/^line 1: 'x{60}\.\.\.' is no prefix/);
  });

  test('never ends the process, whatever is in it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        expect(typeof readCoverage(Buffer.from(bytes)).ok).toBe('boolean');
        expect(typeof readAsTable(Buffer.from(bytes)).ok).toBe('boolean');
      }),
    );
  });
});

describe('a table of autonomous systems', () => {
  test('is read from text in either order, and of two systems for one prefix the first counts', () => {
    const { of, match, size, skipped } = asTableOf(
      Buffer.from(
        [
          '% a dump of routes',
          '64500\t192.0.2.0/24\t311',
          '198.51.100.0/24 AS64501',
          '198.51.0.0/16 64502',
          '2001:db8::/32 64503',
          '198.51.100.0/24 64504',
        ].join('\r\n'),
      ),
    );
    expect([of('192.0.2.9'), of('198.51.100.1'), of('198.51.101.1'), of('2001:db8::1')]).toEqual([
      64_500, 64_501, 64_502, 64_503,
    ]);
    expect(match('198.51.100.1')).toEqual(['198.51.100.0/24', 64_501]);
    expect([size, skipped]).toEqual([4, 0]);
  });

  test('passes over a few lines that say nothing, counts them, and is refused where they are many', () => {
    const good = Array.from({ length: 98 }, (_, at) => `10.${at}.0.0/16 64500`);
    const odd = ['{64500,64501}\t10.200.0.0/16\t5', '0.0.0.0/0 64500'];
    expect(asTableOf(Buffer.from([...good, ...odd].join('\n')))).toMatchObject({ size: 98, skipped: 2 });
    const refused = readAsTable(Buffer.from([...good.slice(0, 10), ...odd].join('\n')));
    expect(!refused.ok && refused.error).toMatchObject({
      code: 'prefixes-invalid',
      detail:
        "line 11: '{64500,64501}' is no number of an autonomous system; line 12: a default route belongs to nobody",
    });
    expect(readAsTable(Buffer.alloc(0)).ok).toBe(false);
  });

  const record = (asNumber: number) => ({
    autonomous_system_number: asNumber,
    autonomous_system_organization: 'x',
  });

  test('is read from an MMDB', () => {
    const { of, match, skipped } = asTableOf(
      writeMmdb([
        ['10.0.0.0/8', record(64_500)],
        ['10.1.0.0/16', record(64_501)],
        ['192.0.2.0/25', { asn: 'AS64502' }],
        ['192.0.2.128/25', { asn: 'AS64502' }],
        ['2001:db8::/32', record(64_503)],
        ['2001:db8:1::/48', record(64_504)],
        ['198.51.100.0/24', { country: 'zz' }],
      ]),
    );
    expect([
      of('10.0.0.1'),
      of('10.1.2.3'),
      of('2001:db8:2::1'),
      of('2001:db8:1::1'),
      of('198.51.100.1'),
    ]).toEqual([64_500, 64_501, 64_503, 64_504, undefined]);
    expect(match('192.0.2.200'), 'networks of one system are joined').toEqual(['192.0.2.0/24', 64_502]);
    expect(skipped).toBe(1);
  });

  const prefix = fc
    .record({
      isV6: fc.boolean(),
      high: fc.nat(0xffff_ffff),
      low: fc.nat(0xffff_ffff),
      length: fc.integer({ min: 4, max: 64 }),
    })
    .map(({ isV6, high, low, length: any }) => {
      const length = isV6 ? any : Math.min(any, 32);
      const start = isV6 ? (0x2400_0000 | (high & 0xff_ffff)) >>> 0 : high;
      return formatPrefix({ ...truncate({ isV6, high: start, low: isV6 ? low : 0 }, length), length });
    });

  test('says the same whether it is read from text or from an MMDB, nested as it may be', () => {
    fc.assert(
      fc.property(fc.uniqueArray(prefix, { minLength: 1, maxLength: 30 }), (prefixes) => {
        const numbered = prefixes.map((text, at) => [text, 64_500 + at] as const);
        const text = asTableOf(Buffer.from(numbered.map((pair) => pair.join(' ')).join('\n')));
        const mmdb = asTableOf(writeMmdb(numbered.map(([one, asNumber]) => [one, record(asNumber)])));
        for (const [one] of numbered) {
          const address = one.split('/')[0] ?? '';
          expect(mmdb.of(address)).toBe(text.of(address));
        }
      }),
    );
  });

  test('from a damaged MMDB, cut or changed anywhere, is refused or read, and never ends the process', () => {
    const whole = writeMmdb([
      ['10.0.0.0/8', record(64_500)],
      ['2001:db8::/32', record(64_501)],
    ]);
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.nat(255), fc.boolean(), (at, byte, isCut) => {
        const damaged = Buffer.from(isCut ? whole.subarray(at) : whole);
        if (!isCut) damaged[at] = byte;
        const read = readAsTable(damaged);
        expect(read.ok ? 'prefixes-invalid' : read.error.code).toBe('prefixes-invalid');
      }),
      { numRuns: 300 },
    );
  });
});
