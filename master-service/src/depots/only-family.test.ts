import { LonghaulError, ok, type Result, refuse } from '@longhaul/shared';
import { describe, expect, test } from 'vitest';
import { onlyFamilyOf } from './only-family.ts';

const [V4, V6] = ['8.8.8.8', '2606:4700::1111'];
const NAME = 'd1.example';

/** What is known of a depot where DNS tells these addresses, each with what came of asking it. */
function familyOf(
  answers: Readonly<Record<string, Result<string> | undefined>>,
  { host = NAME, isAll = true } = {},
) {
  const addresses = Object.keys(answers);
  return onlyFamilyOf(host, { addresses, isAll }, new Map(Object.entries(answers)));
}

/** How asking fails by what the system says. */
function failed(code: string): Result<string> {
  const cause = Object.assign(new Error(code), { code });
  return { ok: false, error: new LonghaulError('depot-unreachable', { cause }) };
}

describe('a depot is reached by IPv6 alone', () => {
  test('where its name has no other address', () => {
    expect(familyOf({ [V6]: ok(V6) })).toBe('IPv6');
  });

  test.each([
    ['a firewall refuses', failed('ECONNREFUSED')],
    ['a firewall swallows', refuse('depot-unreachable', 'no answer in time')],
    ['somebody else answers', refuse('depot-not-proved')],
  ])('where %s at its IPv4 address', (_, answer) => {
    expect(familyOf({ [V4]: answer, [V6]: ok(V6) })).toBe('IPv6');
  });
});

test('a depot that is registered by an address is reached by the family of that alone', () => {
  expect(familyOf({ [V4]: ok(V4) }, { host: V4, isAll: false })).toBe('IPv4');
  expect(familyOf({ [V6]: ok(V6) }, { host: V6, isAll: false })).toBe('IPv6');
});

describe('a depot may be reached by either family', () => {
  test.each<[string, Parameters<typeof familyOf>]>([
    ['it has answered by both', [{ [V4]: ok(V4), [V6]: ok(V6) }]],
    ['its name has IPv4 alone, of which resolvers make IPv6', [{ [V4]: ok(V4) }]],
    ['it does not answer by IPv6, and has a name', [{ [V4]: ok(V4), [V6]: failed('ECONNREFUSED') }]],
    ['the master has no IPv4 to ask it by', [{ [V4]: failed('ENETUNREACH'), [V6]: ok(V6) }]],
    ['one of its IPv4 addresses was not asked', [{ [V4]: undefined, [V6]: ok(V6) }]],
    ['DNS has not told everything', [{ [V6]: ok(V6) }, { isAll: false }]],
    ['it is in a network of a laboratory', [{ '127.0.0.1': ok('127.0.0.1') }, { host: '127.0.0.1' }]],
  ])('where %s', (_, [answers, more]) => {
    expect(familyOf(answers, more)).toBeUndefined();
  });
});
