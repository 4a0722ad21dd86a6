import { expect, test } from 'vitest';
import { FailureRate } from './failure-rate.ts';

const WEEK_SECONDS = 604_800;

/** Heartbeats of one depot, every five seconds from one moment to another. */
function hear(rate: FailureRate, id: string, fromSeconds: number, toSeconds: number): void {
  for (let at = fromSeconds; at <= toSeconds; at += 5) rate.noteHeard(id, at * 1000);
}

test('a depot of which nothing was seen fails once a week', () => {
  expect(new FailureRate(15_000).perSecond).toBe(1 / WEEK_SECONDS);
});

test('depots that are up for long fail less often, and those that get lost more often', () => {
  const steady = new FailureRate(15_000);
  hear(steady, 'd1', 0, 1000);
  expect(steady.perSecond).toBe(1 / (WEEK_SECONDS + 1000));
  const shaky = new FailureRate(15_000);
  for (let day = 0; day < 10; day += 1) hear(shaky, 'd1', day * 1000, day * 1000 + 500);
  expect(shaky.perSecond).toBe(10 / (WEEK_SECONDS + 10 * 500));
});

test('a depot that said that it would go has not failed', () => {
  const rate = new FailureRate(15_000);
  rate.noteHeard('d1', 0);
  rate.forget('d1');
  rate.noteHeard('d1', 1e6);
  expect(rate.perSecond).toBe(1 / WEEK_SECONDS);
});
