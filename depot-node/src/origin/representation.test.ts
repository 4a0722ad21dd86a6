import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { joinedPart, readRetryAfter } from './joined-part.ts';
import { headersForPart, isBeingWritten, readPart, readRepresentation } from './representation.ts';

const DATE = 'Tue, 01 Jan 2030 00:00:00 GMT';

test.each([
  ['within a minute before its answer', { 'last-modified': 'Mon, 31 Dec 2029 23:59:01 GMT' }, true],
  ['by a clock that is ahead', { 'last-modified': 'Tue, 01 Jan 2030 00:00:30 GMT' }, true],
  ['longer ago', { 'last-modified': 'Mon, 31 Dec 2029 23:58:59 GMT' }, false],
  [
    'when a cache took it, an hour ago',
    { 'last-modified': 'Tue, 01 Jan 2030 00:00:00 GMT', age: '3600' },
    false,
  ],
  ['at a time that is not said', {}, false],
])('a file that was changed %s is being written, or not', (_, headers, isSo) => {
  expect(isBeingWritten({ statusCode: 200, headers: { date: DATE, ...headers } })).toBe(isSo);
});

describe('the version of a file that an answer is of', () => {
  test.each([
    ['a strong tag', { etag: '"v1"' }, '"v1"'],
    [
      'a date more than a minute older than the answer',
      { 'last-modified': 'Mon, 31 Dec 2029 23:58:59 GMT', date: DATE },
      'Mon, 31 Dec 2029 23:58:59 GMT',
    ],
    [
      'the tag, before a date',
      { etag: '"v1"', 'last-modified': 'Mon, 31 Dec 2018 00:00:00 GMT', date: DATE },
      '"v1"',
    ],
  ])('is known by %s', (_, headers, validator) => {
    const answer = { statusCode: 200, headers: { 'content-length': '10', ...headers } };
    expect(readRepresentation(answer)).toMatchObject({ validator, sizeBytes: 10 });
  });

  test.each([
    ['a weak tag', { etag: 'W/"v1"' }],
    [
      'a weak tag beside an old date',
      { etag: 'W/"v1"', 'last-modified': 'Mon, 31 Dec 2018 00:00:00 GMT', date: DATE },
    ],
    ['a date of the last minute', { 'last-modified': 'Mon, 31 Dec 2029 23:59:30 GMT', date: DATE }],
    ['a date in the future', { 'last-modified': 'Mon, 31 Dec 2040 00:00:00 GMT', date: DATE }],
    ['a date without the time of the answer', { 'last-modified': 'Mon, 31 Dec 2018 00:00:00 GMT' }],
    ['nonsense for a tag', { etag: 'v1' }],
    ['nothing', {}],
    ['an origin without ranges', { etag: '"v1"', 'accept-ranges': 'none' }],
  ])('is not known by %s', (_, headers) => {
    const answer = { statusCode: 200, headers: { 'content-length': '10', ...headers } };
    expect(readRepresentation(answer)).toBeUndefined();
  });

  test.each([
    ['chunks', { statusCode: 200, headers: { 'transfer-encoding': 'chunked', etag: '"v1"' } }],
    [
      'a part of unknown total',
      { statusCode: 206, headers: { 'content-range': 'bytes 0-9/*', etag: '"v1"' } },
    ],
    [
      'several parts',
      { statusCode: 206, headers: { 'content-type': 'multipart/byteranges; boundary=x', etag: '"v1"' } },
    ],
    [
      "a length that is not the part's",
      { statusCode: 206, headers: { 'content-range': 'bytes 0-9/20', 'content-length': '11', etag: '"v1"' } },
    ],
    [
      'an end beyond the file',
      { statusCode: 206, headers: { 'content-range': 'bytes 0-20/20', etag: '"v1"' } },
    ],
    [
      'an end before the start',
      { statusCode: 206, headers: { 'content-range': 'bytes 9-8/20', etag: '"v1"' } },
    ],
    ['an error', { statusCode: 404, headers: { 'content-length': '10', etag: '"v1"' } }],
  ])('is not known of %s', (_, answer) => {
    expect(readRepresentation(answer)).toBeUndefined();
  });
});

/** A file with a part of it, in any place. */
const filePart = fc
  .tuple(fc.integer({ min: 1, max: 1e12 }), fc.nat(), fc.nat())
  .map(([sizeBytes, one, other]) => {
    const startByte = Math.min(one % sizeBytes, other % sizeBytes);
    return { sizeBytes, startByte, endByte: Math.max(one % sizeBytes, other % sizeBytes) + 1 };
  });

describe('an answer that continues a file', () => {
  const answerOf = (
    { sizeBytes, startByte, endByte }: { sizeBytes: number; startByte: number; endByte: number },
    etag = '"v1"',
  ) => ({
    statusCode: 206,
    headers: {
      'content-range': `bytes ${startByte}-${endByte - 1}/${sizeBytes}`,
      'content-length': String(endByte - startByte),
      etag,
    },
  });
  const versionOf = (sizeBytes: number) => ({
    sizeBytes,
    validator: '"v1"',
    validatedBy: 'etag' as const,
    contentEncoding: '',
  });

  test('is taken when it is exactly the part that was asked for', () => {
    fc.assert(
      fc.property(filePart, (part) => {
        const answer = answerOf(part);
        expect(readPart(answer)).toEqual(part);
        expect(joinedPart(answer, versionOf(part.sizeBytes), part)).toMatchObject({ ok: true });
        expect(headersForPart(versionOf(part.sizeBytes), part)).toEqual({
          range: `bytes=${part.startByte}-${part.endByte - 1}`,
          'if-range': '"v1"',
        });
      }),
    );
  });

  test('is refused when any number of it is another one, but for an end that comes earlier', () => {
    fc.assert(
      fc.property(filePart, filePart, (asked, given) => {
        fc.pre(JSON.stringify(asked) !== JSON.stringify(given));
        const isShorter =
          given.sizeBytes === asked.sizeBytes &&
          given.startByte === asked.startByte &&
          given.endByte < asked.endByte &&
          given.endByte - given.startByte >= 65_536;
        const joined = joinedPart(answerOf(given), versionOf(asked.sizeBytes), asked);
        expect(joined.ok).toBe(isShorter);
      }),
    );
  });

  test('is refused when its tag is another one, a weak one or none, or its coding another', () => {
    const part = { sizeBytes: 100, startByte: 10, endByte: 20 };
    const refused = (headers: object) => {
      const answer = { statusCode: 206, headers: { ...answerOf(part).headers, ...headers } };
      const joined = joinedPart(answer, versionOf(100), part);
      return joined.ok ? undefined : joined.error.code;
    };
    expect(refused({ etag: '"v2"' })).toBe('origin-changed');
    expect(refused({ etag: 'W/"v1"' })).toBe('origin-changed');
    expect(refused({ etag: undefined })).toBe('origin-changed');
    expect(refused({ 'content-encoding': 'gzip' })).toBe('origin-changed');
  });
});

test('a part that leaves out what a conforming server leaves out after If-Range is of the same version', () => {
  const part = { startByte: 10, endByte: 20 };
  const modified = 'Mon, 31 Dec 2018 00:00:00 GMT';
  const version = {
    sizeBytes: 100,
    validator: modified,
    validatedBy: 'last-modified' as const,
    contentEncoding: 'gzip',
  };
  const head = { 'content-range': 'bytes 10-19/100', 'content-length': '10' };
  const join = (headers: object) =>
    joinedPart({ statusCode: 206, headers: { ...head, ...headers } }, version, part).ok;
  expect(join({})).toBe(true);
  expect(join({ 'last-modified': modified, 'content-encoding': 'gzip' })).toBe(true);
  expect(join({ 'last-modified': 'Tue, 01 Jan 2019 00:00:00 GMT' })).toBe(false);
  expect(join({ 'content-encoding': 'br' })).toBe(false);
});

test('an origin says in seconds or by a date how long it is to be left alone', () => {
  const date = 'Sat, 21 Nov 2026 08:00:00 GMT';
  expect(readRetryAfter({ 'retry-after': '120' })).toBe(120);
  expect(readRetryAfter({ 'retry-after': 'Sat, 21 Nov 2026 08:00:30 GMT', date })).toBe(30);
  expect(readRetryAfter({ 'retry-after': 'Sat, 21 Nov 2026 07:00:00 GMT', date })).toBe(0);
  expect(readRetryAfter({ 'retry-after': 'soon', date })).toBeUndefined();
  expect(readRetryAfter({})).toBeUndefined();
});
