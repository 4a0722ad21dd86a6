import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RunningDigest } from './running-digest.ts';

const bytesOf = (sizeBytes: number, seed = 1) => {
  const bytes = Buffer.alloc(sizeBytes);
  for (let index = 0, state = seed; index < sizeBytes; index += 1) {
    state = (state * 48_271) % 2_147_483_647;
    bytes[index] = state;
  }
  return bytes;
};
const cut = (bytes: Buffer, places: readonly number[]) => {
  const all = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted(
    (a, b) => a - b,
  );
  return all.slice(1).map((end, index) => bytes.subarray(all[index], end));
};
/** What comes through a prefix; `undefined` where the body begins otherwise. */
const passed = (digest: RunningDigest, chunks: readonly Buffer[]) => {
  const prefix = digest.prefix();
  const rest: Buffer[] = [];
  for (const chunk of chunks) {
    const more = prefix.take(chunk);
    if (!more) return undefined;
    rest.push(more);
  }
  return { restBytes: prefix.restBytes, rest: Buffer.concat(rest) };
};
const places = fc.array(fc.nat(40_000_000), { maxLength: 6 });
const LARGE = bytesOf(40_000_000);

describe('the digest of what a client has', () => {
  test('lets another body through from the byte behind it, however both are cut', () => {
    fc.assert(
      fc.property(fc.nat(LARGE.length), places, places, (knownBytes, here, there) => {
        const digest = new RunningDigest();
        for (const chunk of cut(LARGE.subarray(0, knownBytes), here)) digest.update(chunk);
        const all = passed(digest, cut(LARGE, there));
        expect(all?.restBytes).toBe(0);
        expect(all?.rest.equals(LARGE.subarray(knownBytes))).toBe(true);
      }),
      { numRuns: 10 },
    );
  });

  test('lets nothing through of a body of which one bit before is another', () => {
    const known = LARGE.subarray(0, 20_000_000);
    fc.assert(
      fc.property(fc.nat(known.length - 1), fc.nat(7), (at, bit) => {
        const digest = new RunningDigest();
        digest.update(known);
        const other = Buffer.from(known);
        other[at] = (other[at] ?? 0) ^ (1 << bit);
        expect(passed(digest, [other])).toBeUndefined();
      }),
      { numRuns: 5 },
    );
  });

  test('says how much of the prefix has not come yet', () => {
    const digest = new RunningDigest();
    digest.update(LARGE.subarray(0, 1000));
    expect(passed(digest, [LARGE.subarray(0, 999)])).toEqual({ restBytes: 1, rest: Buffer.alloc(0) });
  });

  test('keeps no more than anybody fetches again, and says that it is not all', () => {
    const digest = new RunningDigest();
    const tag = Buffer.alloc(16);
    digest.updateTagged(Array.from({ length: 5000 }, () => ({ bytes: 10, tag })));
    digest.update(Buffer.alloc(100));
    digest.updateTagged([]);
    expect(digest.bytes).toBe(40_960);
  });

  test('goes on with what the client gets after a comparison, and can be compared again', () => {
    const digest = new RunningDigest();
    for (const end of [1000, 5000, 20_000]) {
      digest.update(LARGE.subarray(end === 1000 ? 0 : end === 5000 ? 1000 : 5000, end));
      expect(passed(digest, [LARGE.subarray(0, 30_000)])?.rest.length).toBe(30_000 - end);
    }
  });
});
