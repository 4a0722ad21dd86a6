import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CONGESTION_CONTROL_NAMES } from './congestion-controls.ts';
import { FITTED, type LegEstimate, legSeconds, legShape, shapeSeconds } from './leg-time.ts';
import { legGoodput } from './throughput.ts';
import { SEGMENT_BYTES } from './units.ts';

const leg: LegEstimate = { rttMs: 100, lossRate: 1e-3, rateBps: 1e8, windowBytes: 1e9, sender: 'cubic' };
const legs = fc.record({
  rttMs: fc.double({ min: 0.1, max: 400, noNaN: true }),
  lossRate: fc.constantFrom(0, 1e-6, 1e-4, 1e-2, 0.3),
  rateBps: fc.double({ min: 1e5, max: 1e10, noNaN: true }),
  windowBytes: fc.integer({ min: 20_000, max: 1e8 }),
  sender: fc.constantFrom(...CONGESTION_CONTROL_NAMES),
});
const rateOf = (sizeBytes: number, lanes = 1) => (sizeBytes * 8) / legSeconds(leg, sizeBytes, lanes);

describe('under losses a leg', () => {
  test('carries a file of some megabytes faster than it carries an endless one', () => {
    expect(rateOf(1e7)).toBeGreaterThan(2 * rateOf(1e10));
    expect(rateOf(1e7)).toBeLessThan(leg.rateBps);
  });

  test('comes down to the steady rate of the published model, less its time-outs', () => {
    const steady = legGoodput(leg).goodputBps;
    expect(rateOf(1e12)).toBeLessThan(steady);
    expect(rateOf(1e12)).toBeGreaterThan(0.9 * steady);
  });

  test('is never slower over more lanes, which begin together with a larger window', () => {
    fc.assert(
      fc.property(legs, fc.integer({ min: 1, max: 1e11 }), (one, size) => {
        expect(legSeconds(one, size, 4)).toBeLessThanOrEqual(legSeconds(one, size) * (1 + 1e-9));
      }),
    );
  });
});

describe('the rest of a chain', () => {
  test('holds a leg back to what it lets through', () => {
    const capPerSecond = 1e7 / 8 / SEGMENT_BYTES;
    const lossless = { ...leg, lossRate: 0 };
    expect(legSeconds(lossless, 1e9, 1, capPerSecond)).toBeGreaterThan(800);
    expect(legSeconds(lossless, 1e9, 1, capPerSecond)).toBeLessThan(801);
  });

  test('never makes a leg faster, whatever the file, the losses and the control', () => {
    const logSize = fc.double({ min: 0, max: 26, noNaN: true });
    const lanes = fc.constantFrom(1, 2, 4, 8);
    fc.assert(
      fc.property(
        legs,
        lanes,
        logSize,
        fc.double({ min: -3, max: 0, noNaN: true }),
        (one, count, log, share) => {
          const size = Math.exp(log);
          const held = legSeconds(one, size, count, 10 ** share * legShape(one, count).capPerSecond);
          expect(held).toBeGreaterThanOrEqual(legSeconds(one, size, count) * (1 - 1e-9));
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('the constants that were fitted', () => {
  const dearer = {
    timeoutShare: 2 * FITTED.timeoutShare,
    roundsPerLossInStart: 2 * FITTED.roundsPerLossInStart,
  };
  const ratio = (one: LegEstimate, constants: typeof FITTED) =>
    shapeSeconds(legShape(one, 1, constants), 1e6, Number.POSITIVE_INFINITY) / legSeconds(one, 1e6);

  test('hold for every time that asks for no others', () => {
    expect(ratio(leg, FITTED)).toBe(1);
  });

  test('cost a sender time-outs where losses hold its window back, and repairs in its start where it holds its rate', () => {
    const lossy = { ...leg, lossRate: 1e-2 };
    const bbr = { ...lossy, sender: 'bbr' as const };
    expect(ratio(lossy, { ...FITTED, timeoutShare: dearer.timeoutShare })).toBeGreaterThan(1);
    expect(ratio(lossy, { ...FITTED, roundsPerLossInStart: dearer.roundsPerLossInStart })).toBe(1);
    expect(ratio(bbr, { ...FITTED, roundsPerLossInStart: dearer.roundsPerLossInStart })).toBeGreaterThan(1);
    expect(ratio(bbr, { ...FITTED, timeoutShare: dearer.timeoutShare })).toBe(1);
  });

  test('cost nothing where nothing is lost', () => {
    for (const sender of CONGESTION_CONTROL_NAMES)
      expect(ratio({ ...leg, lossRate: 0, sender }, dearer)).toBe(1);
  });
});

test('a time is a number for any leg and size', () => {
  fc.assert(
    fc.property(legs, fc.double({ min: 1, max: 1e18, noNaN: true }), (one, size) => {
      expect(legSeconds(one, size)).toBeGreaterThan(0);
      expect(legSeconds(one, size)).toBeLessThan(Number.POSITIVE_INFINITY);
    }),
  );
});
