import { expect, test } from 'vitest';
import { readFact, readTelling } from './fact-message.ts';

const FACT = {
  kind: 'k',
  key: 'a b',
  source: 's1',
  epoch: 0,
  sequence: 1,
  ageMs: 0.5,
  value: { any: ['thing'] },
};

test('a fact is read as it was told, without what is none of it', () => {
  expect(readFact({ ...FACT, more: 1 })).toEqual(FACT);
  expect(readFact({ ...FACT, kind: 'x'.repeat(300) })?.kind).toHaveLength(300);
});

test.each<[what: string, told: unknown]>([
  ['nothing', undefined],
  ['null', null],
  ['a text', 'fact'],
  ['a list', [FACT]],
  ...['kind', 'key', 'source', 'epoch', 'sequence', 'ageMs'].map((field): [string, unknown] => [
    `one without ${field}`,
    { ...FACT, [field]: undefined },
  ]),
  ...['kind', 'key', 'source'].flatMap((field) =>
    ['', 7, 'x'.repeat(301), ['x']].map((name): [string, unknown] => [
      `one whose ${field} is ${String(name).slice(0, 9)}`,
      { ...FACT, [field]: name },
    ]),
  ),
  ...['epoch', 'sequence'].flatMap((field) =>
    [-1, 0.5, '1', 2 ** 53, Number.NaN].map((count): [string, unknown] => [
      `one whose ${field} is ${count}`,
      { ...FACT, [field]: count },
    ]),
  ),
  ['one whose sequence is 0', { ...FACT, sequence: 0 }],
  ...[-1, '0', Number.NaN, Number.POSITIVE_INFINITY].map((age): [string, unknown] => [
    `one whose age is ${age}`,
    { ...FACT, ageMs: age },
  ]),
])('%s is no fact', (_what, told) => {
  expect(readFact(told)).toBeUndefined();
});

test('a message with more marks than there may be masters is none: nobody looks at each of them', () => {
  const telling = (marks: number) =>
    JSON.stringify({
      type: 'learned',
      source: 's1',
      epoch: 1,
      sentMs: 0,
      after: 0,
      upTo: 0,
      facts: [],
      have: Array.from({ length: marks }, (_, index) => ({ source: `s${index}`, epoch: 1, upTo: 1 })),
    });
  expect(readTelling(telling(512))?.have).toHaveLength(512);
  expect(readTelling(telling(2000))).toBeUndefined();
  expect(readTelling('null')).toBeUndefined();
});
