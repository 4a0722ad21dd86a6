import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OrderedMap } from './ordered-map.ts';

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const change = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), key, value: fc.nat(9) }),
  fc.record({ kind: fc.constant('set-last' as const), key, value: fc.nat(9) }),
  fc.record({ kind: fc.constant('delete' as const), key, value: fc.constant(0) }),
  fc.record({ kind: fc.constant('delete-oldest' as const), key, value: fc.constant(0) }),
);
const ask = fc.record({ kind: fc.constant('get-last' as const), key, value: fc.constant(0) });
const changeOrAsk = fc.oneof(change, ask);
type Change = typeof changeOrAsk extends fc.Arbitrary<infer One> ? One : never;

function both() {
  const [ours, theirs] = [new OrderedMap<string, number>(), new Map<string, number>()];
  return {
    ours,
    theirs,
    apply: ({ kind, key: name, value }: Change) => {
      if (kind === 'delete') expect(ours.delete(name)).toBe(theirs.delete(name));
      else if (kind === 'delete-oldest') {
        const [oldest] = theirs;
        expect(ours.deleteOldest()).toBe(oldest?.[1]);
        if (oldest) theirs.delete(oldest[0]);
      } else if (kind === 'get-last') {
        const known = theirs.get(name);
        expect(ours.getLast(name)).toBe(known);
        if (known === undefined) return;
        theirs.delete(name);
        theirs.set(name, known);
      } else if (kind === 'set') {
        ours.set(name, value);
        theirs.set(name, value);
      } else {
        expect(ours.setLast(name, value)).toBe(theirs.get(name));
        theirs.delete(name);
        theirs.set(name, value);
      }
    },
  };
}

describe('a map whose oldest entry is found at once', () => {
  test('is what a Map is, in the same order', () => {
    fc.assert(
      fc.property(fc.array(changeOrAsk, { maxLength: 30 }), (changes) => {
        const { ours, theirs, apply } = both();
        for (const one of changes) {
          apply(one);
          expect([...ours]).toEqual([...theirs]);
          expect(ours.newest(2)).toEqual([...theirs].toReversed().slice(0, 2));
          expect([...ours.keys(), ...ours.values()]).toEqual([...theirs.keys(), ...theirs.values()]);
          expect([ours.size, ours.oldest]).toEqual([theirs.size, [...theirs.keys()][0]]);
          expect(ours.get(one.key)).toBe(theirs.get(one.key));
        }
      }),
    );
  });

  test('may change while somebody goes through it, as a Map may', () => {
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 12 }),
        fc.array(fc.array(change, { maxLength: 3 }), { maxLength: 12 }),
        (before, during) => {
          const { ours, theirs, apply } = both();
          for (const one of before) apply(one);
          const [mine, other] = [ours[Symbol.iterator](), theirs[Symbol.iterator]()];
          for (const changes of [...during, [], []]) {
            const [step, expected] = [mine.next(), other.next()];
            expect(step.value).toEqual(expected.value);
            if (expected.done) return;
            for (const one of changes) apply(one);
          }
        },
      ),
    );
  });
});
