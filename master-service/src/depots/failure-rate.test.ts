import { expect, test } from 'vitest';
import { Facts } from '../facts/facts.ts';
import { DEPOT_FACTS, DEPOT_HEARD } from './depot-facts.ts';
import { countHeard, FailureRate } from './failure-rate.ts';

const WEEK_SECONDS = 604_800;
const LOST_AFTER_MS = 15_000;

function setUp(startedAtMs = 0) {
  const facts = new Facts({ kinds: DEPOT_FACTS, startedAtMs });
  const rate = new FailureRate(facts);
  const hear = (atSeconds: number, draining = false, id = 'd1') => {
    const nowMs = atSeconds * 1000;
    const upTime = countHeard(facts, id, LOST_AFTER_MS, nowMs);
    facts.learn(DEPOT_HEARD, id, { process: 'p', heartbeat: 1, draining, ...upTime }, nowMs);
  };
  /** Heartbeats every five seconds from one moment to another. */
  const hearFromTo = (fromSeconds: number, toSeconds: number, id = 'd1') => {
    for (let at = fromSeconds; at <= toSeconds; at += 5) hear(at, false, id);
  };
  return { facts, rate, hear, hearFromTo };
}

test('a depot of which nothing was seen fails once a week', () => {
  expect(setUp().rate.perSecond).toBe(1 / WEEK_SECONDS);
});

test('depots that are up for long fail less often, and those that get lost more often', () => {
  const steady = setUp();
  steady.hearFromTo(0, 1000);
  expect(steady.rate.perSecond).toBe(1 / (WEEK_SECONDS + 1000));
  const shaky = setUp();
  for (let day = 0; day < 10; day += 1)
    for (const id of ['d1', 'd2', 'd3', 'd4']) shaky.hearFromTo(day * 1000, day * 1000 + 500, id);
  expect(shaky.rate.perSecond).toBe((1 + 1 + 2 + 4 + 8) / (WEEK_SECONDS + 4 * 10 * 500));
});

test('a depot that gets lost all day does no more than double what is said of all', () => {
  const { rate, hear, hearFromTo } = setUp();
  for (let depot = 1; depot < 10; depot += 1) hearFromTo(0, 1000, `d${depot}`);
  const before = rate.perSecond;
  for (let at = 0; at < 86_400; at += 16) hear(at, false, 'd0');
  expect(rate.perSecond).toBeLessThanOrEqual(2 * before);
});

test('a depot that said that it would go has not failed', () => {
  const { rate, hear } = setUp();
  hear(0, true);
  hear(1000);
  expect(rate.perSecond).toBe(1 / WEEK_SECONDS);
});

test('a depot that nobody could hear because its master was away has not failed', () => {
  const { facts, rate, hear } = setUp(1_000_000);
  hear(990);
  hear(1010);
  expect(rate.perSecond).toBe(1 / WEEK_SECONDS);
  const far = { kind: DEPOT_HEARD.name, key: 'd1', source: 'far', epoch: 1, sequence: 1, timeMs: 1_015_000 };
  const value = { process: 'p', heartbeat: 9, draining: false, upSeconds: 0, failures: 0 };
  facts.store.take({ ...far, value }, 1_015_000);
  hear(1100);
  expect(rate.perSecond).toBe(1 / WEEK_SECONDS);
});

test('a depot that is lost after the clock was set back has failed', () => {
  const { facts, rate, hear } = setUp(1_000_000);
  hear(1000);
  facts.shift(-500_000);
  hear(600);
  expect(rate.perSecond).toBe(2 / WEEK_SECONDS);
});

test('what is forgotten of a depot does not count any more', () => {
  const { facts, rate, hearFromTo } = setUp();
  hearFromTo(0, 1000);
  facts.store.forget(DEPOT_HEARD, 'd1');
  expect(rate.perSecond).toBe(1 / WEEK_SECONDS);
});
