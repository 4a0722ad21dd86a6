import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FileRuns } from './file-runs.ts';

describe('runs of a file', () => {
  test('tell of each byte once whether it is missing, and give the front in order', () => {
    const property = fc.property(
      fc.array(
        fc.record({
          at: fc.nat(300),
          bytes: fc.integer({ min: 1, max: 60 }),
          gives: fc.nat(40),
          passes: fc.nat(20),
        }),
      ),
      (steps) => {
        const runs = new FileRuns<number[]>(0, () => []);
        const known = new Set<number>();
        const knownFrom = (at: number) => {
          let byte = at;
          while (known.has(byte) || byte < runs.headByte) byte += 1;
          return byte - at;
        };
        for (const { at, bytes, gives, passes } of steps) {
          expect(runs.knownBytes(at)).toBe(knownFrom(at));
          const from = at + runs.knownBytes(at);
          const most = Math.min(bytes, runs.missingBytes(from));
          const run = runs.runAt(from);
          for (let byte = from; byte < from + most; byte += 1) {
            expect(known.has(byte)).toBe(false);
            known.add(byte);
            run.store.push(byte);
          }
          runs.grow(run, most);
          expect(runs.readyByte).toBe(runs.headByte + knownFrom(runs.headByte));
          for (let given = 0; given < gives && runs.front; given += 1) {
            expect(runs.front.store.shift()).toBe(runs.headByte);
            known.delete(runs.headByte);
            runs.give(1);
          }
          if (!runs.front) runs.pass(Math.min(passes, runs.missingBytes(runs.headByte)));
          expect(runs.heldBytes).toBe(known.size);
        }
      },
    );
    fc.assert(property, { numRuns: 500 });
  });
});
