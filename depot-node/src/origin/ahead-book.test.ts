import { expect, test } from 'vitest';
import { AheadBook } from './ahead-book.ts';

function setUp() {
  const clock = { nowMs: 0 };
  const told: [host: string, isFit: boolean][] = [];
  const book = new AheadBook(
    () => clock.nowMs,
    (...noted) => told.push(noted),
  );
  const breakAt = (atMs: number, between: readonly string[] = [], origin = 'a:80') => {
    clock.nowMs = atMs;
    return book.noteBreak(origin, between);
  };
  return { book, clock, told, breakAt };
}

test('what an origin has shown is forgotten after a while, and an inability weighs more than an ability', () => {
  const { book, clock, told } = setUp();
  const shown = () => [book.isFit('a:80'), book.isUnfit('a:80', [])];
  book.noteFit('a:80');
  expect(shown()).toEqual([true, false]);
  book.noteUnfit('a:80', []);
  book.noteFit('a:80');
  expect(shown()).toEqual([false, true]);
  expect(told).toEqual([
    ['a', true],
    ['a', false],
  ]);
  clock.nowMs = 600_000;
  expect(shown()).toEqual([false, false]);
});

test('three breaks that are no one accident are an inability', () => {
  const { book, breakAt } = setUp();
  book.noteFit('a:80');
  // A depot that ends takes all connections along.
  expect([0, 10, 20, 30].map((atMs) => breakAt(atMs))).toEqual([false, false, false, false]);
  expect([breakAt(5_000), breakAt(6_000, [], 'b:80'), breakAt(70_000)]).toEqual([false, false, false]);
  expect(book.isUnfit('a:80', [])).toBe(false);
  expect([breakAt(72_000), breakAt(74_000)]).toEqual([false, true]);
  expect([book.isUnfit('a:80', []), book.isUnfit('b:80', [])]).toEqual([true, false]);
});

test('a depot that breaks what it carries harms an origin over its own ways alone', () => {
  const { book, told, breakAt } = setUp();
  book.noteFit('a:80');
  for (let round = 0; round < 5; round += 1) {
    const breaks = [0, 2_000, 4_000].map((atMs) => breakAt(100_000 * round + atMs, ['bad', `d${round}`]));
    expect(breaks).toEqual([false, false, true]);
  }
  expect(book.isUnfit('a:80', ['bad'])).toBe(true);
  expect(book.isUnfit('a:80', ['d9', 'bad'])).toBe(true);
  for (const between of [[], ['d0'], ['d4', 'd9']]) expect(book.isUnfit('a:80', between)).toBe(false);
  expect(book.isFit('a:80')).toBe(true);
  expect(told).toEqual([['a', true]]);
});

test('one accident elsewhere does not make an origin answer for a depot', () => {
  const { book, breakAt } = setUp();
  expect([breakAt(0, ['bad']), breakAt(2_000, ['d2']), breakAt(4_000, ['bad'])]).toEqual([
    false,
    false,
    true,
  ]);
  expect([[], ['d2'], ['bad']].map((between) => book.isUnfit('a:80', between))).toEqual([false, false, true]);
});

test.each([
  ['straight', [[], [], []]],
  ['over depots of which none had part in two', [['d1'], ['d2'], ['d3']]],
])("breaks %s are the origin's own", (_, [one = [], two = [], three = []]) => {
  const { book, told, breakAt } = setUp();
  expect([breakAt(0, one), breakAt(2_000, two), breakAt(4_000, three)]).toEqual([false, false, true]);
  expect(book.isUnfit('a:80', [])).toBe(true);
  expect(told).toEqual([['a', false]]);
});

test('an inability that was met over one way counts for all when it is met over another one', () => {
  const { book, told } = setUp();
  book.noteUnfit('a:80', ['d1', 'd2']);
  book.noteUnfit('a:80', ['d2', 'd3']);
  expect([['d1'], ['d2'], ['d3'], []].map((between) => book.isUnfit('a:80', between))).toEqual([
    false,
    true,
    false,
    false,
  ]);
  expect(told).toEqual([]);
  book.noteUnfit('a:80', []);
  expect([['d1'], []].map((between) => book.isUnfit('a:80', between))).toEqual([true, true]);
  expect(told).toEqual([['a', false]]);
});

test('a domain of names without end fills the memory with its own, and others stay in it', () => {
  const { book, breakAt } = setUp();
  book.noteFit('fit.example:443');
  book.noteUnfit('unfit.example:443', []);
  breakAt(0, [], 'broken.example:443');
  for (let origin = 0; origin < 2000; origin += 1) {
    book.noteFit(`a${origin}.evil.example:443`);
    book.noteUnfit(`b${origin}.evil.example:443`, []);
    book.noteBreak(`c${origin}.evil.example:443`, []);
  }
  expect(book.isFit('a0.evil.example:443')).toBe(false);
  expect(book.isFit('a1999.evil.example:443')).toBe(true);
  expect(book.isFit('fit.example:443')).toBe(true);
  expect(book.isUnfit('unfit.example:443', [])).toBe(true);
  expect([2_000, 4_000].map((atMs) => breakAt(atMs, [], 'broken.example:443'))).toEqual([false, true]);
});
