import { expect, test } from 'vitest';
import { LanePlaces } from './lane-places.ts';

test('a network that has many lanes leaves others theirs, and its own later downloads one each', () => {
  const places = new LanePlaces(100);
  const counts = Array.from({ length: 90 }, () => places.enter('crowd', 8).count);
  expect(counts.slice(0, 7)).toEqual(Array.from({ length: 7 }, () => 8));
  expect(counts.slice(8)).toEqual(Array.from({ length: 82 }, () => 1));
  expect(places.enter('other', 8).count).toBe(8);
  expect(places.enter('third', 8).count).toBe(8);
});

test('lanes of downloads that have ended are there for the next', () => {
  const places = new LanePlaces(14);
  for (let turn = 0; turn < 100; turn += 1) {
    const own = places.enter('here', 8);
    expect(own.count).toBe(8);
    own.leave();
  }
});

test('one lane takes no place, and is always there', () => {
  const places = new LanePlaces(1);
  expect([places.enter('here', 1).count, places.enter('here', 1).count]).toEqual([1, 1]);
  expect(places.enter('here', 8).count).toBe(2);
  expect(places.enter('there', 8).count).toBe(1);
});
