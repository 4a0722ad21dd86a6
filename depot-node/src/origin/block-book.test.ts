import type { OriginUrl } from '@longhaul/shared';
import { describe, expect, test } from 'vitest';
import { BlockBook } from './block-book.ts';

const ORIGIN = {
  scheme: 'https',
  host: 'origin.example',
  port: 443,
  path: '/files/a.iso',
  query: null,
} as const;
const HERE = '198.51.100.0/24';
const THERE = '203.0.113.0/24';

test('an origin that gives blocks is asked for them at once in the folders where it has, and nowhere else', () => {
  const book = new BlockBook(() => 0);
  book.noteFit(ORIGIN);
  const isFit = (change: Partial<OriginUrl>) => book.isFit({ ...ORIGIN, ...change });
  expect(isFit({ path: '/files/b.iso' })).toBe(true);
  // Links that are good for one request are like these.
  for (const path of ['/once/5f3a/a.iso', '/files/5f3a/a.iso', '/a.iso', `/files/${'x'.repeat(600)}/a.iso`])
    expect(isFit({ path }), path).toBe(false);
  expect(isFit({ query: 'token=5f3a' })).toBe(false);
  book.noteFit({ ...ORIGIN, query: 'token=5f3a' });
  expect(isFit({ query: 'token=5f3a' })).toBe(false);
  expect(isFit({ port: 8443 })).toBe(false);
});

describe('an origin that blocks were bad for', () => {
  test('is one to which no second connection stands twice in a row within ten minutes', () => {
    let nowMs = 0;
    const book = new BlockBook(() => nowMs);
    const unfitAfter = (trial: 'missed' | 'answered' | 'untold') => {
      book.noteTrial(trial, ORIGIN, HERE, []);
      return book.isUnfit(ORIGIN, HERE, []);
    };
    expect(unfitAfter('missed')).toBe(false);
    expect(unfitAfter('answered')).toBe(false);
    expect(unfitAfter('missed')).toBe(false);
    nowMs += 600_000;
    expect(unfitAfter('missed')).toBe(false);
    expect(unfitAfter('untold')).toBe(false);
    expect(unfitAfter('missed')).toBe(true);
  });

  test('is asked for all by the clients that met it, and by others when a second network has met it', () => {
    const book = new BlockBook(() => 0);
    book.noteFit(ORIGIN);
    book.noteUnfit(ORIGIN, HERE, []);
    book.noteUnfit(ORIGIN, HERE, []);
    expect([HERE, THERE].map((network) => book.isUnfit(ORIGIN, network, []))).toEqual([true, false]);
    expect(book.isFit(ORIGIN)).toBe(true);
    book.noteUnfit(ORIGIN, THERE, []);
    expect([HERE, THERE, '192.0.2.0/24'].map((network) => book.isUnfit(ORIGIN, network, []))).toEqual([
      true,
      true,
      true,
    ]);
    expect(book.isFit(ORIGIN)).toBe(false);
  });

  test('is tried again after ten minutes, and what one network meets then is its own', () => {
    let nowMs = 0;
    const book = new BlockBook(() => nowMs);
    book.noteUnfit(ORIGIN, HERE, []);
    book.noteUnfit(ORIGIN, THERE, []);
    nowMs += 600_000;
    expect(book.isUnfit(ORIGIN, HERE, [])).toBe(false);
    book.noteUnfit(ORIGIN, HERE, []);
    expect([HERE, THERE].map((network) => book.isUnfit(ORIGIN, network, []))).toEqual([true, false]);
  });

  test('is not known again to give them until it has, whoever complains alone later', () => {
    let nowMs = 0;
    const book = new BlockBook(() => nowMs);
    book.noteFit(ORIGIN);
    for (const network of [HERE, THERE]) book.noteUnfit(ORIGIN, network, []);
    nowMs += 660_000;
    book.noteUnfit(ORIGIN, HERE, []);
    expect(book.isFit(ORIGIN)).toBe(false);
    nowMs += 1;
    book.noteFit(ORIGIN);
    expect(book.isFit(ORIGIN)).toBe(true);
  });
});

test('a domain of names without end fills the memory with its own, and others stay in it', () => {
  const book = new BlockBook(() => 0);
  const unfit = { ...ORIGIN, host: 'unfit.example' };
  book.noteFit(ORIGIN);
  for (const network of [HERE, THERE]) book.noteUnfit(unfit, network, []);
  for (let index = 0; index < 2000; index += 1) {
    const other = { ...ORIGIN, host: `a${index}.evil.example` };
    book.noteFit(other);
    for (const network of [HERE, THERE]) book.noteUnfit(other, network, []);
  }
  expect(book.isUnfit({ ...ORIGIN, host: 'a0.evil.example' }, HERE, [])).toBe(false);
  expect(book.isUnfit({ ...ORIGIN, host: 'a1999.evil.example' }, HERE, [])).toBe(true);
  expect(book.isFit(ORIGIN)).toBe(true);
  expect(book.isUnfit(unfit, '192.0.2.0/24', [])).toBe(true);
});

test('a depot that keeps answers back harms an origin over its own ways alone', () => {
  const book = new BlockBook(() => 0);
  book.noteFit(ORIGIN);
  for (const network of [HERE, THERE]) book.noteUnfit(ORIGIN, network, ['bad', 'd2']);
  book.noteUnfit(ORIGIN, HERE, ['d3', 'bad']);
  const isUnfit = (...between: readonly string[]) => book.isUnfit(ORIGIN, '192.0.2.0/24', between);
  expect([isUnfit('bad'), isUnfit('d4', 'bad'), isUnfit(), isUnfit('d2'), isUnfit('d3')]).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(book.isUnfit(ORIGIN, HERE, [])).toBe(false);
  expect(book.isFit(ORIGIN)).toBe(true);
  book.noteUnfit(ORIGIN, HERE, ['d3']);
  expect([isUnfit(), book.isFit(ORIGIN)]).toEqual([true, false]);
});
