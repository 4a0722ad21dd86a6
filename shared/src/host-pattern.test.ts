import { describe, expect, test } from 'vitest';
import { matchesHostPattern, parseHostPattern } from './host-pattern.ts';

function matches(pattern: string, host: string, port = 443): boolean | 'no pattern' {
  const parsed = parseHostPattern(pattern);
  return parsed ? matchesHostPattern(parsed, host, port) : 'no pattern';
}

describe('a host pattern', () => {
  test.each([
    ['example.org', 'example.org', true],
    ['EXAMPLE.org.', 'example.org', true],
    ['bücher.example', 'xn--bcher-kva.example', true],
    ['example.org', 'www.example.org', false],
    ['example.org', 'notexample.org', false],
    ['*.example.org', 'a.b.example.org', true],
    ['*.example.org', 'example.org', false],
    ['*.example.org', 'notexample.org', false],
    ['*.example.org', 'example.org.evil.example', false],
    ['127.0.0.1', '127.0.0.1', true],
    ['0x7f.1', '127.0.0.1', true],
    ['[::1]', '::1', true],
  ])('%s and the host %s: %s', (pattern, host, expected) => {
    expect(matches(pattern, host)).toBe(expected);
  });

  test('with a port means this port only, without one any', () => {
    expect(matches('example.org:8443', 'example.org', 8443)).toBe(true);
    expect(matches('example.org:8443', 'example.org', 443)).toBe(false);
    expect(matches('example.org', 'example.org', 8443)).toBe(true);
    expect(matches('[::1]:8080', '::1', 8080)).toBe(true);
  });

  test.each([
    '',
    '*',
    '*.',
    'a*.example',
    '*.127.0.0.1',
    'a/b',
    'a@b',
    'http://a',
    'a:0',
    'a:99999',
    'a:b',
    '::1',
  ])('is not %j', (text) => {
    expect(parseHostPattern(text)).toBeUndefined();
  });
});
