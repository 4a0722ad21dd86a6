import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatQuestion, NO_QUESTION, readQuestion } from './page-address.ts';

test('what was asked comes back from the address, whatever it has in it', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1 }).map((typed) => `x${typed.toWellFormed()}x`);
  fc.assert(
    fc.property(text, fc.option(text), (link, size) => {
      const question = { link, size: size ?? '' };
      expect(readQuestion(new URL(formatQuestion(question), 'https://get.example/').search)).toEqual(
        question,
      );
    }),
  );
});

test('the empty page has no question', () => {
  expect(readQuestion('')).toEqual(NO_QUESTION);
  expect(formatQuestion(NO_QUESTION)).toBe('./');
  expect(readQuestion('?url=http%3A%2F%2Fh%2F')).toEqual({ link: 'http://h/', size: '' });
});
