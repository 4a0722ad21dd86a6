import { describe, expect, test } from 'vitest';
import type { TcpInfo } from '../sockets/tcp-info.ts';
import { OriginEstimates } from './origin-estimates.ts';

const SEGMENT = 1448;
const HOST = 'origin.example';
const NETWORK = '203.0.113.0/24';

/** What a kernel says of a connection that has received so many segments, some of them behind gaps. */
const info = (segments: number, outOfOrder = 0, more: Partial<TcpInfo> = {}): TcpInfo =>
  ({
    minRttMs: 50,
    receivedBytes: segments * SEGMENT,
    receivedSegments: segments,
    outOfOrderSegments: outOfOrder,
    sinceDataMs: 1,
    ...more,
  }) as TcpInfo;

describe('what connections from an origin show', () => {
  test('is the round trip, the rate of one that is alone, and what got lost, by what came behind gaps', () => {
    const estimates = new OriginEstimates();
    const meter = estimates.begin(HOST, NETWORK, info(0), 0);
    // 10,000 segments in 5 s are 100 in a round trip: each of ten losses makes a hundred come behind a gap.
    for (let second = 1; second <= 5; second += 1) {
      meter.look(info(2000 * second, 200 * second), 0, 1000 * second);
      estimates.endLook();
    }
    const [report] = estimates.take();
    expect(report).toMatchObject({ host: HOST, prefix: NETWORK, rttMs: 50, limit: 'network' });
    expect(report?.goodputBps).toBeCloseTo(2000 * SEGMENT * 8, -3);
    expect((report?.lostBytes ?? 0) / (report?.receivedBytes ?? 1)).toBeCloseTo(1.05e-3, 4);
    expect(estimates.take()).toEqual([]);
  });

  test('is apart what a connection brings that has lost so often that its start is forgotten', () => {
    const estimates = new OriginEstimates();
    const meter = estimates.begin(HOST, NETWORK, info(0), 0);
    const reports = [];
    // A hundred segments in a round trip, and five losses in a second.
    for (let second = 1; second <= 6; second += 1) {
      meter.look(info(2000 * second, 480 * second), 0, 1000 * second);
      estimates.endLook();
      reports.push(estimates.take()[0]);
    }
    expect(reports.slice(0, 2).map((report) => report?.worn)).toEqual([undefined, undefined]);
    const last = reports[5]?.worn;
    expect(last).toMatchObject({ receivedBytes: 2000 * SEGMENT, goodputBps: 2000 * SEGMENT * 8 });
    expect((last?.lostBytes ?? 0) / SEGMENT).toBeCloseTo(5.5, 0);
    // Who reads slowly holds it back, and it does not send for a while.
    meter.look(info(14_000, 3000), 1_000_000, 7000);
    meter.look(info(16_000, 3500, { sinceDataMs: 700 }), 0, 8000);
    estimates.endLook();
    expect(estimates.take()[0]?.worn).toBeUndefined();
  });

  test('is forgotten as a start by rounds with losses, however many are lost in one', () => {
    const estimates = new OriginEstimates();
    const far = { minRttMs: 500 };
    const meter = estimates.begin(HOST, NETWORK, info(0, 0, far), 0);
    for (let second = 1; second <= 6; second += 1)
      meter.look(info(1000 * second, 900 * second, far), 0, 1000 * second);
    estimates.endLook();
    expect(estimates.take()[0]?.worn?.receivedBytes).toBe(1000 * SEGMENT);
  });

  test('is its round trip once, and not again while it rests', () => {
    const estimates = new OriginEstimates();
    const meter = estimates.begin(HOST, NETWORK, info(0), 0);
    for (let second = 1; second <= 20; second += 1) {
      meter.look(info(0), 0, 1000 * second);
      estimates.endLook();
      expect(estimates.take(), `after ${second} s`).toMatchObject(second === 1 ? [{ rttMs: 50 }] : []);
    }
    meter.look(info(10, 0, { minRttMs: 80 }), 0, 21_000);
    expect(estimates.take()).toMatchObject([{ rttMs: 80 }]);
  });

  test('is nothing of a rate where who reads holds the origin back, or nothing comes any more', () => {
    const estimates = new OriginEstimates();
    const meter = estimates.begin(HOST, NETWORK, info(0), 0);
    meter.look(info(2000), 1_000_000, 1000);
    estimates.endLook();
    expect(estimates.take()).toMatchObject([{ limit: 'receiver' }]);
    meter.look(info(4000, 0, { sinceDataMs: 700 }), 0, 2000);
    estimates.endLook();
    const [report] = estimates.take();
    expect(report).toMatchObject({ rttMs: 50, receivedBytes: 2000 * SEGMENT });
    expect(report?.goodputBps).toBeUndefined();
  });

  test('is what the others show where one is read slowly', () => {
    const estimates = new OriginEstimates();
    const slow = estimates.begin(HOST, NETWORK, info(0), 0);
    const meters = [1, 2].map(() => estimates.begin(HOST, NETWORK, info(0), 0));
    for (const second of [1, 2]) {
      slow.look(info(100 * second), 1_000_000, 1000 * second);
      for (const meter of meters) meter.look(info(1000 * second), 0, 1000 * second);
      estimates.endLook();
    }
    const [report] = estimates.take();
    expect(report).toMatchObject({ limit: 'origin' });
    expect(report?.totalBps).toBeCloseTo(2 * 1000 * SEGMENT * 8, -3);
    expect(report?.several).toBeUndefined();
    expect(report?.goodputBps).toBeUndefined();
  });

  test('is nothing of a rate while a far sender starts, be it one of several', () => {
    const estimates = new OriginEstimates();
    const far = { minRttMs: 200 };
    const meter = estimates.begin(HOST, NETWORK, info(0, 0, far), 0);
    meter.look(info(1000, 0, far), 0, 1000);
    estimates.endLook();
    meter.look(info(6000, 0, far), 0, 2000);
    estimates.endLook();
    expect(estimates.take()[0]?.goodputBps).toBeCloseTo(5000 * SEGMENT * 8, -3);
    const other = estimates.begin(HOST, NETWORK, info(0, 0, far), 2000);
    meter.look(info(8000, 0, far), 0, 3000);
    other.look(info(1000, 0, far), 0, 3000);
    estimates.endLook();
    expect(estimates.take()[0]?.totalBps).toBeUndefined();
  });

  test('is the rate of all together where there are several', () => {
    const estimates = new OriginEstimates();
    const meters = [1, 2, 3].map(() => estimates.begin(HOST, NETWORK, info(0), 0));
    for (const second of [1, 2]) {
      for (const meter of meters) meter.look(info(1000 * second), 0, 1000 * second);
      estimates.endLook();
    }
    const [report] = estimates.take();
    expect(report?.totalBps).toBeCloseTo(3000 * SEGMENT * 8, -3);
    expect(report?.several).toMatchObject({ goodputBps: report?.totalBps, connections: 3 });
    expect(report?.goodputBps).toBeUndefined();
    for (const meter of meters.slice(1)) meter.end();
    meters[0]?.look(info(3000), 0, 3000);
    estimates.endLook();
    expect(estimates.take()[0]?.goodputBps).toBeCloseTo(1000 * SEGMENT * 8, -3);
  });

  test('is the rate of all together however little each of them brings', () => {
    const estimates = new OriginEstimates();
    const meters = Array.from({ length: 8 }, () => estimates.begin(HOST, NETWORK, info(0), 0));
    for (const second of [1, 2]) {
      for (const meter of meters) meter.look(info(20 * second), 0, 1000 * second);
      estimates.endLook();
    }
    expect(estimates.take()[0]?.several).toEqual({ goodputBps: 8 * 20 * SEGMENT * 8, connections: 8 });
    const [first, ...others] = meters;
    // Neither where one has next to nothing beside another one, nor where one stands still because nobody reads it.
    first?.look(info(1000), 0, 3000);
    for (const meter of others) meter.look(info(60), 0, 3000);
    estimates.endLook();
    first?.look(info(1000), 1_000_000, 4000);
    for (const meter of others) meter.look(info(80), 0, 4000);
    estimates.endLook();
    expect(estimates.take()[0]?.several).toBeUndefined();
  });

  describe('of losses', () => {
    /**
     * Looks at one connection: segments, of them behind gaps, and the round trip of those; gives how many
     * segments the report counts, and as lost.
     */
    const lossesOf = (looks: readonly (readonly [number, number, number])[]) => {
      const estimates = new OriginEstimates();
      const meter = estimates.begin(HOST, NETWORK, info(0), 0);
      let [segments, outOfOrder] = [0, 0];
      looks.forEach(([more, behind, receiverRttMs], index) => {
        segments += more;
        outOfOrder += behind;
        meter.look(info(segments, outOfOrder, { receiverRttMs }), 0, 1000 * (index + 1));
        estimates.endLook();
      });
      const [{ receivedBytes = 0, lostBytes = 0 } = {}] = estimates.take();
      return { segments: receivedBytes / SEGMENT, lost: Math.round(lostBytes / SEGMENT) };
    };

    test('are none that a start has by itself, which fills the queue: neither when it runs over nor when it is filled in', () => {
      expect(
        lossesOf([
          [2000, 900, 97],
          [2000, 500, 50],
          [2000, 0, 50],
        ]),
      ).toEqual({ segments: 2000, lost: 0 });
      expect(
        lossesOf([
          [5, 0, 50],
          [2000, 900, 97],
          [2000, 500, 52],
          [2000, 0, 50],
        ]),
      ).toEqual({ segments: 2005, lost: 0 });
    });

    test('are those of a way without a queue, from the first one on', () => {
      expect(
        lossesOf([
          [2000, 900, 51],
          [2000, 500, 51],
        ]),
      ).toEqual({ segments: 4000, lost: 18 });
    });

    test('are those that come again and again after a start, though in a queue', () => {
      const often = lossesOf(Array.from({ length: 10 }, () => [2000, 200, 70] as const));
      expect(often).toEqual({ segments: 16_000, lost: 17 });
      expect(
        lossesOf([
          [2000, 900, 97],
          [2000, 0, 97],
          [2000, 200, 97],
        ]),
      ).toEqual({ segments: 4000, lost: 2 });
    });

    test('are told as well of what has ended since the last look of all', () => {
      const estimates = new OriginEstimates();
      const meter = estimates.begin(HOST, NETWORK, info(0), 0);
      meter.look(info(2000, 200), 0, 1000);
      meter.end();
      expect(estimates.take()).toMatchObject([{ receivedBytes: 2000 * SEGMENT }]);
    });

    test('are those that come for the first time when the start is long over, though in a queue', () => {
      const clean = Array.from({ length: 3 }, () => [2000, 0, 70] as const);
      expect(lossesOf([...clean, [2000, 200, 70]])).toEqual({ segments: 8000, lost: 2 });
    });

    test('are none that several have in a queue as they end', () => {
      const estimates = new OriginEstimates();
      const meters = [1, 2, 3].map(() => estimates.begin(HOST, NETWORK, info(0), 0));
      const look = (atMs: number, segments: number, outOfOrder: number) => {
        for (const meter of meters) meter.look(info(segments, outOfOrder, { receiverRttMs: 70 }), 0, atMs);
      };
      for (const second of [1, 2, 3]) {
        look(1000 * second, 1000 * second, 100 * second);
        estimates.endLook();
      }
      look(3300, 3300, 330);
      for (const meter of meters) meter.end();
      const [report] = estimates.take();
      expect(report?.fullBps).toBeDefined();
      expect(report?.lostBytes ?? 0).toBe(0);
    });

    test('are none that several have which fill the way, but all that they have where more came without a queue', () => {
      const estimates = new OriginEstimates();
      const meters = [1, 2, 3].map(() => estimates.begin(HOST, NETWORK, info(0), 0));
      const look = (second: number, receiverRttMs: number, segments: number, outOfOrder: number) => {
        for (const meter of meters)
          meter.look(info(segments, outOfOrder, { receiverRttMs }), 0, 1000 * second);
        estimates.endLook();
      };
      look(1, 55, 500, 0);
      estimates.take();
      for (const second of [2, 3, 4, 5]) look(second, 70, 1000 * second, 100 * second);
      const [full] = estimates.take();
      expect(full?.fullBps).toBeDefined();
      expect(full).not.toHaveProperty('receivedBytes');
      for (const second of [6, 7]) look(second, 70, 1000 * second, 100 * second);
      look(8, 55, 12_000, 1200);
      const [wide] = estimates.take();
      expect(wide).not.toHaveProperty('fullBps');
      expect(wide?.receivedBytes).toBe(3 * 7000 * SEGMENT);
      expect(wide?.lostBytes).toBeGreaterThan(SEGMENT);
    });
  });

  describe('together', () => {
    /**
     * Three connections that bring so many segments a second each, with such round trips; gives what is told
     * of their way.
     */
    const fullOf = (segments: number, receiverRttMs: number, count = 3, unreadBytes = 0) => {
      const estimates = new OriginEstimates();
      const meters = Array.from({ length: count }, () => estimates.begin(HOST, NETWORK, info(0), 0));
      const look = (second: number, rttMs = receiverRttMs, all = segments * second) => {
        for (const meter of meters)
          meter.look(info(all, 0, { receiverRttMs: rttMs }), unreadBytes, 1000 * second);
        estimates.endLook();
      };
      look(1);
      look(2);
      return { estimates, look, bps: estimates.take()[0]?.fullBps };
    };

    test('is what their way carries where they wait in its queue, however little each brings', () => {
      expect(fullOf(1000, 70).bps).toBeCloseTo(3000 * SEGMENT * 8, -3);
      expect(fullOf(50, 70).bps).toBeCloseTo(150 * SEGMENT * 8, -3);
    });

    test('is what their way carries as well where they have just begun behind a long queue, out of which bytes come in bursts', () => {
      const estimates = new OriginEstimates();
      const meters = [1, 2, 3].map(() => estimates.begin(HOST, NETWORK, info(0, 0, { minRttMs: 300 }), 0));
      const fullAfter = (second: number) => {
        const burst = { minRttMs: 300, receiverRttMs: 900, sinceDataMs: 600 };
        for (const meter of meters) meter.look(info(40 * second, 0, burst), 0, 1000 * second);
        estimates.endLook();
        return estimates.take()[0]?.fullBps;
      };
      expect(fullAfter(1)).toBeUndefined();
      expect(fullAfter(2)).toBeCloseTo(120 * SEGMENT * 8, -3);
    });

    test('is no bound where nothing waits, where who reads holds them back, or where one is alone', () => {
      expect(fullOf(1000, 55).bps).toBeUndefined();
      expect(fullOf(1000, 70, 3, 1_000_000).bps).toBeUndefined();
      expect(fullOf(1000, 70, 1).bps).toBeUndefined();
    });

    test('is no bound where round trips differ by no more than timestamps are exact, or by where an address is', () => {
      const near = new OriginEstimates();
      const meters = [1, 2].map(() => near.begin(HOST, NETWORK, info(0, 0, { minRttMs: 0.5 }), 0));
      for (const second of [1, 2]) {
        for (const meter of meters)
          meter.look(info(1000 * second, 0, { minRttMs: 0.5, receiverRttMs: 1 }), 0, 1000 * second);
        near.endLook();
      }
      expect(near.take()[0]).not.toHaveProperty('fullBps');
      const apart = new OriginEstimates();
      const nearer = apart.begin(HOST, '192.0.2.0/24', info(0), 0);
      const others = [1, 2].map(() => apart.begin(HOST, NETWORK, info(0), 0));
      for (const second of [1, 2]) {
        nearer.look(info(second, 0, { minRttMs: 20 }), 0, 1000 * second);
        for (const meter of others)
          meter.look(info(1000 * second, 0, { receiverRttMs: 51 }), 0, 1000 * second);
        apart.endLook();
      }
      expect(apart.take()[0]).not.toHaveProperty('fullBps');
    });

    test('is no bound where more came without a queue meanwhile', () => {
      const { estimates, look } = fullOf(1000, 70);
      look(3);
      look(4, 55, 6000);
      expect(estimates.take()[0]).not.toHaveProperty('fullBps');
    });
  });

  test('is no rate of several of which some began or ended meanwhile', () => {
    const estimates = new OriginEstimates();
    const [first, second, third] = [1, 2, 3].map(() => estimates.begin(HOST, NETWORK, info(0), 0));
    const look = (atMs: number, segments: number, ...meters: (typeof first)[]) => {
      for (const meter of meters) meter?.look(info(segments), 0, atMs);
    };
    look(1000, 1000, first, second);
    estimates.endLook();
    look(2000, 2000, first, second);
    look(2000, 1000, third);
    estimates.endLook();
    look(3000, 3000, first);
    look(2900, 2900, second, third);
    second?.end();
    third?.end();
    estimates.endLook();
    const [report] = estimates.take();
    // Of both that ended it is not known how much of the second they were there.
    expect(report?.goodputBps).toBeUndefined();
    look(4000, 4000, first);
    estimates.endLook();
    expect(estimates.take()[0]?.goodputBps).toBeCloseTo(1000 * SEGMENT * 8, -3);
    look(4800, 4800, first);
    first?.end();
    estimates.endLook();
    const [last] = estimates.take();
    expect(last?.goodputBps).toBeCloseTo(1000 * SEGMENT * 8, -3);
    expect(last?.totalBps).toBeUndefined();
  });

  test('is the rate of one that is alone although others wait, which have had a handshake and no more', () => {
    const estimates = new OriginEstimates();
    const meters = [1, 2, 3].map(() => estimates.begin(HOST, NETWORK, info(0), 0));
    for (const second of [1, 2]) {
      for (const waiting of meters.slice(1)) waiting.look(info(4), 0, 1000 * second);
      meters[0]?.look(info(1000 * second), 0, 1000 * second);
      estimates.endLook();
    }
    const [report] = estimates.take();
    expect(report?.goodputBps).toBeCloseTo(1000 * SEGMENT * 8, -3);
    expect(report?.totalBps).toBeUndefined();
    for (const meter of meters) meter.end();
  });

  test('is kept of so many origins at most', () => {
    const estimates = new OriginEstimates();
    for (let host = 0; host < 1200; host += 1) {
      const meter = estimates.begin(`h${host}.example`, undefined, info(0), 0);
      meter.look(info(10), 0, 1000);
      meter.end();
    }
    expect(estimates.take()).toHaveLength(1000);
  });

  test('is kept while a domain of names without end fills the room with its own', () => {
    const estimates = new OriginEstimates();
    for (const host of [HOST, ...Array.from({ length: 1200 }, (_, index) => `a${index}.evil.example`)])
      estimates.begin(host, NETWORK, info(0), 0).look(info(10), 0, 1000);
    const told = estimates.take().map(({ host }) => host);
    expect([told.length, told[0]]).toEqual([1000, HOST]);
  });
});
