import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitsLegFigures } from './fits-leg-figures.ts';
import { type LegFigures, legFiguresSchema } from './leg-figures.ts';
import { lossRateOf } from './loss-evidence.ts';
import { shortLegFigures } from './short-leg-figures.ts';

const amount = fc.double({ min: 1e-9, max: 1e12, noNaN: true });
const figure = fc.record({ value: amount, scatter: amount, weight: amount, ageMs: fc.nat() });
const loss = fc
  .record({ sentBytes: amount, share: fc.double({ min: 0, max: 1, noNaN: true }), ageMs: fc.nat() })
  .map(({ sentBytes, share, ageMs }) => ({ sentBytes, lostBytes: sentBytes * share, ageMs }));

test('figures that are told short are figures, say the same to a hundredth of a per cent, how sure they are to half a per cent, and all that they said else', () => {
  const some: fc.Arbitrary<LegFigures> = fc.record(
    { rtt: figure, goodput: figure, loss },
    { requiredKeys: ['rtt'] },
  );
  fc.assert(
    fc.property(some, (figures) => {
      const told = shortLegFigures({ ...figures, ofNextVersion: [1.23456789] });
      expect(fitsLegFigures(told)).toBe(true);
      expect(legFiguresSchema.parse(told)).toMatchObject({ ofNextVersion: [1.23456789] });
      for (const part of ['rtt', 'goodput'] as const) {
        expect(told[part]?.ageMs).toBe(figures[part]?.ageMs);
        for (const [field, most] of [
          ['value', 1e-4],
          ['scatter', 0.005],
          ['weight', 0.005],
        ] as const) {
          const ratio = (told[part]?.[field] ?? 1) / (figures[part]?.[field] ?? 1);
          expect(Math.abs(ratio - 1)).toBeLessThan(1.01 * most);
        }
      }
      const [rate, before] = [told.loss, figures.loss].map((evidence) => evidence && lossRateOf(evidence));
      expect(rate ?? 0).toBeCloseTo(before ?? 0, 3);
      expect(JSON.stringify(told).length).toBeLessThan(400);
    }),
  );
});
