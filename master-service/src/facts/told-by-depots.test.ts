import { expect, test } from 'vitest';
import * as z from 'zod';
import type { FactKind } from './fact.ts';
import { Facts } from './facts.ts';
import { ToldByDepots } from './told-by-depots.ts';

const SEEN = {
  name: 'seen',
  schema: z.number(),
  keys: /^\S+ \S+$/,
  most: 60,
  whenFull: 'forget-oldest',
  lifeMs: 1000,
  isKept: true,
} satisfies FactKind<number>;

function told() {
  const facts = new Facts({ kinds: [SEEN] });
  const changes: unknown[] = [];
  const table = new ToldByDepots({
    facts,
    kind: SEEN,
    onChange: (depot, thing, now, before) => changes.push([depot, thing, now?.value, before?.value]),
  });
  const of = (thing: string) => [...table.of(thing)].map(([depot, { value }]) => [depot, value]);
  const elsewhere = (key: string, value: number, timeMs: number) =>
    facts.store.take(
      { kind: 'seen', key, source: 'other', epoch: 1, sequence: timeMs, timeMs, value },
      timeMs,
    );
  return { facts, table, of, changes, elsewhere };
}

test('of what a depot tells of a thing the newest word counts, whichever master was told it', () => {
  const { table, of, changes, elsewhere } = told();
  table.learn('d1', 'host', 1, 100);
  elsewhere('d1 host', 2, 90);
  elsewhere('d2 host', 3, 95);
  expect(of('host')).toEqual([
    ['d1', 1],
    ['d2', 3],
  ]);
  elsewhere('d1 host', 4, 110);
  table.update('d1', 'host', 120, (known = 0, passedMs) => known + passedMs);
  expect(of('host')[0]).toEqual(['d1', 14]);
  expect(changes.at(-1)).toEqual(['d1', 'host', 14, 4]);
});

test('of a depot that is not believed any more nothing is left, and of what nobody tells of no trace', () => {
  const { facts, table, of, elsewhere } = told();
  for (const thing of ['one', 'other']) table.learn('d1', thing, 1, 100);
  elsewhere('d1 other', 1, 100);
  table.learn('d2', 'other', 2, 100);
  table.forgetFrom('d1');
  expect([of('one'), of('other'), table.size]).toEqual([[], [['d2', 2]], 1]);
  expect(facts.store.held(SEEN)).toHaveLength(1);
  facts.store.sweep(5000);
  expect([of('other'), table.size]).toEqual([[], 0]);
});

test('room is shared among depots: who tells of ever more forgets his own', () => {
  const { table, of } = told();
  table.learn('d1', 'host', 1, 0);
  for (let number = 0; number < 200; number += 1) table.learn('liar', `host${number}`, 1, 1);
  expect(of('host')).toEqual([['d1', 1]]);
  expect(table.size).toBeLessThanOrEqual(31);
});
