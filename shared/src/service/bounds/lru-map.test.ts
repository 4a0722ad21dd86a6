import fc from 'fast-check';
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

  test('keeps what a list that is kept in order of use would keep', () => {
    const limit = { most: 12, weigh: (_: string, weight: number) => weight };
    const step = fc.record({
      key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      weight: fc.option(fc.nat(14)),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const map = new LruMap<string, number>(4, limit);
        let list: [key: string, weight: number][] = [];
        for (const { key, weight } of steps) {
          const known = list.find(([other]) => other === key);
          if (weight === null) expect(map.get(key)).toBe(known?.[1]);
          else map.set(key, weight);
          const now = weight ?? known?.[1];
          list = list.filter(([other]) => other !== key);
          if (now !== undefined && now <= limit.most) list.push([key, now]);
          while (list.length > 4 || list.reduce((sum, [, one]) => sum + one, 0) > limit.most) list.shift();
          expect(map.size).toBe(list.length);
        }
        for (const [key, weight] of list) expect(map.get(key)).toBe(weight);
      }),
    );
  });

  // A million entries through a map that looked for its oldest one took minutes, and the test's time with them.
  test('takes new entries when it is full, however many', () => {
    const map = new LruMap<number, number>(200_000);
    for (let at = 0; at < 1_000_000; at += 1) map.set(at, at);
    expect([map.size, map.get(999_999), map.get(799_999)]).toEqual([200_000, 999_999, undefined]);
  });
});
