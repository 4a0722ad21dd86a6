import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { Fact, FactKind } from './fact.ts';
import { FactStore } from './fact-store.ts';

const kind = (changes: Partial<FactKind<number>> = {}): FactKind<number> => ({
  name: 'figure',
  schema: z.number(),
  keys: /^[a-z0-9]+$/,
  most: 3,
  whenFull: 'forget-oldest',
  lifeMs: 1000,
  isKept: true,
  ...changes,
});
const FIGURE = kind();

let sequence = 0;
function fact(key: string, changes: Partial<Fact<number>> = {}): Fact<number> {
  sequence += 1;
  return { kind: 'figure', key, source: 'one', epoch: 1, sequence, timeMs: 0, value: sequence, ...changes };
}

describe('a store of facts', () => {
  test('has of each source what it said last, by epoch and sequence, whatever came last', () => {
    const store = new FactStore([FIGURE]);
    const values = () => store.all(FIGURE, 'a').map(({ source, value }) => `${source} ${value}`);
    const newest = fact('a', { epoch: 2, sequence: 1, value: 20 });
    expect(store.take(newest, 0)).toEqual({ ok: true, value: true });
    expect(store.take(newest, 0)).toEqual({ ok: true, value: false });
    expect(store.take(fact('a', { epoch: 1, sequence: 99 }), 0)).toEqual({ ok: true, value: false });
    store.take(fact('a', { source: 'two', value: 3 }), 0);
    expect(values()).toEqual(['one 20', 'two 3']);
  });

  test('gives the newest of several sources, and always the same of equally old ones', () => {
    const facts = [
      fact('a', { source: 'two', timeMs: 5, value: 2 }),
      fact('a', { source: 'one', timeMs: 4, value: 1 }),
      fact('a', { source: 'three', timeMs: 5, value: 3 }),
    ];
    for (const order of [facts, facts.toReversed()]) {
      const store = new FactStore([FIGURE]);
      for (const one of order) store.take(one, 0);
      expect(store.newest(FIGURE, 'a')?.value).toBe(2);
    }
  });

  test('takes values of kinds that only newer masters know, as long as they are no longer than such values are', () => {
    const store = new FactStore([FIGURE]);
    expect(store.check('figure', 7).ok).toBe(true);
    expect(store.check('newer', { any: 'x'.repeat(16_000) }).ok).toBe(true);
    expect(store.check('newer', undefined).ok).toBe(true);
    expect(store.check('newer', { any: 'x'.repeat(17_000) }).ok).toBe(false);
    store.take({ ...fact('a'), kind: 'newer' }, 0);
    expect(store.check('newer', { any: 'x'.repeat(17_000) }).ok, 'once it is held').toBe(false);
  });

  test('tells who watches of each change, with what was said before', () => {
    const store = new FactStore([FIGURE]);
    const seen: unknown[] = [];
    store.watch(FIGURE, (now, before) => seen.push([now?.value, before?.value]));
    store.take(fact('a', { value: 1 }), 0);
    store.take(fact('a', { value: 2 }), 0);
    store.forget(FIGURE, 'a');
    store.forget(FIGURE, 'a');
    expect(seen).toEqual([
      [1, undefined],
      [2, 1],
      [undefined, 2],
    ]);
  });

  test('forgets the oldest fact of a source that has too many, and nothing of the others', () => {
    const store = new FactStore([kind({ most: 4 })]);
    store.take(fact('mine', { source: 'two' }), 0);
    for (const key of ['a', 'b', 'a', 'c', 'd']) store.take(fact(key), 0);
    expect(store.held(FIGURE).map(({ key }) => key)).toEqual(['mine', 'a', 'c', 'd']);
    expect(store.counts()).toEqual({ figure: 4 });
  });

  test('takes what a source says that has more than its share since another one speaks, and forgets its oldest', () => {
    const store = new FactStore([kind({ most: 100 })]);
    const takenOf = (source: string, name: string, count: number) =>
      Array.from({ length: count }, (_, at) => store.take(fact(`${name}${at}`, { source }), 0)).filter(
        (taken) => taken.ok,
      ).length;
    expect([takenOf('one', 'a', 100), takenOf('two', 'b', 40), takenOf('one', 'c', 1)]).toEqual([100, 40, 1]);
    const heldOf = (source: string) => store.held(FIGURE).filter((held) => held.source === source);
    expect([heldOf('one')[0]?.key, heldOf('one').at(-1)?.key]).toEqual(['a21', 'c0']);
    expect([heldOf('one').length, heldOf('two').length]).toEqual([80, 40]);
    expect([takenOf('two', 'd', 200), takenOf('one', 'e', 200)]).toEqual([200, 200]);
  });

  test('refuses what is too much where nothing may be forgotten for it', () => {
    const registry = kind({ whenFull: 'refuse' });
    const store = new FactStore([registry]);
    for (const key of ['a', 'b', 'c']) expect(store.take(fact(key), 0).ok).toBe(true);
    expect(store.take(fact('d'), 0)).toMatchObject({ error: { code: 'fact-room-full' } });
    expect(store.take(fact('a'), 0)).toEqual({ ok: true, value: true });
  });

  test('refuses nothing as long as what is spare makes room, and keeps that until its room is needed', () => {
    const registry = kind({ whenFull: 'refuse', most: 4, speakers: 4 });
    const store = new FactStore([registry]);
    for (const key of ['a', 'b', 'c', 'd']) store.take(fact(key), 0);
    for (const one of store.held(registry).slice(1)) store.spare(one);
    store.take(fact('b'), 0);
    const keys = () => store.held(registry).map(({ key }) => key);
    expect(keys()).toEqual(['a', 'c', 'd', 'b']);
    expect(store.take(fact('e'), 0).ok).toBe(true);
    expect(keys()).toEqual(['a', 'd', 'b', 'e']);
    expect(store.hasRoomFor(registry, 'f', 'one')).toBe(true);
    expect(store.take(fact('f'), 0).ok).toBe(true);
    expect(keys(), 'what was said anew is not spare').toEqual(['a', 'b', 'e', 'f']);
    expect(['f', 'g'].map((key) => store.hasRoomFor(registry, key, 'one'))).toEqual([true, false]);
    expect(store.take(fact('g'), 0)).toMatchObject({ error: { code: 'fact-room-full' } });
  });

  test('lets what is spare of one source go for what another one says, where all is full', () => {
    const registry = kind({ whenFull: 'refuse', most: 4 });
    const store = new FactStore([registry]);
    const tell = (source: string) => store.take(fact(`k${sequence}`, { source }), 0).ok;
    for (const source of ['one', 'two', 'three', 'four']) while (tell(source));
    expect([store.counts(), tell('five')]).toEqual([{ figure: 8 }, false]);
    for (const one of store.held(registry)) if (one.source === 'one') store.spare(one);
    expect(tell('five')).toBe(true);
    expect(store.counts()).toEqual({ figure: 8 });
  });

  test('takes nothing that has outlived itself, and forgets what does', () => {
    const store = new FactStore([FIGURE]);
    expect(store.take(fact('a', { timeMs: 0 }), 1001)).toMatchObject({ error: { code: 'fact-outlived' } });
    store.take(fact('a', { timeMs: 0 }), 500);
    store.take(fact('b', { timeMs: 500 }), 500);
    store.sweep(1001);
    expect(store.held(FIGURE).map(({ key }) => key)).toEqual(['b']);
  });

  test('has room for few kinds that it does not know', () => {
    const store = new FactStore([]);
    const taken = Array.from({ length: 100 }, (_, index) =>
      store.take(fact('a', { kind: `kind-${index}` }), 0),
    );
    expect(taken.filter(({ ok }) => ok)).toHaveLength(32);
  });

  test('moves all times when the clock was set', () => {
    const store = new FactStore([FIGURE]);
    store.take(fact('a', { timeMs: 500 }), 500);
    store.shift(-3_600_000);
    expect(store.newest(FIGURE, 'a')?.timeMs).toBe(500 - 3_600_000);
    store.sweep(1000 - 3_600_000);
    expect(store.newest(FIGURE, 'a')).toBeDefined();
  });

  test('leaves times that are by an earlier clock as they are until something else is said', () => {
    const store = new FactStore([FIGURE]);
    store.take(fact('a', { timeMs: 500 }), 500);
    store.fixTime(FIGURE.name, 'a', fact('a').source);
    store.shift(1000);
    expect(store.newest(FIGURE, 'a')?.timeMs).toBe(500);
    store.take(fact('a', { timeMs: 1600, sequence: fact('a').sequence + 1 }), 1600);
    store.shift(1000);
    expect(store.newest(FIGURE, 'a')?.timeMs).toBe(2600);
  });

  // Half a million through a store that looked for its oldest fact took a minute, and the test's time with it.
  test('that is full takes new facts, however many', () => {
    const many = kind({ most: 100_000 });
    const store = new FactStore([many]);
    for (let at = 0; at < 500_000; at += 1) store.take(fact(`k${at}`), 0);
    expect(store.counts()).toEqual({ figure: 100_000 });
    expect(store.all(many, 'k399999')).toHaveLength(0);
    expect(store.all(many, 'k400000')).toHaveLength(1);
  });
});
