import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nearerDepot } from './nearer-depot.ts';

/** Depots and an end on a plane, a millisecond apart for each unit. */
interface Place {
  readonly x: number;
  readonly y: number;
}

const place = fc.record({ x: fc.integer({ min: 0, max: 300 }), y: fc.integer({ min: 0, max: 300 }) });
const rttOf = (one: Place, other: Place) => Math.hypot(one.x - other.x, one.y - other.y);

function rttBetween(places: readonly Place[]) {
  return (one: string, other: string) => {
    const [from, to] = [places[Number(one)], places[Number(other)]];
    return from && to && rttOf(from, to);
  };
}

test('where some depot is much nearer than those that have measured the end, one is found', () => {
  fc.assert(
    fc.property(place, fc.array(place, { minLength: 2, maxLength: 20 }), fc.nat(5), (end, places, count) => {
      const ids = places.map((_, at) => String(at));
      const endMs = (id: string) => rttOf(places[Number(id)] ?? end, end);
      const measuredMs = new Map(ids.slice(0, 1 + count).map((id) => [id, endMs(id)]));
      const others = ids.slice(1 + count);
      const nearestMs = Math.min(...measuredMs.values());
      const isThereOne = others.some((id) => endMs(id) < 0.79 * nearestMs);
      const found = nearerDepot(measuredMs, others, rttBetween(places));
      if (isThereOne) expect(found).toBeDefined();
      expect(found === undefined || others.includes(found)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test('none is found where all are further away than those that have measured it', () => {
  const places = [0, 10, 200, 250, 300].map((x) => ({ x, y: 0 }));
  const measured = new Map([
    ['0', 2],
    ['1', 8],
  ]);
  expect(nearerDepot(measured, ['2', '3', '4'], rttBetween(places))).toBeUndefined();
});

test.each([
  ['near', 1],
  ['far', 3000],
])(
  'one that calls itself %s keeps nobody from finding the nearest, with two others that tell the truth',
  (_, toldMs) => {
    const places = [200, 220, 300, 5].map((x) => ({ x, y: 0 }));
    const measured = new Map([
      ['0', 200],
      ['1', 220],
      ['2', toldMs],
    ]);
    expect(nearerDepot(measured, ['3'], rttBetween(places))).toBe('3');
  },
);

test('a depot of whose links nothing is known is not guessed at', () => {
  const measured = new Map([['0', 200]]);
  expect(nearerDepot(measured, ['1', '2'], () => undefined)).toBeUndefined();
});
