import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { itemsOfWord, WellKnownTarget, WORD_ITEMS, wordOf } from './well-known-target.ts';

const target = new WellKnownTarget('/.well-known/x', { next: /^[a-z]+$/, bytes: /^[0-9]+$/ });

describe('a target at a well-known address', () => {
  test('has its items in one order', () => {
    const text = target.format({ bytes: '7', next: 'a' });
    expect(text).toBe('/.well-known/x?next=a&bytes=7');
    expect(target.parse(text)).toEqual({ next: 'a', bytes: '7' });
  });

  test.each(['', '?', '?next=a', '?next=&bytes=7', '?bytes=7'])(
    'is known by its path where it is not well-formed: %s',
    (query) => {
      expect(target.matches(`/.well-known/x${query}`)).toBe(true);
      expect(target.parse(`/.well-known/x${query}`)).toBeUndefined();
    },
  );

  test.each([
    ['another order', '?bytes=7&next=a'],
    ['an item more', '?next=a&bytes=7&x=1'],
    ['an item twice', '?next=a&next=a'],
    ['another form', '?next=a&bytes=x'],
    ['an encoded item', '?next=%61&bytes=7'],
    ['a line that ends in it', '?next=a&bytes=7\n'],
  ])('is not read with %s', (_, query) => {
    expect(target.parse(`/.well-known/x${query}`)).toBeUndefined();
  });

  test.each([
    '/.well-known/xy?next=a&bytes=7',
    '/.well-known/x/?next=a&bytes=7',
    '//.well-known/x?next=a&bytes=7',
  ])('is none of another path: %s', (other) => {
    expect(target.matches(other)).toBe(false);
    expect(target.parse(other)).toBeUndefined();
  });

  test('carries a master’s word unchanged', () => {
    const signed = new WellKnownTarget('/.well-known/y', WORD_ITEMS);
    const words = fc.record({
      timeMs: fc.integer({ min: 0, max: 9e14 }),
      keyId: fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/),
      signature: fc.stringMatching(/^[A-Za-z0-9_-]{86}$/),
    });
    fc.assert(
      fc.property(words, (word) => {
        const items = signed.parse(signed.format(itemsOfWord(word)));
        expect(items && wordOf(items)).toEqual(word);
      }),
    );
  });
});
