import { KIB } from '@longhaul/shared';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isDegraded, senderGoodputBps } from './degraded-lane.ts';

const RTT_MS = 20;
/** A receive buffer of old days, in which a slow lane soon holds the fast one up. */
const LIMITS = { leastBlockBytes: 64 * KIB, bufferBytes: 256 * KIB };

describe('a sender by loss and round-trip time', () => {
  test('has 44 % of 10 Mbit/s left at 1 % and next to nothing at 10 %', () => {
    expect(senderGoodputBps(RTT_MS, 0.01, 1400) / 1e7).toBeCloseTo(0.44, 2);
    expect(senderGoodputBps(RTT_MS, 0.1, 1400) / 1e7).toBeLessThan(0.07);
  });

  test('is slower the more is lost and the farther it is; without loss it has no such limit', () => {
    const loss = fc.double({ min: 1e-6, max: 0.3, noNaN: true });
    const property = fc.property(loss, fc.integer({ min: 1, max: 500 }), (lossRate, rttMs) => {
      const rate = senderGoodputBps(rttMs, lossRate);
      expect(senderGoodputBps(rttMs, lossRate * 1.1)).toBeLessThan(rate);
      expect(senderGoodputBps(rttMs * 1.1, lossRate)).toBeLessThan(rate);
    });
    fc.assert(property);
    expect(senderGoodputBps(20, 0)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('a lane of 2 Mbit/s beside one of 10 Mbit/s that loses 0.5 %', () => {
  const rateBps = Math.min(10e6, senderGoodputBps(RTT_MS, 0.005));
  const others = [{ rateBps, blocks: 10, leastDelayMs: RTT_MS, promise: undefined }];
  const lane = (worstLossRate: number) => ({
    rateBps: undefined,
    blocks: 0,
    leastDelayMs: RTT_MS,
    promise: { rateBps: 2e6, worstRttMs: RTT_MS, worstLossRate },
  });

  test('is kept while it loses little, and removed from some loss on', () => {
    const lossRates = [0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07];
    const removed = lossRates.map((lossRate) => isDegraded(lane(lossRate), others, LIMITS));
    expect(removed).toEqual(removed.toSorted((one, other) => Number(one) - Number(other)));
    expect(removed[0]).toBe(false);
    expect(removed.at(-1)).toBe(true);
  });

  test('is kept with any loss of that kind where the buffer is large', () => {
    expect(isDegraded(lane(0.07), others, { ...LIMITS, bufferBytes: 16_384 * KIB })).toBe(false);
  });

  test('is judged by what it brings once it has proved that', () => {
    // A sender that does not take loss for congestion.
    const proved = { ...lane(0.07), rateBps: 2e6, blocks: 10 };
    expect(isDegraded(proved, others, LIMITS)).toBe(false);
    expect(isDegraded({ ...lane(0.005), rateBps: 0.2e6, blocks: 10 }, others, LIMITS)).toBe(true);
  });
});

test('a lane alone holds nobody up', () => {
  const lane = { rateBps: 1000, blocks: 10, leastDelayMs: 500, promise: undefined };
  expect(isDegraded(lane, [], LIMITS)).toBe(false);
});

test('no lane is at fault where the buffer is too small for all of them alike', () => {
  const lane = { rateBps: 3e8, blocks: 10, leastDelayMs: 100, promise: undefined };
  const others = Array.from({ length: 7 }, () => lane);
  expect(isDegraded(lane, others, LIMITS)).toBe(false);
  expect(isDegraded({ ...lane, leastDelayMs: 300 }, others, LIMITS)).toBe(true);
});
