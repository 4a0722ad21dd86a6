import { describe, expect, test } from 'vitest';
import { LruMap } from './lru-map.ts';

const keysOf = (map: LruMap<string, string>, keys: string) =>
  Array.from(keys)
    .filter((key) => map.get(key) !== undefined)
    .join('');

describe('a bounded map', () => {
  test('forgets what was not used for the longest time', () => {
    const map = new LruMap<string, string>(2);
    map.set('a', '1');
    map.set('b', '2');
    expect(map.get('a')).toBe('1');
    map.set('c', '3');
    expect(keysOf(map, 'abc')).toBe('ac');
    expect(map.size).toBe(2);
  });

  test('forgets as much as a heavy entry needs, and takes none that is too heavy by itself', () => {
    const map = new LruMap<string, string>(100, { most: 10, weigh: (_, value) => value.length });
    for (const key of 'abc') map.set(key, 'xxx');
    map.set('d', 'xxxxxx');
    expect(keysOf(map, 'abcd')).toBe('cd');
    map.set('e', 'x'.repeat(11));
    expect(keysOf(map, 'cde')).toBe('cd');
  });

  test('weighs an entry anew when it is replaced', () => {
    const map = new LruMap<string, string>(100, { most: 10, weigh: (_, value) => value.length });
    for (let time = 0; time < 5; time += 1) map.set('a', 'xxxxx');
    map.set('b', 'xxxxx');
    expect(keysOf(map, 'ab')).toBe('ab');
    map.set('b', 'x'.repeat(11));
    expect(keysOf(map, 'ab')).toBe('a');
  });
});
