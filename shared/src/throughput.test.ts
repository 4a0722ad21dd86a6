import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CONGESTION_CONTROL_NAMES } from './congestion-controls.ts';
import { type LegEstimate, legSeconds } from './leg-time.ts';
import { chainSeconds, legGoodput, setUpSeconds } from './throughput.ts';
import { SEGMENT_BYTES } from './units.ts';

const leg: LegEstimate = { rttMs: 100, lossRate: 0, rateBps: 1e8, windowBytes: 1e9, sender: 'cubic' };
const noTls = { clientTls: false, originTls: false };

const legs = fc.record({
  rttMs: fc.double({ min: 0.1, max: 400, noNaN: true }),
  lossRate: fc.constantFrom(0, 1e-6, 1e-4, 1e-2),
  rateBps: fc.double({ min: 1e5, max: 1e10, noNaN: true }),
  windowBytes: fc.integer({ min: 20_000, max: 1e8 }),
  sender: fc.constantFrom(...CONGESTION_CONTROL_NAMES),
});

describe('the goodput of a leg', () => {
  test('is its rate where nothing else limits it', () => {
    expect(legGoodput(leg)).toEqual({ goodputBps: 1e8, limit: 'rate' });
  });

  test('is the window in a round trip where the buffers are small', () => {
    const { goodputBps, limit } = legGoodput({ ...leg, windowBytes: 65_536 });
    expect(goodputBps).toBeCloseTo((65_536 * 8) / 0.1);
    expect(limit).toBe('window');
  });

  test('follows the published models under loss', () => {
    const lossy = { ...leg, rateBps: 1e12, lossRate: 1e-4 };
    const segments = (one: LegEstimate) => (legGoodput(one).goodputBps * 0.1) / 8 / SEGMENT_BYTES;
    expect(segments({ ...lossy, sender: 'reno' })).toBeCloseTo(131);
    // 1.054 (0.1 / 1e-4)^0.75
    expect(segments(lossy)).toBeCloseTo(187, 0);
    expect(legGoodput(lossy).limit).toBe('loss');
  });

  test('of BBR is nearly the rate under random loss, and the line is what limits it', () => {
    const { goodputBps, limit } = legGoodput({ ...leg, lossRate: 0.01, sender: 'bbr' });
    expect(goodputBps).toBeCloseTo(0.99e8);
    expect(limit).toBe('rate');
  });
});

describe('several lanes', () => {
  const lossy = { ...leg, rttMs: 20, lossRate: 0.0025 };

  test('carry as many times what losses leave to one connection, up to the rate', () => {
    const one = legGoodput(lossy).goodputBps;
    // sqrt(1.5 / 0.0025) segments each 20 ms; measured in the lab: 13 to 15 Mbit/s.
    expect(one / 1e6).toBeCloseTo(14.2, 1);
    expect(legGoodput(lossy, 2)).toEqual({ goodputBps: 2 * one, limit: 'loss' });
    expect(legGoodput(lossy, 8)).toEqual({ goodputBps: 1e8, limit: 'rate' });
  });

  test('carry as many windows, where the receiver holds a connection back', () => {
    const limited = { ...leg, windowBytes: 65_536 };
    expect(legGoodput(limited, 3)).toEqual({
      goodputBps: 3 * legGoodput(limited).goodputBps,
      limit: 'window',
    });
  });

  test('carry as many times what one connection was measured to carry', () => {
    const measured = { ...lossy, connectionBps: 3e7 };
    expect(legGoodput(measured).goodputBps).toBe(3e7);
    expect(legGoodput(measured, 4).goodputBps).toBe(1e8);
  });

  test('are of no use to BBR, which the line alone holds back', () => {
    const bbr = { ...lossy, sender: 'bbr' as const };
    expect(legGoodput(bbr, 8)).toEqual(legGoodput(bbr));
  });

  test('share the start-up of a leg', () => {
    expect(legSeconds(leg, 80 * SEGMENT_BYTES, 8)).toBeCloseTo(0.1);
    const [one, eight] = [legSeconds(leg, 1e8), legSeconds(leg, 1e8, 8)];
    // Three rounds fewer, which carry something as well.
    expect(one - eight).toBeGreaterThan(0.2);
    expect(one - eight).toBeLessThan(0.3);
  });

  test("leave the client's leg and the direct way alone", () => {
    const limited = { ...leg, rttMs: 20, windowBytes: 65_536 };
    expect(chainSeconds([limited], 1e8, noTls, 8)).toBe(chainSeconds([limited], 1e8, noTls));
    const chain = [limited, { ...leg, rttMs: 80 }];
    expect(chainSeconds(chain, 1e8, noTls, 8)).toBeGreaterThan(legSeconds(limited, 1e8));
    expect(chainSeconds([{ ...leg, rttMs: 80 }, lossy], 1e9, noTls, 2)).toBeLessThan(
      0.55 * chainSeconds([{ ...leg, rttMs: 80 }, lossy], 1e9, noTls),
    );
  });
});

describe('the time of a leg', () => {
  test('is a few round trips for a mouse, and size by goodput for an elephant', () => {
    // Ten segments fit into the first window, thirty into the first two.
    expect(legSeconds(leg, 10 * SEGMENT_BYTES)).toBeCloseTo(0.1);
    expect(legSeconds(leg, 30 * SEGMENT_BYTES)).toBeCloseTo(0.2);
    expect(legSeconds(leg, 1e10)).toBeGreaterThan(800);
    expect(legSeconds(leg, 1e10)).toBeLessThan(801);
  });

  test('never shrinks with the size', () => {
    const sizes = fc.tuple(fc.integer({ min: 1, max: 1e12 }), fc.integer({ min: 1, max: 1e12 }));
    fc.assert(
      fc.property(legs, sizes, (one, [size, other]) => {
        const [small, large] = [Math.min(size, other), Math.max(size, other)];
        expect(legSeconds(one, small)).toBeLessThanOrEqual(legSeconds(one, large) * (1 + 1e-9) + 1e-9);
      }),
    );
  });
});

describe('the time of a chain', () => {
  test('counts the round trips of its set-up', () => {
    expect(setUpSeconds([100], noTls)).toBeCloseTo(0.2);
    expect(setUpSeconds([100], { clientTls: true, originTls: true })).toBeCloseTo(0.3);
    // Handshakes 10 + 80 + 10, request 100; TLS once with the client, and once from the entry depot to the origin.
    expect(setUpSeconds([10, 80, 10], noTls)).toBeCloseTo(0.2);
    expect(setUpSeconds([10, 80, 10], { clientTls: true, originTls: true })).toBeCloseTo(0.3);
  });

  test('beats one long lossy connection for an elephant and loses to it for a mouse', () => {
    const long = { ...leg, lossRate: 1e-3 };
    const parts: LegEstimate[] = [
      { ...leg, rttMs: 5, lossRate: 0, sender: 'bbr' },
      { ...leg, rttMs: 90, lossRate: 1e-3, sender: 'bbr' },
      { ...leg, rttMs: 5, lossRate: 0 },
    ];
    expect(chainSeconds(parts, 1e9, noTls)).toBeLessThan(chainSeconds([long], 1e9, noTls) / 5);
    expect(chainSeconds(parts, 2000, noTls)).toBeGreaterThan(chainSeconds([long], 2000, noTls));
  });

  test('is never less than that of its slowest leg', () => {
    fc.assert(
      fc.property(
        fc.array(legs, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 1, max: 1e11 }),
        (all, size) => {
          const slowest = Math.max(...all.map((one) => legSeconds(one, size)));
          expect(chainSeconds(all, size, noTls)).toBeGreaterThanOrEqual(slowest);
        },
      ),
    );
  });
});
