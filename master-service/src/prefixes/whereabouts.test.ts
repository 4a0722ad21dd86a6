import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Facts } from '../facts/facts.ts';
import { type Prefix, readAddress, readPrefix } from './address.ts';
import { MeasuredPrefixes, PREFIX_FACTS } from './measured-prefixes.ts';
import { PrefixFiles } from './prefix-files.ts';
import { WhereaboutsLookUp } from './whereabouts.ts';

const NOW_MS = 1_795_000_000_000;
const DAY_MS = 86_400_000;

function asPrefix(text: string): Prefix {
  const prefix = readPrefix(text);
  if (typeof prefix === 'string') throw new Error(prefix);
  return prefix;
}

interface Known {
  readonly coverage?: readonly string[];
  readonly asTable?: readonly string[];
  readonly measured?: Readonly<Record<string, string>>;
  readonly site?: string;
}

async function whereaboutsWith({ coverage, asTable, measured = {}, site }: Known) {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-prefixes-'));
  const write = (name: string, lines: readonly string[] | undefined) => {
    if (!lines) return undefined;
    writeFileSync(join(folder, name), lines.join('\n'));
    return join(folder, name);
  };
  const paths = { coverage: write('coverage.txt', coverage), asTable: write('as.txt', asTable) };
  const files = new PrefixFiles(paths, () => {});
  await files.start();
  const learned = new MeasuredPrefixes();
  for (const [prefix, name] of Object.entries(measured)) learned.learn(asPrefix(prefix), name, NOW_MS);
  const lookUp = new WhereaboutsLookUp({ files, measured: learned, site: () => site });
  return { lookUp, of: (address: string) => lookUp.placeOfClient(address, NOW_MS) };
}

describe('who is where', () => {
  test('is said by the longest measured prefix before any table', async () => {
    const { of } = await whereaboutsWith({
      coverage: ['10.0.0.0/8 rj', 'AS64500 sp'],
      asTable: ['192.0.2.0/24 64500'],
      measured: { '10.1.0.0/16': 'pe', '10.1.2.0/24': 'am', '192.0.2.0/24': 'ce', '2001:db8:1::/48': 'pe' },
      site: 'df',
    });
    expect(of('10.1.2.3')).toEqual({ site: { name: 'am', rule: 'measured' } });
    expect(of('10.1.3.3')).toEqual({ site: { name: 'pe', rule: 'measured' } });
    expect(of('192.0.2.7')).toEqual({ site: { name: 'ce', rule: 'measured' }, asNumber: 64_500 });
    expect(of('2001:db8:1:2::1')).toEqual({ site: { name: 'pe', rule: 'measured' } });
  });

  test('is said by the operator where his line is fixed, or about a longer prefix than any measured one', async () => {
    const { of } = await whereaboutsWith({
      coverage: ['10.0.0.0/8 rj fixed', '172.16.4.0/26 sp', 'AS64500 df fixed'],
      asTable: ['192.0.2.0/24 64500'],
      measured: { '10.1.2.0/24': 'am', '172.16.4.0/24': 'am', '192.0.2.0/24': 'am' },
    });
    expect(of('10.1.2.3').site).toEqual({ name: 'rj', rule: 'coverage' });
    expect(of('172.16.4.1').site).toEqual({ name: 'sp', rule: 'coverage' });
    expect(of('172.16.4.99').site).toEqual({ name: 'am', rule: 'measured' });
    expect(of('192.0.2.7').site).toEqual({ name: 'df', rule: 'as-coverage' });
  });

  test('falls back from a line for the prefix to one for its system, then to the site that was asked', async () => {
    const { of, lookUp } = await whereaboutsWith({
      coverage: ['198.51.100.0/25 rj', 'AS64500 sp'],
      asTable: ['198.51.100.0/24 64500', '203.0.113.0/24 64501'],
      site: 'df',
    });
    expect(of('198.51.100.1')).toEqual({ site: { name: 'rj', rule: 'coverage' }, asNumber: 64_500 });
    expect(of('198.51.100.200')).toEqual({ site: { name: 'sp', rule: 'as-coverage' }, asNumber: 64_500 });
    expect(of('203.0.113.1')).toEqual({ site: { name: 'df', rule: 'asked' }, asNumber: 64_501 });
    expect(of('origin.example')).toEqual({});
    expect(lookUp.counts).toEqual({ coverage: 1, measured: 0, 'as-coverage': 1, asked: 1, none: 1 });
  });

  test('is nothing at all while nothing is known', async () => {
    const { of } = await whereaboutsWith({});
    expect(of('192.0.2.1')).toEqual({});
  });

  test('is explained with what every source says', async () => {
    const { lookUp } = await whereaboutsWith({
      coverage: ['10.0.0.0/8 rj', 'AS64500 sp'],
      asTable: ['10.1.0.0/16 64500'],
      measured: { '10.1.2.0/24': 'am' },
      site: 'df',
    });
    const address = readAddress('10.1.2.3');
    expect(address && lookUp.explain(address, NOW_MS + 5)).toEqual({
      place: { site: { name: 'am', rule: 'measured' }, asNumber: 64_500 },
      said: [
        { rule: 'coverage', prefix: '10.0.0.0/8', site: 'rj', isFixed: false },
        { rule: 'measured', prefix: '10.1.2.0/24', site: 'am', ageMs: 5 },
        { rule: 'as-coverage', asNumber: 64_500, site: 'sp', isFixed: false },
        { rule: 'asked', site: 'df' },
        { rule: 'as-table', prefix: '10.1.0.0/16', asNumber: 64_500 },
      ],
    });
  });
});

describe('measured prefixes', () => {
  const address = { isV6: false, high: 0x0a01_0203, low: 0 };

  test('are forgotten after a week, also by a clock that was set back meanwhile', () => {
    const measured = new MeasuredPrefixes();
    measured.learn(asPrefix('10.1.0.0/16'), 'pe', NOW_MS + 6 * DAY_MS);
    measured.learn(asPrefix('10.1.2.0/24'), 'am', NOW_MS);
    expect(measured.longest(address, NOW_MS - DAY_MS)).toMatchObject({ site: 'am', ageMs: 0 });
    expect(measured.longest(address, NOW_MS + 7 * DAY_MS)).toMatchObject({ site: 'am' });
    expect(measured.longest(address, NOW_MS + 8 * DAY_MS)).toMatchObject({ site: 'pe', ageMs: 2 * DAY_MS });
    expect(measured.longest(address, NOW_MS + 14 * DAY_MS)).toBeUndefined();
  });

  test('stay within their bound when many are learned; those measured last remain', () => {
    const measured = new MeasuredPrefixes();
    const network = (at: number) => ({
      isV6: true,
      high: 0x2400_0000 + (at >>> 8),
      low: ((at & 255) << 16) >>> 0,
    });
    for (let at = 0; at < 150_000; at += 1) measured.learn({ ...network(at), length: 48 }, 'am', NOW_MS);
    measured.learn(asPrefix('10.1.2.0/24'), 'pe', NOW_MS);
    expect(measured.size).toBe(100_000);
    expect(measured.longest(address, NOW_MS)).toMatchObject({ site: 'pe' });
    expect(measured.longest(network(149_999), NOW_MS)).toMatchObject({ site: 'am' });
    expect(measured.longest(network(0), NOW_MS)).toBeUndefined();
  });

  test('of several masters count as the last one says, and what cannot be a prefix counts nowhere', () => {
    const facts = new Facts({ kinds: PREFIX_FACTS });
    const measured = new MeasuredPrefixes(facts);
    const tell = (source: string, key: string, site: string, timeMs: number) =>
      facts.store.take(
        { kind: 'prefix-site', key, source, epoch: 1, sequence: timeMs, timeMs, value: { site } },
        NOW_MS,
      ).ok;
    tell('one', '10.1.0.0/16', 'am', NOW_MS - 5);
    tell('two', '10.1.0.0/16', 'pe', NOW_MS - 3);
    tell('three', '10.1.0.0/16', 'sp', NOW_MS - 9);
    expect(tell('one', '10.1.2.3/24', 'zz', NOW_MS - 2)).toBe(true);
    expect(tell('one', '2001:db8::/64', 'zz', NOW_MS - 1)).toBe(true);
    expect(measured.longest(address, NOW_MS)).toMatchObject({ site: 'pe', ageMs: 3 });
    expect(measured.size).toBe(1);
    facts.store.forget(PREFIX_FACTS[0] ?? never(), '10.1.0.0/16');
    expect([measured.size, measured.longest(address, NOW_MS)]).toEqual([0, undefined]);
  });
});

function never(): never {
  throw new Error('there is a kind');
}
