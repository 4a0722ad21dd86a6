import { expect, test } from 'vitest';
import { domainOf } from './domain-of.ts';

test.each([
  ['a1.evil.example', 'evil.example'],
  ['x.y.z.evil.example', 'evil.example'],
  ['evil.example', 'evil.example'],
  ['localhost', 'localhost'],
  ['files.one.co.uk', 'one.co.uk'],
  ['other.co.uk', 'other.co.uk'],
  ['co.uk', 'co.uk'],
  ['a.com.example', 'com.example'],
  ['203.0.113.77', '203.0.113.0/24'],
  ['2001:db8:1:2::3', '2001:db8:1::/48'],
])('%s is of %s', (host, domain) => {
  expect(domainOf(host)).toBe(domain);
});
