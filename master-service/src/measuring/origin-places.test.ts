import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { placesOf, witnessOf } from './origin-places.ts';

/** Two depots in Europe, two in North America and one between them; 90 ms from side to side. */
const PLACES: Readonly<Record<string, number>> = { e1: 0, e2: 6, middle: 40, w1: 90, w2: 95 };
const rttBetween = (one: string, other: string) => Math.abs((PLACES[one] ?? 0) - (PLACES[other] ?? 0));
const ways = () => {
  const depots = Object.keys(PLACES);
  return depots.flatMap((one) =>
    depots.flatMap((other) => (one < other ? [[one, other, rttBetween(one, other)] as const] : [])),
  );
};
const seen = (measuredMs: Readonly<Record<string, number>>) => new Map(Object.entries(measuredMs));

describe('where an origin stands', () => {
  test.each([
    ['one', { e1: 2, e2: 7, w1: 92 }],
    ['one', { e1: 2, e2: 3 }],
    ['disputed', { e1: 2, w1: 3 }],
    ['disputed', { e1: 2, e2: 3, w1: 3 }],
    ['several', { e1: 2, e2: 3, w1: 3, w2: 2 }],
    ['several', { e1: 2, middle: 2, w1: 3 }],
  ] as const)('%s: %o', (places, measuredMs) => {
    expect(placesOf(seen(measuredMs), ways())).toBe(places);
  });

  test('is in several places by no single word, whatever one depot says', () => {
    const honest = seen({ e1: 12, e2: 8, middle: 42, w1: 95 });
    fc.assert(
      fc.property(fc.constantFrom(...honest.keys()), fc.double({ min: 0.1, max: 500 }), (liar, rttMs) => {
        expect(placesOf(new Map([...honest, [liar, rttMs]]), ways())).not.toBe('several');
      }),
    );
  });
});

describe('the depot that tells in how many places an origin stands', () => {
  const witness = (measuredMs: Readonly<Record<string, number>>) => {
    const others = Object.keys(PLACES).filter((depot) => measuredMs[depot] === undefined);
    return witnessOf(seen(measuredMs), others, rttBetween);
  };

  test('is a far one, where only neighbours say that it is beside them', () => {
    expect(witness({ e1: 2, e2: 7 })).toBe('w2');
    expect(witness({ w1: 2 })).toBe('e1');
  });

  test('is none once a far one has said that it is not', () => {
    expect(witness({ e1: 2, w1: 92 })).toBeUndefined();
    expect(witness({ e1: 2, e2: 7, w2: 97 })).toBeUndefined();
  });

  test('is a third one, far from both, where two contradict each other, and none once it is settled', () => {
    expect(witness({ e1: 2, w1: 3 })).toBe('middle');
    expect(witness({ e1: 2, e2: 3, w1: 3 })).toBe('middle');
    expect(witness({ e1: 2, middle: 2, w1: 3 })).toBeUndefined();
  });

  test('is none where the origin is so far from all that nobody could tell, or nothing is known of the ways between them', () => {
    expect(witness({ e1: 50, e2: 55 })).toBeUndefined();
    expect(witnessOf(seen({ e1: 2 }), ['w1'], () => undefined)).toBeUndefined();
    expect(witnessOf(new Map(), ['w1'], rttBetween)).toBeUndefined();
  });
});
