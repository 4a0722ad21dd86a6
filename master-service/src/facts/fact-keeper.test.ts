import { expect, test } from 'vitest';
import * as z from 'zod';
import type { FactKind } from './fact.ts';
import { FactKeeper } from './fact-keeper.ts';
import { Facts } from './facts.ts';

const HOUR_MS = 3_600_000;
const NOTE = {
  name: 'note',
  schema: z.string(),
  keys: /./,
  most: 10,
  whenFull: 'refuse',
  lifeMs: 60_000,
  isKept: true,
} satisfies FactKind<unknown>;

function keep() {
  const clock = { nowMs: 100 * HOUR_MS, steadyMs: 0 };
  const facts = new Facts({ kinds: [NOTE] });
  const set: number[] = [];
  const keeper = new FactKeeper({
    facts,
    file: undefined,
    now: () => clock.nowMs,
    steadyMs: () => clock.steadyMs,
    onFailure: (failure) => {
      throw failure;
    },
    onClockSet: (byMs) => set.push(byMs),
    onRestored: () => {},
  });
  keeper.start();
  const pass = (ms: number) => {
    clock.nowMs += ms;
    clock.steadyMs += ms;
    keeper.look();
  };
  return { clock, facts, set, keeper, pass };
}

test.each([
  ['back', -HOUR_MS],
  ['forward', HOUR_MS],
])('a clock that is set %s makes nothing older or younger', async (_, byMs) => {
  const { clock, facts, set, keeper, pass } = keep();
  facts.learn(NOTE, 'a', 'x', clock.nowMs);
  pass(10_000);
  clock.nowMs += byMs;
  pass(1000);
  expect(set).toEqual([byMs]);
  expect(clock.nowMs - (facts.store.newest(NOTE, 'a')?.timeMs ?? 0)).toBe(11_000);
  pass(48_000);
  expect(facts.store.newest(NOTE, 'a')).toBeDefined();
  pass(2_000);
  expect(facts.store.newest(NOTE, 'a')).toBeUndefined();
  await keeper.close();
});

test('a clock that only runs a little wrong is not one that was set', async () => {
  const { clock, set, keeper, pass } = keep();
  for (let second = 0; second < 100; second += 1) {
    clock.nowMs += 100;
    pass(1000);
  }
  expect(set).toEqual([]);
  await keeper.close();
});
