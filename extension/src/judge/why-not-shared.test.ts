import { describe, expect, it } from 'vitest';
import { seenAnswer } from '../testing/seen-answer.ts';
import { isElsewhere, isRepeatable, whyNotShared } from './why-not-shared.ts';

const FIRST = { url: 'https://origin.example/my/file', address: undefined };
const why = (headers: Record<string, string>) => whyNotShared(seenAnswer({}, headers));

describe('an answer may be asked for by a depot', () => {
  it('when it is a plain file for everybody', () => {
    expect(why({})).toBeUndefined();
    expect(why({ vary: 'Accept-Encoding, Origin', 'cache-control': 'public, max-age=60' })).toBeUndefined();
    expect(why({ 'cache-control': 'no-store' })).toBeUndefined();
    expect(why({ 'content-encoding': 'identity' })).toBeUndefined();
  });

  it.each<[string, Record<string, string>]>([
    ['varies with the cookie', { vary: 'Accept-Encoding, COOKIE' }],
    ['varies with the login', { vary: 'Authorization' }],
    ['varies with everything', { vary: '*' }],
    ['is private', { 'cache-control': 'max-age=60, Private' }],
    ['is private in a part', { 'cache-control': 'private="x-name"' }],
    ['sets a cookie', { 'set-cookie': 'a=b' }],
  ])('not when it %s', (_what, headers) => {
    expect(why(headers)).toBe('personal');
  });

  it('not when its origin has no ranges, which may mean that it gives the file once', () => {
    expect(why({ 'accept-ranges': 'none' })).toBe('no-ranges');
    expect(whyNotShared({ ...seenAnswer(), headers: new Headers({ etag: '"v1"' }) })).toBe('no-ranges');
    expect(whyNotShared(seenAnswer({ status: 206 }))).toBe('no-ranges');
  });

  it('not when it is compressed on the way, because depots ask for it as it is', () => {
    expect(why({ 'content-encoding': 'x-gzip' })).toBe('encoded');
  });

  it('not when it answers a form, was asked for without a tab, or was not seen at all', () => {
    expect(whyNotShared(seenAnswer({ method: 'POST' }))).toBe('post');
    expect(whyNotShared(seenAnswer({ isFromTab: false }))).toBe('saved-as');
    expect(whyNotShared(undefined)).toBe('unseen');
  });
});

it('is not asked for by a depot where a redirect to it was for one user, whose cookie alone says nothing', () => {
  const ledBy = (headers: Record<string, string>) =>
    whyNotShared(seenAnswer({ first: { ...FIRST, headers: new Headers(headers) } }));
  expect(ledBy({ 'cache-control': 'private' })).toBe('personal');
  expect(ledBy({ vary: 'Cookie' })).toBe('personal');
  expect(ledBy({ 'set-cookie': 'a=b', 'cache-control': 'no-cache' })).toBeUndefined();
});

describe('an answer is repeatable', () => {
  it.each<[Record<string, string>, boolean]>([
    [{}, true],
    [{ 'cache-control': 'public, max-age=600' }, true],
    [{ 'cache-control': 'No-Store' }, false],
    [{ 'cache-control': 'must-revalidate, no-cache' }, false],
    [{ 'cache-control': 'max-age=0' }, false],
    [{ pragma: 'no-cache' }, false],
    [{ expires: '0' }, false],
    [{ expires: 'Thu, 19 Nov 1981 08:52:00 GMT', date: 'Sat, 21 Nov 2026 12:00:00 GMT' }, false],
    [{ expires: 'Sun, 22 Nov 2026 12:00:00 GMT', date: 'Sat, 21 Nov 2026 12:00:00 GMT' }, true],
    [{ expires: '0', 'cache-control': 'max-age=600' }, true],
  ])('with %o: %s', (headers, expected) => {
    expect(isRepeatable({ ...seenAnswer(), headers: new Headers(headers) })).toBe(expected);
  });

  it('unless what led to a signed address, which is another one each time, must not be stored', () => {
    const ledBy = (headers: Record<string, string>) =>
      isRepeatable(seenAnswer({ first: { ...FIRST, headers: new Headers(headers) } }));
    expect(ledBy({ 'cache-control': 'no-cache, no-store' })).toBe(false);
    expect(ledBy({ 'cache-control': 'no-cache' })).toBe(true);
  });
});

it('sees through the addresses in which networks without IPv4 have IPv4 ones', () => {
  expect(isElsewhere(seenAnswer({ address: '64:ff9b::5db8:d822' }))).toBe(false);
  expect(isElsewhere(seenAnswer({ address: '64:ff9b::a00:1' }))).toBe(true);
  expect(isElsewhere(seenAnswer({ address: '64:ff9b::1' }))).toBe(true);
  expect(isElsewhere(seenAnswer({ address: '64:ff9b:1::5db8:d822' }))).toBe(true);
});

it('sees that a public name leads to a private address here', () => {
  expect(isElsewhere(seenAnswer({ address: '10.1.2.3' }))).toBe(true);
  expect(isElsewhere(seenAnswer({ address: 'fd00::1' }))).toBe(true);
  expect(isElsewhere(seenAnswer({ address: '8.8.8.8' }))).toBe(false);
  expect(isElsewhere(seenAnswer({ address: undefined }))).toBe(false);
});
