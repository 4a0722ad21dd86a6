import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Facts } from '../facts/facts.ts';
import { SIZE_FACTS, SizeMemory } from './size-memory.ts';

const URL_HASH = 'a-file';

/** A memory of one file, which these depots have been entry depots of. */
function memoryOf(...depots: readonly string[]) {
  const sizes = new SizeMemory();
  sizes.noteTicket(
    URL_HASH,
    depots.map((depot) => [depot]),
    0,
  );
  let nowMs = 0;
  const tell = (depot: string, sizeBytes: number, isWholeOnly = false) => {
    nowMs += 1000;
    const seen = isWholeOnly ? { isWholeOnly: true as const } : {};
    sizes.report(depot, [{ urlHash: URL_HASH, sizeBytes, ...seen }], nowMs);
  };
  return { sizes, tell };
}

test('a file has the size that the only depot tells which has seen it, and another one when it has changed', () => {
  const { sizes, tell } = memoryOf('d1');
  tell('d1', 5000);
  expect(sizes.recall(URL_HASH)).toBe(5000);
  tell('d1', 700, true);
  expect([sizes.recall(URL_HASH), sizes.isWholeOnly(URL_HASH)]).toEqual([700, true]);
});

test('a depot that lies of a size, however often, outvotes nobody who agree', () => {
  const told = fc.array(fc.oneof(fc.constant(undefined), fc.integer({ min: 1, max: 1e12 })), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(told, (order) => {
      const { sizes, tell } = memoryOf('d1', 'd2', 'd3', 'liar');
      let honest = 0;
      for (const lie of [...order, undefined, undefined]) {
        if (lie !== undefined) tell('liar', lie, true);
        else {
          honest += 1;
          tell(`d${1 + (honest % 3)}`, 5_000_000);
        }
      }
      tell('liar', 1, true);
      expect([sizes.recall(URL_HASH), sizes.isWholeOnly(URL_HASH)]).toEqual([5_000_000, false]);
    }),
  );
});

test('of two that contradict each other the larger counts: what goes direct as a small file is seen by no further depot', () => {
  for (const order of [
    ['d1', 'liar'],
    ['liar', 'd1'],
  ]) {
    const { sizes, tell } = memoryOf('d1', 'liar');
    for (const depot of order) tell(depot, depot === 'liar' ? 1 : 5_000_000);
    expect(sizes.recall(URL_HASH)).toBe(5_000_000);
  }
});

test('depots of all masters are counted together: one that lies to another master outvotes nobody either', () => {
  const facts = new Facts({ kinds: SIZE_FACTS });
  const sizes = new SizeMemory(facts);
  sizes.noteTicket(URL_HASH, [['d1'], ['d2']], 0);
  for (const depot of ['d1', 'd2']) sizes.report(depot, [{ urlHash: URL_HASH, sizeBytes: 5000 }], 1000);
  const lie = { sizeBytes: 1, told: [{ sizeBytes: 1, by: 'liar' }] };
  const fact = { kind: 'size-seen', key: URL_HASH, source: 'far', epoch: 1, sequence: 1, timeMs: 9000 };
  facts.store.take({ ...fact, value: lie }, 9000);
  expect(sizes.recall(URL_HASH)).toBe(5000);
});
