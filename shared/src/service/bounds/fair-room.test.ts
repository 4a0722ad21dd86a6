import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FairRoom } from './fair-room.ts';

/** Takes one by one, as long as there is room. */
function takeAll(room: FairRoom, taker: string): number {
  let taken = 0;
  while (room.take(taker, 1)) taken += 1;
  return taken;
}

test('one who takes all that he can leaves as much as he has, and so does the next', () => {
  const room = new FairRoom(900);
  expect(takeAll(room, 'first')).toBe(450);
  expect(takeAll(room, 'second')).toBe(225);
  expect(takeAll(room, 'third')).toBe(112);
});

test('those who take in turn have the same share in the end, and one share is left', () => {
  const room = new FairRoom(800);
  for (let round = 0; round < 800; round += 1) for (const taker of ['a', 'b', 'c']) room.take(taker, 1);
  expect(['a', 'b', 'c'].map((taker) => room.usedBy(taker))).toEqual([200, 200, 200]);
});

test('who has nothing is let in as long as there is any room', () => {
  const room = new FairRoom(3);
  expect(['a', 'b', 'c', 'd'].map((taker) => room.take(taker, 1))).toEqual([true, true, true, false]);
});

test('whatever is taken and given back, nobody who takes more has more than is free, and all of it comes back', () => {
  const step = fc.record({
    taker: fc.constantFrom('a', 'b', 'c', 'd'),
    amount: fc.integer({ min: 1, max: 300 }),
    gives: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const room = new FairRoom(1000);
      const held: { taker: string; amount: number }[] = [];
      for (const { taker, amount, gives } of steps) {
        const back = gives ? held.shift() : undefined;
        if (back) room.giveBack(back.taker, back.amount);
        else if (room.take(taker, amount)) {
          held.push({ taker, amount });
          expect(room.used).toBeLessThanOrEqual(room.capacity);
          if (room.usedBy(taker) > amount)
            expect(room.usedBy(taker)).toBeLessThanOrEqual(room.capacity - room.used);
        }
      }
      for (const { taker, amount } of held) room.giveBack(taker, amount);
      expect(room.used).toBe(0);
      expect(room.usedBy('a')).toBe(0);
    }),
  );
});
