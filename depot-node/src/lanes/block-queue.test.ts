import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { unlikeBytes } from '../testing/block-origin.ts';
import { type Block, BlockQueue } from './block-queue.ts';

const CONTENT = unlikeBytes(5000);

type Step =
  | { readonly do: 'cut'; readonly bytes: number }
  | { readonly do: 'fetch' | 'take'; readonly pick: number }
  | { readonly do: 'put'; readonly pick: number; readonly bytes: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('cut' as const), bytes: fc.integer({ min: 1, max: 900 }) }),
  fc.record({ do: fc.constantFrom('fetch' as const, 'take' as const), pick: fc.nat() }),
  fc.record({ do: fc.constant('put' as const), pick: fc.nat(), bytes: fc.integer({ min: 1, max: 700 }) }),
);

describe('the reorder buffer', () => {
  test('gives every byte once and in order, whoever brings it, and however often', () => {
    const property = fc.property(
      fc.nat(1000),
      fc.nat(4000),
      fc.array(step, { maxLength: 200 }),
      (startByte, sizeBytes, steps) => {
        const endByte = startByte + sizeBytes;
        const queue = new BlockQueue({ startByte, endByte });
        const fetches: { readonly block: Block; atByte: number }[] = [];
        const given: Buffer[] = [];
        const put = (fetch: (typeof fetches)[number], bytes: number) => {
          const chunk = CONTENT.subarray(fetch.atByte, Math.min(fetch.atByte + bytes, fetch.block.endByte));
          if (chunk.length > 0) queue.put(fetch.block, fetch.atByte, chunk);
          fetch.atByte += chunk.length;
        };
        const begin = (block: Block) => fetches.push({ block, atByte: block.nextByte });
        const takeAll = () => {
          for (let chunk = queue.take(); chunk; chunk = queue.take()) given.push(chunk);
        };
        for (const each of steps) {
          const fetch = 'pick' in each ? fetches[each.pick % Math.max(1, fetches.length)] : undefined;
          if (each.do === 'cut' && queue.uncutBytes > 0) begin(queue.cut(each.bytes));
          if (each.do === 'fetch' && fetch) begin(fetch.block);
          if (each.do === 'put' && fetch) put(fetch, each.bytes);
          if (each.do === 'take') {
            const { readyBytes } = queue;
            const before = given.length;
            takeAll();
            expect(Buffer.concat(given.slice(before)).length).toBe(readyBytes);
          }
        }
        while (queue.uncutBytes > 0) begin(queue.cut(500));
        for (const fetch of fetches) put(fetch, sizeBytes);
        takeAll();
        expect(Buffer.concat(given).equals(CONTENT.subarray(startByte, endByte))).toBe(true);
        expect(queue.isComplete).toBe(true);
        expect(queue.open).toEqual([]);
      },
    );
    fc.assert(property, { numRuns: 500 });
  });

  test('counts what it may come to hold from the head to the last cut', () => {
    const queue = new BlockQueue({ startByte: 100, endByte: 1000 });
    const first = queue.cut(300);
    queue.cut(300);
    expect(queue.spanBytes).toBe(600);
    queue.put(first, 100, CONTENT.subarray(100, 200));
    expect(queue.spanBytes).toBe(600);
    queue.take();
    expect(queue.spanBytes).toBe(500);
    expect(queue.uncutBytes).toBe(300);
  });

  test('holds what came in single bytes in few pieces, however much of it there is', () => {
    const content = unlikeBytes(200_000);
    const queue = new BlockQueue({ startByte: 0, endByte: content.length });
    const block = queue.cut(content.length);
    // An odd large chunk in between is kept as it is.
    for (let atByte = 0; atByte < content.length; ) {
      const sizeBytes = atByte === 70_000 ? 20_000 : 1;
      queue.put(block, atByte, content.subarray(atByte, atByte + sizeBytes));
      atByte += sizeBytes;
    }
    const given: Buffer[] = [];
    for (let chunk = queue.take(); chunk; chunk = queue.take()) given.push(chunk);
    expect(Buffer.concat(given).equals(content)).toBe(true);
    expect(given.length).toBeLessThan(10);
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
});
