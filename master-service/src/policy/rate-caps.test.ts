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

test.each([-2 * HOUR_MS, 2 * HOUR_MS])(
  'a clock that was set by %i ms refuses nobody for that, and gives nobody more',
  (setByMs) => {
    const facts = new Facts({ kinds: SPENT_FACTS });
    const caps = new RateCaps({ plansPerMinute: 2, bytesPerHour: 1000 }, facts);
    const take = (atMs: number) => caps.takePlan('10.0.0.1', atMs).ok;
    // What another master gave, shortly before.
    const value = { emptyAtMs: 0, plans: 1, bytes: 0, left: { plans: 1, bytes: 0 } };
    const fact = {
      kind: 'spent',
      key: 'client 10.0.0.1/32',
      source: 'other',
      epoch: 1,
      sequence: 1,
      timeMs: 0,
      value,
    };
    facts.store.take(fact, 0);
    expect([take(0), take(0)]).toEqual([true, false]);
    caps.shift(setByMs);
    facts.shift(setByMs);
    expect(take(setByMs), 'nothing has drained meanwhile').toBe(false);
    const heard = { ...fact, sequence: 2, timeMs: setByMs + 30_000, value: { ...value, plans: 2 } };
    facts.store.take(heard, setByMs + 30_000);
    expect(take(setByMs + 30_000), 'what another one gave since counts').toBe(false);
    for (let minute = 1; minute < 120; minute += 1) {
      const nowMs = setByMs + minute * 60_000;
      expect([take(nowMs), take(nowMs + 30_000), take(nowMs + 30_000)]).toEqual([true, true, false]);
    }
  },
);

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

interface Caps {
  readonly plansPerMinute: number;
  readonly bytesPerHour: number;
}

/** Two masters that tell each other what they have given, each fact twice. */
function twoMasters(caps: Caps, otherCaps = caps) {
  const [one, other] = ['one', 'other'].map((source) => new Facts({ kinds: SPENT_FACTS, source }));
  if (!one || !other) throw new Error('there are two');
  const both = [new RateCaps(caps, one), new RateCaps(otherCaps, other)] as const;
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

test('what a master gives that has larger caps uses up one share at another, and no more', () => {
  const [large, small] = twoMasters(
    { plansPerMinute: 100, bytesPerHour: 1e12 },
    { plansPerMinute: 2, bytesPerHour: 1e9 },
  );
  for (let times = 0; times < 5; times += 1) {
    expect(large.takePlan('10.0.0.1', 0).ok).toBe(true);
    expect(large.takeBudget('10.0.0.1', { plannedBytes: 1e11, wantedBytes: 1e11 }, 0).ok).toBe(true);
  }
  const budgetAt = (ms: number) =>
    small.takeBudget('10.0.0.1', { plannedBytes: 5e8, wantedBytes: 5e8 }, ms).ok;
  expect([small.takePlan('10.0.0.1', 0).ok, budgetAt(0)]).toEqual([false, false]);
  expect([small.takePlan('10.0.0.1', 30_000).ok, budgetAt(HOUR_MS / 2)]).toEqual([true, true]);
});

test('a bucket that was empty meanwhile is not filled again with what was spent long ago', () => {
  const [one, other] = twoMasters({ plansPerMinute: 2, bytesPerHour: 1000 });
  for (let minute = 0; minute < 10; minute += 1) {
    expect(one.takePlan('10.0.0.1', minute * 60_000).ok).toBe(true);
    expect(one.takePlan('10.0.0.1', minute * 60_000).ok).toBe(true);
    expect(other.takePlan('10.0.0.1', minute * 60_000).ok).toBe(false);
  }
});

/** How long it takes at most until another master has heard what one has given. */
const HEARD_AFTER_MS = 200;

/** Masters that hear each other after a while, by a clock that the test moves. */
class Meeting {
  nowMs = 0;
  isCut = false;
  readonly #caps: Caps;
  readonly #masters: { readonly facts: Facts; readonly caps: RateCaps }[] = [];
  #onItsWay: { readonly dueMs: number; readonly from: Facts; readonly fact: Fact }[] = [];

  constructor(plansPerMinute: number, masters: number) {
    this.#caps = { plansPerMinute, bytesPerHour: 1e12 };
    for (let index = 0; index < masters; index += 1) this.join();
  }

  /** One more master, which asks one of the others for all that it knows. */
  join(): void {
    const facts = new Facts({ kinds: SPENT_FACTS, source: `m${this.#masters.length}` });
    const caps = new RateCaps(this.#caps, facts);
    for (const fact of this.#masters[0]?.facts.store.facts() ?? []) facts.store.take(fact, this.nowMs);
    facts.tellOthers((fact) =>
      this.#onItsWay.push({ dueMs: this.nowMs + HEARD_AFTER_MS, from: facts, fact }),
    );
    this.#masters.push({ facts, caps });
  }

  /** Lets a client ask all masters, or one, as often as it can for so long; gives how many plans it got. */
  flood(forMs: number, only?: number): number {
    let given = 0;
    for (const endMs = this.nowMs + forMs; this.nowMs < endMs; this.pass(100)) {
      const asked = only === undefined ? this.#masters : this.#masters.slice(only, only + 1);
      for (const { caps } of asked) if (caps.takePlan('10.0.0.1', this.nowMs).ok) given += 1;
    }
    return given;
  }

  pass(ms: number): void {
    this.nowMs += ms;
    if (this.isCut) return;
    const due = this.#onItsWay.filter(({ dueMs }) => dueMs <= this.nowMs);
    this.#onItsWay = this.#onItsWay.filter(({ dueMs }) => dueMs > this.nowMs);
    for (const { from, fact } of due) {
      for (const { facts } of this.#masters) if (facts !== from) facts.store.take(fact, this.nowMs);
    }
  }
}

test('what another master gave after a pause counts in full', () => {
  const meeting = new Meeting(60, 2);
  meeting.flood(30_000, 0);
  meeting.pass(10 * 60_000);
  expect(meeting.flood(30_000, 0)).toBeGreaterThan(60);
  meeting.pass(HEARD_AFTER_MS);
  expect(meeting.flood(1_000, 1)).toBeLessThan(4);
});

test.each([1, 2, 3, 5])(
  '%i masters together give what one may, within a quarter, however a client asks them',
  (masters) => {
    const meeting = new Meeting(60, masters);
    // What it finds at the first moment at each of them it pays for later.
    meeting.flood(masters * 60_000);
    const given = meeting.flood(5 * 60_000);
    expect(given).toBeGreaterThan(300 * 0.75);
    expect(given).toBeLessThan(300 * 1.25);
  },
);

test('within two seconds no other master gives what one has given', () => {
  const meeting = new Meeting(60, 3);
  meeting.flood(10_000, 0);
  meeting.pass(2_000);
  // What those two seconds, and the one of asking, let drain.
  expect(meeting.flood(1_000, 2)).toBeLessThanOrEqual(3);
});

test('a master that joins late holds nothing against a client that has drained long ago', () => {
  const meeting = new Meeting(60, 2);
  // Somebody who does not stop for a quarter of an hour.
  meeting.flood(15 * 60_000);
  meeting.join();
  expect(meeting.flood(10_000, 2), 'it knows that the share is used up').toBeLessThan(13);
  meeting.flood(60_000);
  const given = meeting.flood(5 * 60_000);
  expect(given).toBeGreaterThan(300 * 0.75);
  expect(given).toBeLessThan(300 * 1.25);
  meeting.join();
  meeting.pass(60_000);
  expect(meeting.flood(10_000, 3), 'after a minute without it').toBeGreaterThan(55);
});

test('what each of several masters gave before it heard of the others is paid for in full', () => {
  const meeting = new Meeting(60, 3);
  meeting.isCut = true;
  expect(meeting.flood(7_000)).toBeGreaterThan(3 * 60);
  meeting.isCut = false;
  meeting.pass(HEARD_AFTER_MS);
  meeting.pass(110_000);
  expect(meeting.flood(1_000), 'of three shares less than two have drained').toBe(0);
  meeting.pass(70_000);
  expect(meeting.flood(1_000)).toBeGreaterThan(0);
});

test('a site that is cut off keeps its own limit, and the heal asks for one share at most', () => {
  const meeting = new Meeting(60, 2);
  meeting.isCut = true;
  meeting.flood(60_000, 0);
  const alone = meeting.flood(5 * 60_000, 0);
  expect(alone).toBeGreaterThan(295);
  expect(alone).toBeLessThan(306);
  meeting.flood(60_000, 1);
  meeting.isCut = false;
  meeting.pass(HEARD_AFTER_MS);
  meeting.flood(2 * 60_000);
  const given = meeting.flood(5 * 60_000);
  expect(given).toBeGreaterThan(300 * 0.75);
  expect(given).toBeLessThan(300 * 1.25);
});
