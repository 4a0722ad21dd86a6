import { expect, test } from 'vitest';
import * as z from 'zod';
import { OverlayClock } from '../clock/overlay-clock.ts';
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
  const machine = { wallMs: 100 * HOUR_MS, steadyMs: 0 };
  const facts = new Facts({ kinds: [NOTE] });
  const clock = new OverlayClock({
    wallMs: () => machine.wallMs,
    steadyMs: () => machine.steadyMs,
    onDoubt: () => {},
    onSet: (byMs) => facts.store.shift(byMs),
  });
  const keeper = new FactKeeper({
    facts,
    file: undefined,
    now: () => clock.now(),
    steadyMs: () => machine.steadyMs,
    sayAgain: () => {},
    onFailure: (failure) => {
      throw failure;
    },
    onRestored: () => {},
  });
  keeper.start();
  const pass = (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      machine.wallMs += 1000;
      machine.steadyMs += 1000;
      keeper.look();
    }
  };
  return { machine, clock, facts, keeper, pass };
}

test.each([
  ['back', -HOUR_MS],
  ['forward', HOUR_MS],
  ['back by little', -2_000],
])(
  'a clock that is set %s makes nothing older or younger, at whatever time it is followed',
  async (_, byMs) => {
    const { machine, clock, facts, keeper, pass } = keep();
    facts.learn(NOTE, 'a', 'x', clock.now());
    const ageMs = () => clock.now() - (facts.store.newest(NOTE, 'a')?.timeMs ?? 0);
    pass(10);
    machine.wallMs += byMs;
    pass(1);
    expect(ageMs()).toBe(11_000);
    pass(34);
    expect(clock.now()).toBe(machine.wallMs);
    expect(ageMs()).toBe(45_000);
    pass(14);
    expect(facts.store.newest(NOTE, 'a')).toBeDefined();
    pass(2);
    expect(facts.store.newest(NOTE, 'a')).toBeUndefined();
    await keeper.close();
  },
);
