import { expect, it } from 'vitest';
import { remember } from './remember.ts';

it('forgets what was put longest ago, and nothing while there is room', () => {
  const map = new Map<string, number>();
  remember(map, 'a', 1, 2);
  remember(map, 'b', 2, 2);
  remember(map, 'a', 3, 2);
  expect([...map]).toEqual([
    ['b', 2],
    ['a', 3],
  ]);
  remember(map, 'c', 4, 2);
  expect([...map.keys()]).toEqual(['a', 'c']);
});
