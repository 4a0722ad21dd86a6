import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FairMap } from './fair-map.ts';

const keysOf = (map: Iterable<[string, unknown]>) => [...map].map(([key]) => key).join('');

test('who fills a fair map pushes out what is his own, and nobody else loses anything', () => {
  const map = new FairMap<number>(100);
  for (let other = 0; other < 40; other += 1) map.set(`other-${other}`, other, `owner-${other}`);
  for (let index = 0; index < 10_000; index += 1) map.set(`flood-${index}`, index, 'flooder');
  for (let other = 0; other < 40; other += 1) expect(map.get(`other-${other}`)).toBe(other);
  expect([map.size, map.get('flood-9939'), map.get('flood-9940')]).toEqual([100, undefined, 9940]);
  // A newcomer gets a place of the one who has most.
  map.set('new', 1, 'newcomer');
  expect([map.get('new'), map.get('flood-9941'), map.size]).toEqual([1, undefined, 100]);
});

test('owners with one entry each lose the one that was not used for the longest time', () => {
  const map = new FairMap<number>(3);
  for (const key of 'abc') map.set(key, 1, key);
  expect(map.get('a')).toBe(1);
  map.set('d', 1, 'd');
  expect(keysOf(map)).toBe('cad');
});

test('of several that have most, each has as many left as the others', () => {
  const map = new FairMap<number>(90);
  for (let index = 0; index < 3000; index += 1) map.set(`${index}`, index, `flooder-${index % 3}`);
  expect([0, 1, 2].map((one) => [...map].filter(([, index]) => index % 3 === one).length)).toEqual([
    30, 30, 30,
  ]);
});

test('a limit of weight is met as well, and what is over it alone is not kept', () => {
  const map = new FairMap<string>(100, { most: 10, weigh: (_, text) => text.length });
  map.set('a', 'xxx', 'one');
  for (const key of 'bcd') map.set(key, 'xx', 'other');
  map.set('e', 'xx', 'other');
  expect(keysOf(map)).toBe('acde');
  map.set('f', 'x'.repeat(11), 'other');
  expect(keysOf(map)).toBe('acde');
});

test('what is left is what a list would keep that drops the oldest of whoever has most', () => {
  const step = fc.record({
    key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
    does: fc.constantFrom('set', 'set', 'set', 'get', 'delete', 'clear'),
    owner: fc.constantFrom('one', 'two', 'three'),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const map = new FairMap<string>(4);
      let list: { key: string; owner: string }[] = [];
      const countOf = (owner: string) => list.filter((other) => other.owner === owner).length;
      for (const { key, does, owner } of steps) {
        const known = list.find((other) => other.key === key);
        if (does === 'get') expect(map.get(key)).toBe(known?.owner);
        else if (does === 'set') map.set(key, owner, owner);
        else if (does === 'delete') map.delete(key);
        else map.clear();
        const kept = does === 'set' ? { key, owner } : does === 'get' ? known : undefined;
        list = does === 'clear' ? [] : list.filter((other) => other !== known);
        if (kept) list.push(kept);
        const has = new Set([...map].map(([held]) => held));
        const gone = list.filter((other) => !has.has(other.key));
        expect(gone.length).toBe(Math.max(0, list.length - 4));
        for (const one of gone) {
          const most = Math.max(...list.map((other) => countOf(other.owner)));
          expect(countOf(one.owner)).toBe(most);
          const mayGo = most === 1 ? list : list.filter((other) => other.owner === one.owner);
          expect(one).toBe(mayGo[0]);
        }
        list = list.filter((other) => has.has(other.key));
        expect(keysOf(map)).toBe(list.map((other) => other.key).join(''));
      }
    }),
  );
});

// Whoever looked for the oldest of the largest owner through all would take minutes, and the test's time with them.
test('takes new entries when it is full, however many', () => {
  const map = new FairMap<number>(100_000);
  for (let at = 0; at < 50_000; at += 1) map.set(`other-${at}`, at, `${at}`);
  for (let at = 0; at < 300_000; at += 1) map.set(`${at}`, at, 'flooder');
  expect([map.size, map.get('other-0'), map.get('249999'), map.get('299999')]).toEqual([
    100_000,
    0,
    undefined,
    299_999,
  ]);
});

test('what counts no more goes first, whosever it is: it leaves those that live more than one entry each', () => {
  let isOld = false;
  const map = new FairMap<string>(100, undefined, (value) => isOld && value === 'old');
  for (let owner = 0; owner < 100; owner += 1) map.set(`old-${owner}`, 'old', `owner-${owner}`);
  isOld = true;
  for (const key of ['a', 'b', 'c']) map.set(key, 'new', 'one');
  expect(['a', 'b', 'c'].map((key) => map.get(key))).toEqual(['new', 'new', 'new']);
  expect([map.size, map.get('old-0'), map.get('old-2'), map.get('old-3')]).toEqual([
    100,
    undefined,
    undefined,
    'old',
  ]);
});
