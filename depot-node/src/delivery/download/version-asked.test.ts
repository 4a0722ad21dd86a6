import type { IncomingHttpHeaders } from 'node:http';
import { expect, test } from 'vitest';
import { judgeVersion } from './version-asked.ts';

const MODIFIED = 'Sun, 06 Nov 1994 08:49:37 GMT';
const part = (headers: IncomingHttpHeaders) => ({ statusCode: 206, headers });

test.each([
  [
    'a tag without quotes that looks like a date to V8',
    'abc-12',
    { etag: 'abc-12', 'last-modified': MODIFIED },
  ],
  ['a date', MODIFIED, { etag: '"a"', 'last-modified': MODIFIED }],
  ['the same date in the form of RFC 850', 'Sunday, 06-Nov-94 08:49:37 GMT', { 'last-modified': MODIFIED }],
  ['the same date as asctime writes it', 'Sun Nov  6 08:49:37 1994 GMT', { 'last-modified': MODIFIED }],
  ['a weak tag', 'W/"a"', { etag: '"a"' }],
  ['a version of which the origin says nothing', '"a"', {}],
])('If-Range holds by %s', (_, ifRange, headers) => {
  expect(judgeVersion({ 'if-range': ifRange }, part(headers))).toBe('asked');
});

test.each([
  ['another tag', '"b"', { etag: '"a"' }],
  ['another tag without quotes', 'abc-13', { etag: 'abc-12' }],
  ['another date', 'Sun, 06 Nov 1994 08:49:38 GMT', { 'last-modified': MODIFIED }],
  ['something that is no date', 'Sun, whenever', { 'last-modified': MODIFIED }],
])('If-Range does not hold by %s', (_, ifRange, headers) => {
  expect(judgeVersion({ 'if-range': ifRange }, part(headers))).toBe('whole-wanted');
});
