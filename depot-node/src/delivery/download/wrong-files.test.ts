import { expect, test } from 'vitest';
import { WrongFiles } from './wrong-files.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const CLIENT = { address: '198.51.100.7', network: '198.51.100.0/24' };
const OTHER = { address: '198.51.100.8', network: '198.51.100.0/24' };
const MODIFIED = 'Sun, 01 Nov 2026 12:00:00 GMT';
const LATER = 'Mon, 02 Nov 2026 12:00:00 GMT';
const REST = { range: 'bytes=99-' };
const given = (etag?: string, modified?: string) => ({
  validators: { etag, 'last-modified': modified },
  sizeBytes: 100,
});
const of = (client: typeof CLIENT, jobId: string, urlHash = 'file') => ({
  claims: { jobId, urlHash },
  client,
});

test('a wrong file is known by its job wherever its client is, and for an hour by its client whatever the ticket', () => {
  let nowMs = 0;
  const files = new WrongFiles(() => nowMs);
  const has = (client: typeof CLIENT, jobId: string, urlHash?: string) =>
    files.find(of(client, jobId, urlHash), REST) !== undefined;
  files.note(of(CLIENT, 'a'), given());
  expect(has(OTHER, 'a')).toBe(true);
  expect(has(CLIENT, 'b')).toBe(true);
  expect(has(OTHER, 'b')).toBe(false);
  expect(has(CLIENT, 'b', 'another')).toBe(false);
  nowMs += HOUR_MS;
  expect(has(CLIENT, 'b')).toBe(false);
  expect(has(CLIENT, 'a')).toBe(true);
  nowMs += 7 * DAY_MS - HOUR_MS;
  expect(has(CLIENT, 'a')).toBe(false);
});

test.each<[string, ReturnType<typeof given>, Record<string, string>, boolean]>([
  ['its tag', given('"v1"', MODIFIED), { 'if-range': '"v1"' }, true],
  ['its tag among others', given('"v1"'), { 'if-match': '"v0", "v1"' }, true],
  ['its weak tag', given('W/"v1"'), { 'if-match': 'W/"v1"' }, true],
  [
    'its tag, and a date of his own',
    given('"v1"'),
    { 'if-match': '"v1"', 'if-unmodified-since': LATER },
    true,
  ],
  ['whatever there is', given('"v1"'), { 'if-match': '*' }, true],
  ['its date', given('"v1"', MODIFIED), { 'if-range': MODIFIED }, true],
  ['its date, for what he has', given(undefined, MODIFIED), { 'if-unmodified-since': MODIFIED }, true],
  ['another tag', given('"v1"', MODIFIED), { 'if-range': '"v2"' }, false],
  [
    'another tag, and its date',
    given('"v1"', MODIFIED),
    { 'if-match': '"v2"', 'if-unmodified-since': MODIFIED },
    false,
  ],
  ['a tag where it had none', given(undefined, MODIFIED), { 'if-match': '"v2"' }, false],
  ['a later date', given(undefined, MODIFIED), { 'if-unmodified-since': LATER }, false],
  ['another date', given(undefined, LATER), { 'if-range': MODIFIED }, false],
  ['a date where it had none', given('"v1"'), { 'if-range': MODIFIED }, false],
])('concerns who wants a later part and names %s', (_what, wrong, named, isConcerned) => {
  const files = new WrongFiles(() => 0);
  files.note(of(CLIENT, 'a'), wrong);
  const found = isConcerned ? wrong : undefined;
  expect(files.find(of(CLIENT, 'a'), { ...REST, ...named })).toEqual(found);
  // Who begins has no version yet that he goes on with.
  expect(files.find(of(CLIENT, 'a'), { range: 'bytes=0-', ...named })).toEqual(wrong);
});

test('all of another version replaces it for who names none, all of the same does not', () => {
  const files = new WrongFiles(() => 0);
  const wrong = given('"v1"', MODIFIED);
  files.note(of(CLIENT, 'a'), wrong);
  files.noteWhole(of(CLIENT, 'b'), given('"v1"', LATER));
  expect(files.find(of(CLIENT, 'b'), REST)).toEqual(wrong);
  files.noteWhole(of(CLIENT, 'b'), given('"v2"', MODIFIED));
  expect(files.find(of(CLIENT, 'b'), REST)).toBeUndefined();
  expect(files.find(of(CLIENT, 'b'), { ...REST, 'if-range': '"v1"' })).toEqual(wrong);
  // The job itself has had nothing else.
  expect(files.find(of(CLIENT, 'a'), REST)).toEqual(wrong);
});

test('a client network with ever more wrong files pushes out its own', () => {
  const files = new WrongFiles(() => 0);
  files.note(of(CLIENT, 'a'), given());
  const many = { address: '203.0.113.1', network: '203.0.113.0/24' };
  for (let job = 0; job < 5_000; job += 1) files.note(of(many, `many ${job}`, `${job}`), given());
  expect(files.find(of(CLIENT, 'a'), REST)).toBeDefined();
  expect(files.find(of(many, 'many 0', '0'), REST)).toBeUndefined();
});
