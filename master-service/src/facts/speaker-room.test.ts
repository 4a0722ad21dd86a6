import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod';
import type { FactKind } from './fact.ts';
import { Facts } from './facts.ts';
import { SpeakerRoom } from './speaker-room.ts';
import { firstOf } from './two-part-keys.ts';

const SEEN = {
  name: 'seen',
  schema: z.number(),
  keys: /^\S+ \S+$/,
  most: 60,
  whenFull: 'forget-oldest',
  lifeMs: 1000,
  isKept: true,
} satisfies FactKind<number>;

function room() {
  const facts = new Facts({ kinds: [SEEN] });
  const speakers = new SpeakerRoom({ facts, kind: SEEN });
  const tell = (key: string, nowMs = 0) => speakers.learn(key, 1, nowMs);
  const keysOf = (speaker: string) =>
    facts.store.held(SEEN).flatMap(({ key }) => (firstOf(key) === speaker ? [key] : []));
  return { facts, speakers, tell, keysOf };
}

test('who tells of ever more things forgets his own oldest, and nothing that others told', () => {
  const { tell, keysOf } = room();
  for (const depot of ['d1', 'd2']) for (let number = 0; number < 10; number += 1) tell(`${depot} ${number}`);
  for (let number = 0; number < 1000; number += 1) tell(`liar ${number}`);
  expect([keysOf('d1').length, keysOf('d2').length]).toEqual([10, 10]);
  expect(keysOf('liar')).toContain('liar 999');
  expect(keysOf('liar').length).toBeLessThanOrEqual(30);
  // And there is room for the next one.
  for (let number = 0; number < 10; number += 1) tell(`d3 ${number}`);
  expect(keysOf('d3')).toHaveLength(10);
});

test('what is told of again is not told of anew, and what is forgotten leaves its place', () => {
  const { facts, tell, keysOf } = room();
  for (let time = 0; time < 500; time += 1) tell(`d1 ${time % 20}`, time);
  expect(keysOf('d1')).toHaveLength(20);
  facts.store.sweep(5000);
  expect(keysOf('d1')).toEqual([]);
  for (let number = 0; number < 30; number += 1) tell(`d1 ${number}`, 5000);
  expect(keysOf('d1')).toHaveLength(30);
});

test('what a file brings back of one depot leaves room for others all the same', () => {
  const { facts, tell, keysOf } = room();
  for (let sequence = 1; sequence <= 60; sequence += 1) {
    const fact = { kind: 'seen', key: `d1 ${sequence}`, source: facts.source, epoch: 0, sequence };
    facts.store.take({ ...fact, timeMs: 0, value: 1 }, 0);
  }
  for (let number = 0; number < 20; number += 1) tell(`d2 ${number}`);
  expect(keysOf('d2')).toHaveLength(20);
});

test('no order of telling lets anybody lose what he may have', () => {
  const order = fc.array(fc.tuple(fc.constantFrom('d1', 'd2', 'd3'), fc.nat(200)), { maxLength: 400 });
  fc.assert(
    fc.property(order, (told) => {
      const { facts, tell, keysOf } = room();
      for (const [depot, number] of told) tell(`${depot} ${number}`);
      expect(facts.store.held(SEEN).length).toBeLessThanOrEqual(SEEN.most);
      for (const depot of ['d1', 'd2', 'd3']) {
        const named = new Set(told.flatMap(([one, number]) => (one === depot ? [number] : [])));
        expect(keysOf(depot).length).toBeGreaterThanOrEqual(Math.min(named.size, 15));
      }
    }),
  );
});

test('what comes of what is known starts from the newest word, whichever master was told it', () => {
  const { facts, speakers } = room();
  const said = () => facts.own(SEEN, 'd1 1')?.value;
  speakers.update('d1 1', 100, (known = 10, passedMs) => known + passedMs);
  expect(said()).toBe(10);
  facts.store.take(
    { kind: 'seen', key: 'd1 1', source: 'elsewhere', epoch: 1, sequence: 1, timeMs: 300, value: 50 },
    300,
  );
  speakers.update('d1 1', 302, (known = 0, passedMs) => known + passedMs);
  expect(said()).toBe(52);
  // A clock that was set back makes nothing younger than new.
  speakers.update('d1 1', 200, (known = 0, passedMs) => known + passedMs);
  expect(said()).toBe(52);
});
