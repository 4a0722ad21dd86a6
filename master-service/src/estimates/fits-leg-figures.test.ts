import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitsLegFigures } from './fits-leg-figures.ts';
import { legFiguresSchema } from './leg-figures.ts';

/** Amounts, and what is none. */
const amount = fc.oneof(
  { weight: 12, arbitrary: fc.double({ min: 0, max: 1e12, noNaN: true }) },
  fc.constantFrom<unknown>(
    0,
    -0,
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '1',
    null,
    undefined,
    [],
    {},
    true,
  ),
);
const rest = { later: fc.constantFrom('what a newer master says') };
const part = (names: readonly string[]) =>
  fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record({ ...Object.fromEntries(names.map((name) => [name, amount])), ...rest }),
    },
    fc.constantFrom<unknown>(undefined, null, 7, 'text', [1]),
  );
const figure = part(['value', 'scatter', 'weight', 'ageMs', 'doubted', 'fellFrom', 'reached']);
const loss = part(['sentBytes', 'lostBytes', 'ageMs']);
const figures = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ rtt: figure, goodput: figure, loss, ...rest }, { requiredKeys: ['rtt'] }),
  },
  fc.anything(),
);

test('the quick look at what was measured of a link says what the schema says, which changes nothing of it', () => {
  let fitting = 0;
  fc.assert(
    fc.property(figures, (value) => {
      const { success, data } = legFiguresSchema.safeParse(value);
      expect(fitsLegFigures(value)).toBe(success);
      if (success) expect(data).toEqual(value);
      if (success) fitting += 1;
    }),
    { numRuns: 2_000 },
  );
  expect(fitting).toBeGreaterThan(50);
});
