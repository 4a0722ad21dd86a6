import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Facts } from '../../facts/facts.ts';
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

test('a file that has grown has its new size when two depots have seen it, however many saw the old one', () => {
  const depots = ['d1', 'd2', 'd3', 'd4', 'd5'];
  const { sizes, tell } = memoryOf(...depots);
  for (const depot of depots) tell(depot, 200_000_000);
  tell('d4', 3_000_000_000);
  expect(sizes.recall(URL_HASH), 'one alone may lie').toBe(200_000_000);
  tell('d2', 3_000_000_000);
  expect(sizes.recall(URL_HASH)).toBe(3_000_000_000);
});

test('a depot that lies cannot bring back what a file was once', () => {
  const { sizes, tell } = memoryOf('d1', 'd2', 'd3', 'liar');
  tell('d1', 200_000_000);
  for (const depot of ['d2', 'd3']) tell(depot, 5000);
  tell('liar', 200_000_000);
  expect(sizes.recall(URL_HASH)).toBe(5000);
});

/** Two masters that hear each other's facts of one file, which these depots have been entry depots of. */
function twoMasters(...depots: readonly string[]) {
  const both = ['near', 'far'].map((source) => new Facts({ kinds: SIZE_FACTS, source }));
  for (const facts of both)
    facts.tellOthers((fact) => {
      for (const other of both) if (other !== facts) other.store.take(fact, fact.timeMs);
    });
  const sizes = both.map((facts) => new SizeMemory(facts));
  const chains = depots.map((depot) => [depot]);
  sizes[0]?.noteTicket(URL_HASH, chains, 0);
  const tell = (master: 0 | 1, depot: string, sizeBytes: number, nowMs: number) =>
    sizes[master]?.report(depot, [{ urlHash: URL_HASH, sizeBytes }], nowMs);
  return { tell, recall: () => sizes.map((one) => one.recall(URL_HASH)) };
}

test('a depot has one voice, also where it tells two masters', () => {
  const { tell, recall } = twoMasters('d1', 'd2', 'liar');
  for (const depot of ['d1', 'd2']) tell(0, depot, 5000, 1000);
  for (const master of [0, 1] as const) tell(master, 'liar', 1, 2000);
  expect(recall()).toEqual([5000, 5000]);
});

test('what two agreed on last is told from what two agreed on before, whichever master they told', () => {
  const { tell, recall } = twoMasters('d1', 'd2', 'd3', 'd4', 'd5');
  for (const depot of ['d1', 'd2']) tell(0, depot, 200, 1000);
  for (const depot of ['d3', 'd4']) tell(1, depot, 3000, 2000);
  tell(0, 'd5', 7, 3000);
  expect(recall()).toEqual([3000, 3000]);
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
