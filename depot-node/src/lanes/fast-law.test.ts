import { KIB, MIB } from '@longhaul/shared';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { laneShares, nextBlockBytes } from './fast-law.ts';

const ALPHA_BYTES = 8 * MIB;
const gain = fc.double({ min: 0.25, max: 1, noNaN: true });
const share = fc.double({ min: 0.05, max: 1, noNaN: true });
const loadBytes = fc.integer({ min: 16 * KIB, max: 64 * MIB });
/** 1 Mbit/s to 1 Gbit/s. */
const bytesPerMs = fc.double({ min: 125, max: 125_000, noNaN: true });
const leastDelayMs = fc.double({ min: 0.1, max: 500, noNaN: true });
const rate = fc.option(bytesPerMs, { nil: undefined });

describe('the size of a block', () => {
  test('comes to rest at what is on the way and the share of alpha, wherever it began', () => {
    const property = fc.property(
      fc.record({ loadBytes, bytesPerMs, leastDelayMs, share, gain }),
      ({ gain, ...lane }) => {
        let size = lane.loadBytes;
        for (let block = 0; block < 5000; block += 1) {
          size = nextBlockBytes({ ...lane, loadBytes: size }, { alphaBytes: ALPHA_BYTES, gain });
        }
        const rest = lane.share * ALPHA_BYTES + lane.bytesPerMs * lane.leastDelayMs;
        expect(size / rest).toBeCloseTo(1, 3);
      },
    );
    fc.assert(property);
  });

  test('comes to rest on a lane whose delay grows with it, with its share of alpha waiting', () => {
    const property = fc.property(
      fc.record({ loadBytes, bytesPerMs, leastDelayMs, share }),
      ({ loadBytes: first, bytesPerMs: capacity, leastDelayMs: delayMs, share: theta }) => {
        let size = first;
        let rateNow = 0;
        for (let block = 0; block < 5000; block += 1) {
          rateNow = size / (delayMs + size / capacity);
          const lane = { loadBytes: size, bytesPerMs: rateNow, leastDelayMs: delayMs, share: theta };
          size = nextBlockBytes(lane, { alphaBytes: ALPHA_BYTES, gain: 0.5 });
        }
        expect((size - rateNow * delayMs) / (theta * ALPHA_BYTES)).toBeCloseTo(1, 2);
      },
    );
    fc.assert(property);
  });

  test('at most doubles from one block to the next', () => {
    const property = fc.property(
      fc.record({ loadBytes, bytesPerMs, leastDelayMs, share }),
      gain,
      (lane, gain) => {
        const next = nextBlockBytes(lane, { alphaBytes: ALPHA_BYTES, gain });
        expect(next).toBeLessThanOrEqual(2 * lane.loadBytes);
        expect(next).toBeGreaterThan(0);
      },
    );
    fc.assert(property);
  });
});

describe('the shares of lanes', () => {
  test('sum up to the whole, and none is starved', () => {
    const property = fc.property(
      fc.array(rate, { minLength: 1, maxLength: 16 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (rates, minShare) => {
        const shares = laneShares(rates, minShare);
        expect(shares.reduce((sum, each) => sum + each, 0)).toBeCloseTo(1, 9);
        for (const each of shares) expect(each).toBeGreaterThanOrEqual((minShare / rates.length) * 0.999);
      },
    );
    fc.assert(property);
  });

  test('are even before anything was measured, and follow the rates then', () => {
    expect(laneShares([undefined, undefined], 0.05)).toEqual([0.5, 0.5]);
    const [fast = 0, slow = 0] = laneShares([300, 100], 0);
    expect(fast / slow).toBeCloseTo(3);
  });

  test('come to the middle by themselves where rates follow shares, however they began', () => {
    const property = fc.property(fc.double({ min: 0.01, max: 0.99, noNaN: true }), (first) => {
      let rates = [first, 1 - first];
      for (let period = 0; period < 300; period += 1) rates = laneShares(rates, 0.05);
      expect(rates[0]).toBeCloseTo(0.5, 3);
    });
    fc.assert(property);
  });
});
