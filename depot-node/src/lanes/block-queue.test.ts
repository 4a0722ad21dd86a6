import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Block, BlockQueue } from './block-queue.ts';

describe('the blocks of a transfer', () => {
  test('counts what it may come to hold from the head to the last cut', () => {
    const queue = new BlockQueue({ startByte: 100, endByte: 1000 });
    const first = queue.cut(300);
    queue.cut(300);
    expect(queue.spanBytes).toBe(600);
    queue.note(first, 200);
    expect(queue.spanBytes).toBe(600);
    queue.deliver(200);
    expect(queue.spanBytes).toBe(500);
    expect(queue.uncutBytes).toBe(300);
  });

  test('are over when their bytes have been delivered, be it that these came without a word', () => {
    const queue = new BlockQueue({ startByte: 0, endByte: 100 });
    const [first, second] = [queue.cut(40), queue.cut(40)];
    queue.note(first, 10);
    expect(queue.readyBytes).toBe(10);
    queue.deliver(50);
    expect(first.nextByte).toBe(40);
    expect(second.nextByte).toBe(50);
    expect(queue.open).toEqual([second]);
    expect(queue.claimByte(0)).toBe(50);
    queue.note(second, 45);
    expect(second.nextByte).toBe(50);
    queue.cut(40);
    queue.deliver(100);
    expect(queue.isComplete).toBe(true);
    expect(queue.open).toEqual([]);
  });

  test('gives out what nobody fetches, behind what is left to others, each byte to one', () => {
    const property = fc.property(
      fc.array(fc.record({ left: fc.integer({ min: 0, max: 60 }), size: fc.integer({ min: 1, max: 20 }) })),
      (claims) => {
        const queue = new BlockQueue({ startByte: 7, endByte: 207 });
        const taken: Block[] = [];
        for (const { left, size } of claims) {
          const { unaskedBytes } = queue;
          if (left >= unaskedBytes) continue;
          const atByte = queue.claimByte(left);
          const block = queue.claim(left, size);
          expect(block.startByte).toBe(atByte);
          block.fetches += 1;
          taken.push(block);
          expect(queue.unaskedBytes).toBe(unaskedBytes - (block.endByte - block.startByte));
        }
        const inOrder = taken.toSorted((one, other) => one.startByte - other.startByte);
        for (const [index, block] of inOrder.entries()) {
          expect(block.startByte).toBeLessThan(block.endByte);
          expect(block.startByte).toBeGreaterThanOrEqual(inOrder[index - 1]?.endByte ?? 7);
        }
      },
    );
    fc.assert(property);
  });

  test('joined, are the same bytes in fewer of them, those that somebody fetches or has begun as they were', () => {
    const state = fc.record({ isFetched: fc.boolean(), came: fc.integer({ min: 0, max: 10 }) });
    const property = fc.property(fc.array(state, { minLength: 1, maxLength: 20 }), (states) => {
      const queue = new BlockQueue({ startByte: 7, endByte: 7 + 10 * states.length });
      for (const { isFetched, came } of states) {
        const block = queue.cut(10);
        block.fetches = isFetched ? 1 : 0;
        queue.note(block, block.startByte + came);
      }
      const missing = () =>
        queue.open.flatMap(({ nextByte, endByte }) =>
          Array.from({ length: endByte - nextByte }, (_, index) => nextByte + index),
        );
      const [before, fetched] = [missing(), queue.open.filter(({ fetches }) => fetches > 0)];
      queue.join();
      expect(missing()).toEqual(before);
      expect(queue.open.filter(({ fetches }) => fetches > 0)).toEqual(fetched);
      const open = queue.open.filter(({ fetches }) => fetches === 0);
      for (const [index, block] of open.entries()) {
        const next = open[index + 1];
        if (next?.nextByte === next?.startByte) expect(next?.startByte).not.toBe(block.endByte);
      }
    });
    fc.assert(property);
  });
});
