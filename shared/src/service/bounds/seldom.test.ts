import { expect, test } from 'vitest';
import { Seldom } from './seldom.ts';

test('of events of one kind one comes through in a while, and says how many others there were', () => {
  let nowMs = 0;
  const seldom = new Seldom(60_000, () => nowMs);
  expect([1, 2, 3].map(() => seldom.take('refused'))).toEqual([0, undefined, undefined]);
  expect(seldom.take('another')).toBe(0);
  nowMs = 59_999;
  expect(seldom.take('refused')).toBeUndefined();
  nowMs = 60_000;
  expect([1, 2].map(() => seldom.take('refused'))).toEqual([3, undefined]);
});

test('where a few may come through, the first few of a while do', () => {
  let nowMs = 0;
  const seldom = new Seldom(60_000, () => nowMs, 2);
  expect([1, 2, 3, 4].map(() => seldom.take('refused'))).toEqual([0, 0, undefined, undefined]);
  nowMs = 60_000;
  expect([1, 2, 3].map(() => seldom.take('refused'))).toEqual([2, 0, undefined]);
});

test('a clock that is set back holds nothing back for longer', () => {
  let nowMs = 3_600_000;
  const seldom = new Seldom(60_000, () => nowMs);
  seldom.take('refused');
  nowMs = 0;
  expect(seldom.take('refused')).toBe(0);
});
