import { expect, test } from 'vitest';
import { UnframedBook } from './unframed-book.ts';

const DAY_MS = 86_400_000;
const EXPORT = {
  scheme: 'https',
  host: 'origin.example',
  port: 443,
  path: '/export/report.csv',
  query: null,
} as const;
const HERE = '198.51.100.0/24';
const THERE = '203.0.113.0/24';
const ELSEWHERE = '192.0.2.0/24';

test('bodies that end with their connections are expected in the folder that gave one, or of the program that did, for a day', () => {
  let nowMs = 0;
  const book = new UnframedBook(() => nowMs);
  const program = { ...EXPORT, path: '/export.php', query: 'id=1' };
  for (const url of [EXPORT, program]) book.note(url, HERE, true);
  expect(book.isUnframed({ ...EXPORT, path: '/export/other.csv' }, HERE)).toBe(true);
  expect(book.isUnframed({ ...program, query: 'id=2' }, HERE)).toBe(true);
  for (const path of ['/a.iso', '/files/a.iso', '/export/old/a.iso', '/export.php'])
    expect(book.isUnframed({ ...EXPORT, path }, HERE), path).toBe(false);
  nowMs += DAY_MS;
  expect(book.isUnframed(EXPORT, HERE)).toBe(false);
});

test('what one client network has met is its own until a second one has met it', () => {
  const book = new UnframedBook(() => 0);
  book.note(EXPORT, HERE, true);
  expect([HERE, THERE].map((network) => book.isUnframed(EXPORT, network))).toEqual([true, false]);
  book.note(EXPORT, THERE, true);
  expect(book.isUnframed(EXPORT, ELSEWHERE)).toBe(true);
});

test('a body that says where it ends makes an end of it', () => {
  const book = new UnframedBook(() => 0);
  for (const network of [HERE, THERE]) book.note(EXPORT, network, true);
  book.note(EXPORT, ELSEWHERE, false);
  expect([HERE, THERE].map((network) => book.isUnframed(EXPORT, network))).toEqual([false, false]);
});

test('that they end without a goodbye is known for as long, in the same folder, until one says where it ends', () => {
  let nowMs = 0;
  const book = new UnframedBook(() => nowMs);
  const known = (url: typeof EXPORT, network = HERE) => book.endsWithoutGoodbye(url, network);
  book.note(EXPORT, HERE, true);
  expect(known(EXPORT)).toBe(false);
  book.noteNoGoodbye(EXPORT, HERE);
  book.note(EXPORT, HERE, true);
  expect([known(EXPORT), known(EXPORT, THERE)]).toEqual([true, false]);
  expect(book.endsWithoutGoodbye({ ...EXPORT, path: '/export/old/a.iso' }, HERE)).toBe(false);
  nowMs += DAY_MS;
  expect(known(EXPORT)).toBe(false);
  book.noteNoGoodbye(EXPORT, HERE);
  book.note(EXPORT, HERE, false);
  expect(known(EXPORT)).toBe(false);
});
