import type { RunningLeg } from '@longhaul/shared';
import { expect, it } from 'vitest';
import { LegsNow } from './legs-now.ts';

const LEGS: readonly RunningLeg[] = [
  { from: 'd1', to: 'client', connections: 1, goodputBps: 80 },
  { from: 'origin', to: 'd1', connections: 1, goodputBps: 80 },
];

it('asks once a second while somebody looks, and shows nothing that is old', async () => {
  let asked = 0;
  let told: readonly RunningLeg[] | undefined = LEGS;
  const legs = new LegsNow(async () => {
    asked += 1;
    return told;
  });
  const look = async (nowMs: number) => {
    const seen = legs.of('a', nowMs);
    await Promise.resolve()
      .then(() => Promise.resolve())
      .then(() => undefined);
    return seen?.length;
  };
  expect(await look(0)).toBeUndefined();
  expect(await look(700)).toBe(2);
  expect(asked).toBe(1);
  told = undefined;
  expect(await look(1_400)).toBe(2);
  expect(asked).toBe(2);
  expect(await look(2_900)).toBe(2);
  expect(await look(3_100)).toBeUndefined();
});

it('survives a background that does not answer', async () => {
  const legs = new LegsNow(() => Promise.reject(new Error('the background has ended')));
  expect(legs.of('a', 0)).toBeUndefined();
  await Promise.resolve();
  expect(legs.of('a', 5_000)).toBeUndefined();
});
