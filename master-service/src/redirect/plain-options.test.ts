import { parseGetTarget } from '@longhaul/shared';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { withPlainOptions } from './plain-options.ts';

const REST = 'https/o.example/~a%7e/%2f?b=%7E';

test.each([
  ['~size=9,avoid=d1+d2', '~size=9,avoid=d1+d2'],
  ['%7Esize=9', '~size=9'],
  ['%7esize%3D9%2Cavoid%3dd1%2bd2', '~size=9,avoid=d1+d2'],
  ['~size%3D9', '~size=9'],
])('options that were encoded are what they were before: %s', (encoded, plain) => {
  expect(withPlainOptions(`/get/${encoded}/${REST}`)).toBe(`/get/${plain}/${REST}`);
});

test.each(['~size%3', '%7Esize=%ff', '~size=9%2Fhttps', '~%00', '~size=9%0a', '%7E%E2%82%AC', '~size%253D9'])(
  'options that are encoded wrongly, or no options, are refused as such: %s',
  (encoded) => {
    expect(parseGetTarget(withPlainOptions(`/get/${encoded}/${REST}`))).toMatchObject({
      ok: false,
      error: { code: 'bad-options' },
    });
  },
);

test('nothing but options changes', () => {
  const piece = fc.constantFrom('~', '%7E', '%2F', '/', '?', 'a', '=', '%', 'https', '#', '$&');
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const target = `/get/https/${pieces.join('')}`;
      expect(withPlainOptions(target)).toBe(target);
      expect(withPlainOptions(`/get/%7Elanes%3D2${target.slice(4)}`)).toBe(`/get/~lanes=2${target.slice(4)}`);
    }),
  );
});
