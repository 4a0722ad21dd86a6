import { expect, test } from 'vitest';
import type { Fact } from '../facts/fact.ts';
import { Facts } from '../facts/facts.ts';
import { KnownMasters, MASTER_FACTS } from './known-masters.ts';
import { generateSigningKey, masterKeyOf } from './signing-key.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const URL = 'https://one.example';

/** A master that has just told where it is, and what it tells from then on. */
function announced() {
  const facts = new Facts({ kinds: MASTER_FACTS, source: 'one' });
  const masters = new KnownMasters(facts);
  masters.announce(URL, [masterKeyOf(generateSigningKey())], 0);
  const told: Fact[] = [];
  facts.tellOthers((fact) => told.push(fact));
  return { facts, masters, told };
}

test('a master says every hour that it is there, so that those who hear it never forget it', () => {
  const { masters, told } = announced();
  const elsewhere = new Facts({ kinds: MASTER_FACTS, source: 'two' });
  const known = new KnownMasters(elsewhere);
  for (let nowMs = 0; nowMs <= 30 * DAY_MS; nowMs += HOUR_MS / 4) {
    masters.sayAgain(nowMs);
    for (const fact of told.splice(0)) {
      expect(nowMs % HOUR_MS).toBe(0);
      elsewhere.store.take(fact, nowMs);
    }
    elsewhere.store.sweep(nowMs);
    if (nowMs >= HOUR_MS) expect(known.urls()).toEqual([URL]);
  }
  elsewhere.store.sweep(38 * DAY_MS);
  expect(known.urls()).toEqual([URL]);
  elsewhere.store.sweep(38 * DAY_MS + 1);
  expect([known.urls(), known.keys()]).toEqual([[], []]);
});

test('a clock that is set by years keeps no master from being known, nor from saying again that it is there', () => {
  for (const setByMs of [-400 * DAY_MS, 400 * DAY_MS]) {
    const { facts, masters, told } = announced();
    facts.shift(setByMs);
    facts.store.sweep(setByMs);
    expect(masters.urls()).toEqual([URL]);
    masters.sayAgain(setByMs + HOUR_MS - 1);
    expect(told).toEqual([]);
    masters.sayAgain(setByMs + HOUR_MS);
    expect(told).toHaveLength(1);
  }
});

test('what an earlier process told is not said again: its keys may count no longer', () => {
  const { masters, facts } = announced();
  const [before] = facts.store.facts();
  const after = new Facts({ kinds: MASTER_FACTS, source: 'one', epoch: 2 });
  const told: Fact[] = [];
  after.tellOthers((fact) => told.push(fact));
  const restarted = new KnownMasters(after);
  after.store.take(before as Fact, 0);
  restarted.sayAgain(DAY_MS);
  expect([told, restarted.urls()]).toEqual([[], masters.urls()]);
});
