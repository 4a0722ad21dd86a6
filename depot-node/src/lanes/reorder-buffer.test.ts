import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { unlikeBytes } from '../testing/block-origin.ts';
import { ReorderBuffer } from './reorder-buffer.ts';

const CONTENT = unlikeBytes(5000);

describe('the reorder buffer', () => {
  test('gives every byte once and in order, whoever brings it, and however often', () => {
    const property = fc.property(
      fc.nat(1000),
      fc.nat(4000),
      fc.array(fc.record({ at: fc.nat(5000), bytes: fc.integer({ min: 1, max: 900 }), takes: fc.boolean() })),
      (startByte, sizeBytes, puts) => {
        const endByte = startByte + sizeBytes;
        const buffer = new ReorderBuffer(startByte);
        const given: Buffer[] = [];
        const takeAll = () => {
          for (let chunk = buffer.take(); chunk; chunk = buffer.take()) given.push(chunk);
        };
        const there = new Set<number>();
        const put = (from: number, to: number) => {
          buffer.put(from, CONTENT.subarray(from, to));
          for (let byte = from; byte < to; byte += 1) there.add(byte);
        };
        for (const { at, bytes, takes } of puts) {
          const from = Math.min(endByte, Math.max(startByte, at));
          put(from, Math.min(endByte, from + bytes));
          if (takes) takeAll();
          const givenBytes = given.reduce((sum, { length }) => sum + length, 0);
          expect(buffer.headByte).toBe(startByte + givenBytes);
          expect(buffer.heldBytes).toBe(there.size - givenBytes);
        }
        put(startByte, endByte);
        takeAll();
        expect(Buffer.concat(given).equals(CONTENT.subarray(startByte, endByte))).toBe(true);
        expect([buffer.headByte, buffer.heldBytes]).toEqual([endByte, 0]);
      },
    );
    fc.assert(property, { numRuns: 500 });
  });

  test('holds what came in single bytes in few pieces, however much of it there is', () => {
    const content = unlikeBytes(200_000);
    const buffer = new ReorderBuffer(0);
    // An odd large chunk in between is kept as it is.
    for (let atByte = 0; atByte < content.length; ) {
      const sizeBytes = atByte === 70_000 ? 20_000 : 1;
      buffer.put(atByte, content.subarray(atByte, atByte + sizeBytes));
      atByte += sizeBytes;
    }
    const given: Buffer[] = [];
    for (let chunk = buffer.take(); chunk; chunk = buffer.take()) given.push(chunk);
    expect(Buffer.concat(given).equals(content)).toBe(true);
    expect(given.length).toBeLessThan(10);
  });
});
