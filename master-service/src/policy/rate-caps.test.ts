import { expect, test } from 'vitest';
import type { Fact } from '../facts/fact.ts';
import { Facts } from '../facts/facts.ts';
import { RateCaps, SPENT_FACTS } from './rate-caps.ts';

const HOUR_MS = 3_600_000;

test('a client that used up its bytes gets them back over an hour', () => {
  const caps = new RateCaps({ plansPerMinute: 1, bytesPerHour: 1000 });
  const take = (bytes: number, atMs: number) =>
    caps.takeBudget('10.0.0.1', { plannedBytes: bytes, wantedBytes: bytes }, atMs);
  expect(take(1000, 0).ok).toBe(true);
  expect(take(400, HOUR_MS / 4)).toMatchObject({ error: { code: 'rate-limited' } });
  expect(take(400, HOUR_MS / 2).ok).toBe(true);
  expect(take(1001, 9 * HOUR_MS).ok).toBe(false);
});

test('a client gets the budget it wants or the rest of its share, and pays for exactly that', () => {
  const caps = new RateCaps({ plansPerMinute: 1, bytesPerHour: 1000 });
  const take = (plannedBytes: number, wantedBytes: number) =>
    caps.takeBudget('10.0.0.1', { plannedBytes, wantedBytes }, 0);
  expect(take(10, 700)).toMatchObject({ value: 700 });
  expect(take(301, 900)).toMatchObject({ error: { code: 'rate-limited' } });
  expect(take(10, 700)).toMatchObject({ value: 300 });
  expect(take(0, 700), 'a budget of nothing').toMatchObject({ error: { code: 'rate-limited' } });
});

test('networks do not spend for each other', () => {
  const caps = new RateCaps({ plansPerMinute: 1, bytesPerHour: 1000 });
  expect(caps.takePlan('10.0.0.1', 0).ok).toBe(true);
  expect(caps.takePlan('10.0.0.1', 0).ok).toBe(false);
  expect(caps.takePlan('10.0.1.1', 0).ok).toBe(true);
});

test('a clock that is set back neither helps nor harms', () => {
  const caps = new RateCaps({ plansPerMinute: 2, bytesPerHour: 1000 });
  expect(caps.takePlan('10.0.0.1', 10_000).ok).toBe(true);
  expect(caps.takePlan('10.0.0.1', 0).ok).toBe(true);
  expect(caps.takePlan('10.0.0.1', 0).ok).toBe(false);
});

test('neighbours do not spend for each other, and together no more than sixteen of them may', () => {
  const caps = new RateCaps({ plansPerMinute: 1, bytesPerHour: 1000 });
  const take = (address: string) =>
    caps.takePlan(address, 0).ok && caps.takeBudget(address, { plannedBytes: 1000, wantedBytes: 1000 }, 0).ok;
  expect(take('10.0.0.1')).toBe(true);
  expect(take('10.0.0.1')).toBe(false);
  const others = Array.from({ length: 30 }, (_, index) => take(`10.0.0.${index + 2}`));
  expect(others.filter(Boolean)).toHaveLength(15);
  expect(take('10.0.1.1')).toBe(true);
});

test('one line with IPv6 is one client, whichever of its addresses it uses', () => {
  const caps = new RateCaps({ plansPerMinute: 1, bytesPerHour: 1000 });
  expect(caps.takePlan('2001:db8:1:1::1', 0).ok).toBe(true);
  expect(caps.takePlan('2001:db8:1:1:ffff::2', 0).ok).toBe(false);
  expect(caps.takePlan('2001:db8:1:2::1', 0).ok).toBe(true);
});

/** Two masters that tell each other what they have given, each fact twice. */
function twoMasters(caps: { plansPerMinute: number; bytesPerHour: number }) {
  const [one, other] = ['one', 'other'].map((source) => new Facts({ kinds: SPENT_FACTS, source }));
  if (!one || !other) throw new Error('there are two');
  const both = [new RateCaps(caps, one), new RateCaps(caps, other)] as const;
  const tell = (from: Facts, to: Facts) =>
    from.tellOthers((fact: Fact) => {
      to.store.take(fact, fact.timeMs);
      to.store.take(fact, fact.timeMs);
    });
  tell(one, other);
  tell(other, one);
  return both;
}

test('two masters together give a client no more than one, and it drains no faster', () => {
  const [one, other] = twoMasters({ plansPerMinute: 2, bytesPerHour: 1000 });
  expect([one.takePlan('10.0.0.1', 0).ok, other.takePlan('10.0.0.1', 0).ok]).toEqual([true, true]);
  expect([one.takePlan('10.0.0.1', 0).ok, other.takePlan('10.0.0.1', 0).ok]).toEqual([false, false]);
  expect(one.takePlan('10.0.0.1', 30_000).ok).toBe(true);
  expect([one.takePlan('10.0.0.1', 30_000).ok, other.takePlan('10.0.0.1', 30_000).ok]).toEqual([
    false,
    false,
  ]);
});

test('a bucket that was empty meanwhile is not filled again with what was spent long ago', () => {
  const [one, other] = twoMasters({ plansPerMinute: 2, bytesPerHour: 1000 });
  for (let minute = 0; minute < 10; minute += 1) {
    expect(one.takePlan('10.0.0.1', minute * 60_000).ok).toBe(true);
    expect(one.takePlan('10.0.0.1', minute * 60_000).ok).toBe(true);
    expect(other.takePlan('10.0.0.1', minute * 60_000).ok).toBe(false);
  }
});
