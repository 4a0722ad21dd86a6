import { describe, expect, test } from 'vitest';
import { decodeTcpInfo, type TcpInfo } from '../sockets/tcp-info.ts';
import { LegMeter } from './leg-meter.ts';
import { LinkEstimates } from './link-estimates.ts';

const EMPTY = { ...decodeTcpInfo(new DataView(new ArrayBuffer(280)), 280), notSentBytes: 100_000 };
/** What was sent has arrived, where a test does not say otherwise. */
const info = (fields: Partial<TcpInfo>): TcpInfo => ({ ...EMPTY, ackedBytes: fields.sentBytes, ...fields });

describe('what a leg is found to be', () => {
  test('counts only what happened since the first look', () => {
    const meter = new LegMeter(info({ sentBytes: 5000, retransmittedBytes: 2000, receivedBytes: 7 }), 0);
    meter.add(info({ sentBytes: 105_000, retransmittedBytes: 3000, receivedBytes: 10 }), 1000);
    expect(meter.measure).toMatchObject({ sentBytes: 100_000, receivedBytes: 3, lossRate: 0.01, seconds: 1 });
  });

  test('knows how fast it was between the last two looks', () => {
    const meter = new LegMeter(info({ sentBytes: 0, receivedBytes: 0 }), 0);
    meter.add(info({ sentBytes: 1_000_000, receivedBytes: 1_000 }), 1000);
    meter.add(info({ sentBytes: 1_500_000, receivedBytes: 1_000 }), 3000);
    expect(meter.measure).toMatchObject({ sentBps: 2e6, receivedBps: 0 });
  });

  test('knows the loss of a kernel that counts segments only', () => {
    const old = { sentBytes: undefined, retransmittedBytes: undefined, mssBytes: 1000 };
    const meter = new LegMeter(info({ ...old, sentSegments: 10, retransmittedSegments: 0 }), 0);
    meter.add(info({ ...old, sentSegments: 110, retransmittedSegments: 2 }), 1000);
    expect(meter.measure).toMatchObject({ sentBytes: 100_000, lossRate: 0.02 });
  });

  test('keeps the smallest round trip, also when the kernel has forgotten it', () => {
    const meter = new LegMeter(info({ minRttMs: undefined }), 0);
    meter.add(info({ minRttMs: 30, rttMs: 35 }), 1000);
    meter.add(info({ minRttMs: 40, rttMs: 55 }), 2000);
    expect(meter.measure).toMatchObject({ minRttMs: 30, rttMs: 55 });
  });

  test.each([
    ['receiver', { busyMs: 900, receiverLimitedMs: 700, bufferLimitedMs: 100 }],
    ['send-buffer', { busyMs: 900, receiverLimitedMs: 100, bufferLimitedMs: 600 }],
    ['congestion-window', { busyMs: 900, receiverLimitedMs: 100, bufferLimitedMs: 100 }],
    ['idle', { busyMs: 300, receiverLimitedMs: 0, bufferLimitedMs: 0 }],
  ])('tells a leg held back by: %s', (limit, times) => {
    const meter = new LegMeter(EMPTY, 0);
    meter.add(info(times), 1000);
    expect(meter.measure.limitedBy).toBe(limit);
  });

  test('takes a delivery rate only where the network was what held the sender back', () => {
    const meter = new LegMeter(EMPTY, 0);
    const fast = { deliveryRateBps: 8e6 };
    meter.add(info({ ...fast, sentBytes: 1_000_000, busyMs: 1000, isAppLimited: true }), 1000);
    meter.add(info({ ...fast, sentBytes: 2_000_000, busyMs: 2000, receiverLimitedMs: 500 }), 2000);
    meter.add(info({ ...fast, sentBytes: 2_000_100, busyMs: 3000, receiverLimitedMs: 500 }), 3000);
    expect(meter.measure.deliveryRateBps).toBeUndefined();
    const later = { receiverLimitedMs: 500, busyMs: 4000 };
    meter.add(info({ ...later, sentBytes: 3_000_100, deliveryRateBps: 6e6 }), 4000);
    meter.add(info({ ...later, sentBytes: 6_000_100, busyMs: 5000, deliveryRateBps: 10e6 }), 5000);
    expect((meter.measure.deliveryRateBps ?? 0) / 1e6).toBeCloseTo(9);
  });

  test('was carried at least, and may be more, while its sender has met no limit, and when it is through', () => {
    const meter = new LegMeter(EMPTY, 0);
    const looked = { sentBytes: 1_000_000, busyMs: 1000, deliveryRateBps: 9e6 };
    const starting = meter.add(info({ ...looked, isStartingUp: true }), 1000);
    expect(starting).toMatchObject({ recentRateBps: undefined, leastRateBps: 9e6 });
    expect(meter.measure.deliveryRateBps).toBeUndefined();
    const later = { sentBytes: 9_000_000, busyMs: 2000, deliveryRateBps: 80e6 };
    expect(meter.add(info(later), 2000)).toMatchObject({ recentRateBps: 80e6, leastRateBps: undefined });
    const last = { sentBytes: 12_000_000, busyMs: 3000, deliveryRateBps: 7e6, notSentBytes: 0 };
    expect(meter.add(info(last), 3000)).toMatchObject({ recentRateBps: undefined, leastRateBps: 7e6 });
    expect(meter.measure.deliveryRateBps).toBe(80e6);
  });

  test('was carried at least what a leg brought that had nothing left to send a look before', () => {
    const meter = new LegMeter(info({}), 0);
    const fed = { sentBytes: 2_000_000, busyMs: 1000, deliveryRateBps: 16e6, notSentBytes: 0 };
    meter.add(info(fed), 1000);
    // A loss is being repaired, and what came meanwhile waits.
    const late = { sentBytes: 4_000_000, busyMs: 2000, deliveryRateBps: 2e6 };
    const atLeast = { recentRateBps: undefined, leastRateBps: 2e6, isHeldByNetwork: false };
    expect(meter.add(info(late), 2000)).toMatchObject(atLeast);
    expect(meter.measure.deliveryRateBps).toBeUndefined();
    const narrow = { ...late, sentBytes: 4_250_000, busyMs: 3000 };
    expect(meter.add(info(narrow), 3000)).toMatchObject({ recentRateBps: 2e6, isHeldByNetwork: true });
  });

  test('carries what a short test showed that was looked at as it began', () => {
    const meter = new LegMeter(info({ notSentBytes: 0 }), 0);
    meter.add(info({ sentBytes: 14_000, busyMs: 40, deliveryRateBps: 1e6 }), 40);
    const test = { sentBytes: 200_000, busyMs: 200, deliveryRateBps: 8e6 };
    expect(meter.add(info(test), 200)).toMatchObject({ recentRateBps: 8e6, leastRateBps: undefined });
  });

  test('was carried at least what its own depot let pass, also where that has just changed', () => {
    const meter = new LegMeter(info({ maxPacingBps: 50e6 }), 0);
    const held = { sentBytes: 6_000_000, busyMs: 1000, deliveryRateBps: 48e6, maxPacingBps: 50e6 };
    const own = { recentRateBps: undefined, leastRateBps: 48e6, isHeldByNetwork: false };
    expect(meter.add(info(held), 1000)).toMatchObject(own);
    const freed = { ...held, sentBytes: 12_000_000, busyMs: 2000, maxPacingBps: 100e6 };
    expect(meter.add(info(freed), 2000)).toMatchObject(own);
    const later = { ...freed, sentBytes: 18_000_000, busyMs: 3000 };
    expect(meter.add(info(later), 3000)).toMatchObject({ recentRateBps: 48e6, isHeldByNetwork: true });
    expect(meter.measure.deliveryRateBps).toBe(48e6);
  });

  test('carries what the configuration lets each leg be', () => {
    const meter = new LegMeter(info({ maxPacingBps: 50e6 }), 0, 50e6);
    const held = { sentBytes: 6_000_000, busyMs: 1000, deliveryRateBps: 48e6, maxPacingBps: 50e6 };
    expect(meter.add(info(held), 1000)).toMatchObject({ recentRateBps: 48e6, leastRateBps: undefined });
  });

  test('is rated by several looks together where each of them saw few bytes', () => {
    const meter = new LegMeter(EMPTY, 0);
    const rates = Array.from({ length: 10 }, (_, index) => {
      const look = index + 1;
      const looked = { sentBytes: look * 50_000, busyMs: look * 200, deliveryRateBps: 2e6 };
      return meter.add(info(looked), look * 200).recentRateBps;
    });
    expect(rates.filter((rate) => rate !== undefined)).toEqual([2e6, 2e6, 2e6]);
  });

  test('tells a peer that has vanished from one that was only silent before, or pauses', () => {
    const meter = new LegMeter(info({ sinceAckMs: 90_000 }), 0);
    meter.add(info({ unackedSegments: 3, sinceAckMs: 91_000 }), 1000);
    expect(meter.measure.unansweredMs).toBe(0);
    meter.add(info({ unackedSegments: 3, sinceAckMs: 93_000 }), 3000);
    expect(meter.measure.unansweredMs).toBe(2000);
    meter.add(info({ unackedSegments: 3, sinceAckMs: 500 }), 4000);
    expect(meter.measure.unansweredMs).toBe(500);
    meter.add(info({ unackedSegments: 0, sinceAckMs: 1500 }), 5000);
    expect(meter.measure.unansweredMs).toBe(0);
  });
});

describe('what legs say of a link', () => {
  function noteLeg(
    links: LinkEstimates,
    sentBytes: number,
    retransmittedBytes: number,
    rateBps?: number,
    client?: string,
  ) {
    const meter = new LegMeter(EMPTY, 0);
    const later = { sentBytes, retransmittedBytes, minRttMs: 20, busyMs: 1000 };
    const delta = meter.add(info({ ...later, ...(rateBps ? { deliveryRateBps: rateBps } : {}) }), 1000);
    links.note('d2', delta, client);
  }

  test('is the smallest round trip, the loss of all and the best rate', () => {
    const links = new LinkEstimates('depots');
    noteLeg(links, 15_000_000, 0, 50e6);
    noteLeg(links, 5_000_000, 20_000, 80e6);
    expect(links.take()).toMatchObject([{ to: 'd2', rttMs: 20, lossRate: 0.001, goodputBps: 80e6 }]);
    expect(links.take()).toEqual([]);
  });

  test('is at least what legs carried whose senders had met no limit', () => {
    const links = new LinkEstimates('depots');
    for (const deliveryRateBps of [9e6, 30e6, 20e6]) {
      const meter = new LegMeter(EMPTY, 0);
      const later = { sentBytes: 1_000_000, busyMs: 1000, minRttMs: 20, deliveryRateBps, isStartingUp: true };
      links.note('d2', meter.add(info(later), 1000));
    }
    const [report] = links.take();
    expect(report).toMatchObject({ to: 'd2', leastGoodputBps: 30e6 });
    expect(report?.goodputBps).toBeUndefined();
    noteLeg(links, 15_000_000, 0, 50e6);
    expect(links.take()[0]?.leastGoodputBps).toBeUndefined();
  });

  test('is, beside the best leg, what all of them got through together in a second, where that is more', () => {
    const links = new LinkEstimates('depots');
    const segments = (bytes: number) => Math.ceil(bytes / 1000);
    const noteLane = (ackedBytes: number, deliveryRateBps: number) => {
      const meter = new LegMeter(info({ mssBytes: 1000, ackedBytes: 700, deliveredSegments: 1 }), 0);
      const later = { sentBytes: 9e6, busyMs: 1000, minRttMs: 20, mssBytes: 1000, deliveryRateBps };
      const looked = info({
        ...later,
        ackedBytes: 700 + ackedBytes,
        deliveredSegments: 1 + segments(ackedBytes),
      });
      links.note('d2', meter.add(looked, 1000));
    };
    for (let lane = 0; lane < 8; lane += 1) noteLane(1_500_000, 17e6);
    links.endLook();
    noteLane(1_000_000, 15e6);
    expect(links.take()).toMatchObject([{ goodputBps: 17e6, totalBps: 96e6 }]);
    noteLane(1_500_000, 17e6);
    expect(links.take()[0]).toMatchObject({ goodputBps: 17e6 });
    noteLane(1_500_000, 17e6);
    expect(links.take()[0]?.totalBps).toBeUndefined();
  });

  test('is more than what one leg of several gets where they fill it, and that where each is held back for itself', () => {
    const lanes = (rttMs: number) => {
      const links = new LinkEstimates('depots');
      for (let lane = 0; lane < 4; lane += 1) {
        const meter = new LegMeter(info({ mssBytes: 1000, sentBytes: 0, deliveredSegments: 0 }), 0);
        const sent = { sentBytes: 2_500_000, deliveredSegments: 2500, mssBytes: 1000, busyMs: 1000 };
        const delta = meter.add(info({ ...sent, deliveryRateBps: 22e6, minRttMs: 80, rttMs }), 1000);
        links.note('d2', delta);
      }
      return links.take()[0];
    };
    expect(lanes(130)).toMatchObject({ leastGoodputBps: 22e6, totalBps: 80e6 });
    expect(lanes(130)?.goodputBps).toBeUndefined();
    expect(lanes(82)).toMatchObject({ goodputBps: 22e6, totalBps: 80e6 });
  });

  describe('that several legs share', () => {
    const FULL = { sentBytes: 200_000, deliveredSegments: 200, busyMs: 1000, minRttMs: 80, rttMs: 130 };
    /** One look at legs of a link, each a second long. */
    const look = (links: LinkEstimates, legs: readonly Partial<TcpInfo>[]) => {
      for (const leg of legs) {
        const meter = new LegMeter(info({ mssBytes: 1000, sentBytes: 0, deliveredSegments: 0 }), 0);
        links.note('d2', meter.add(info({ mssBytes: 1000, deliveryRateBps: 2e6, ...leg }), 1000));
      }
      links.endLook();
    };
    const fullBps = (...looks: (readonly Partial<TcpInfo>[])[]) => {
      const links = new LinkEstimates('depots');
      for (const legs of looks) look(links, legs);
      return links.take()[0]?.fullBps;
    };
    const of = (count: number, leg: Partial<TcpInfo> = {}) =>
      Array.from({ length: count }, () => ({ ...FULL, ...leg }));

    test('is what they get through together that fill it', () => {
      expect(fullBps(of(8))).toBeCloseTo(8 * 1.6e6);
      expect(fullBps(of(8), of(2)), 'where fewer do for a while, the most of them').toBeCloseTo(8 * 1.6e6);
      expect(fullBps(of(8), []), 'what ends says nothing else').toBeCloseTo(8 * 1.6e6);
    });

    test.each<[string, Partial<TcpInfo>]>([
      ['wait for whoever receives', { receiverLimitedMs: 300 }],
      ['wait for room in their buffers', { bufferLimitedMs: 300 }],
      ['have nothing to send for a while', { busyMs: 700 }],
      ['are sent by what has too little to send', { isAppLimited: true }],
      ['are through', { notSentBytes: 0 }],
      ['have met no limit yet', { isStartingUp: true }],
      ['queue nowhere', { rttMs: 85 }],
    ])('is not found full by legs that %s, unless they carry next to nothing', (_, held) => {
      expect(fullBps(of(8, held))).toBeUndefined();
      expect(fullBps([...of(7), ...of(1, held)])).toBeUndefined();
      const little = { ...held, sentBytes: 20_000, deliveredSegments: 20 };
      expect(fullBps([...of(7), ...of(1, little)])).toBeCloseTo(7 * 1.6e6 + 160_000);
    });

    test('is found full also by a leg that began in its queue, and none of them says what one alone gets', () => {
      const links = new LinkEstimates('depots');
      look(links, [...of(2), ...of(6, { minRttMs: 125 })]);
      const [report] = links.take();
      expect(report?.fullBps).toBeCloseTo(8 * 1.6e6);
      expect(report?.goodputBps).toBeUndefined();
    });

    test('is not found full by one leg, whose rate says what it carries', () => {
      const links = new LinkEstimates('depots');
      look(links, of(1));
      expect(links.take()[0]).toMatchObject({ goodputBps: 2e6 });
      expect(fullBps(of(1))).toBeUndefined();
    });

    test('is not found full by less than what it carried in between', () => {
      const more = { rttMs: 85, sentBytes: 400_000, deliveredSegments: 400 };
      expect(fullBps(of(8), of(8, more))).toBeUndefined();
      expect(fullBps(of(8))).toBeDefined();
    });
  });

  test('is no more together than what arrived, in whatever leaps that is acknowledged', () => {
    const links = new LinkEstimates('depots');
    const meter = new LegMeter(info({ mssBytes: 1000, ackedBytes: 0, deliveredSegments: 0 }), 0);
    const look = (ackedBytes: number, deliveredSegments: number, atMs: number) => {
      const looked = { mssBytes: 1000, ackedBytes, deliveredSegments, minRttMs: 20 };
      links.note('d2', meter.add(info(looked), atMs));
      return links.take()[0]?.totalBps;
    };
    expect(look(500_000, 500, 1000)).toBe(4e6);
    // A gap: what came behind it is acknowledged in the second after, when it is filled.
    expect(look(500_000, 1000, 2000)).toBeUndefined();
    expect(look(1_500_000, 1500, 3000)).toBe(4e6);
    // Small segments.
    expect(look(1_500_500, 2000, 4000)).toBe(4000);
    // A burst.
    expect(look(1_600_500, 2100, 4100)).toBeUndefined();
  });

  test('is, of the line of a client network, what all legs to it bring together at one look', () => {
    const clients = new LinkEstimates('client-networks');
    for (let leg = 0; leg < 16; leg += 1) noteLeg(clients, 15_000_000, 0, 6e6);
    clients.endLook();
    noteLeg(clients, 15_000_000, 0, 40e6);
    expect(clients.take()).toMatchObject([{ goodputBps: 96e6 }]);
    expect(clients.take()).toEqual([]);
  });

  test('is, of the lines of a client network, what the legs to one client bring together, however many download at once', () => {
    const clients = new LinkEstimates('client-networks');
    for (let client = 0; client < 20; client += 1) noteLeg(clients, 2_500_000, 0, 20e6, `client${client}`);
    noteLeg(clients, 2_500_000, 0, 5e6, 'client7');
    expect(clients.take()).toMatchObject([{ goodputBps: 25e6, sentBytes: 21 * 2_500_000 }]);
  });

  test('is no more of a line than one of the legs carried that were there one after the other', () => {
    const clients = new LinkEstimates('client-networks');
    for (let file = 0; file < 20; file += 1) {
      const meter = new LegMeter(EMPTY, file * 250);
      const later = { sentBytes: 1_000_000, busyMs: 200, deliveryRateBps: 40e6, minRttMs: 20 };
      clients.note('d2', meter.add(info(later), (file + 1) * 250));
    }
    expect(clients.take()).toMatchObject([{ goodputBps: 40e6 }]);
  });

  test('counts a leg once that is looked at again before it ends', () => {
    const clients = new LinkEstimates('client-networks');
    const meter = new LegMeter(EMPTY, 0);
    for (const second of [1, 2]) {
      const looked = { sentBytes: second * 1e6, busyMs: second * 1000, deliveryRateBps: 8e6, minRttMs: 20 };
      clients.note('d2', meter.add(info(looked), second * 1000));
    }
    expect(clients.take()).toMatchObject([{ goodputBps: 8e6 }]);
  });

  test('is not told again of a leg that rests, so that it grows old', () => {
    const links = new LinkEstimates('depots');
    const meter = new LegMeter(EMPTY, 0);
    const busy = { sentBytes: 1_000_000, busyMs: 1000, deliveryRateBps: 80e6, minRttMs: 20 };
    links.note('d2', meter.add(info(busy), 1000));
    expect(links.take()).toMatchObject([{ goodputBps: 80e6 }]);
    links.note('d2', meter.add(info(busy), 2000));
    expect(links.take(), 'nor its round trip: the route may be another one by now').toEqual([]);
  });

  test('is the round trip of late, not the least since a leg began', () => {
    const links = new LinkEstimates('depots');
    const meter = new LegMeter(EMPTY, 0);
    for (const [second, minRttMs] of [20, 20, 180].entries()) {
      links.take();
      links.note('d2', meter.add(info({ sentBytes: (second + 1) * 1e6, minRttMs }), second * 1000));
    }
    expect(links.take()).toMatchObject([{ rttMs: 180 }]);
  });

  test('follows a rate that changes while a leg lives', () => {
    const links = new LinkEstimates('depots');
    const meter = new LegMeter(EMPTY, 0);
    for (let second = 1; second <= 620; second += 1) {
      const deliveryRateBps = second <= 600 ? 80e6 : 8e6;
      const looked = { sentBytes: second * 1_000_000, busyMs: second * 1000, deliveryRateBps, minRttMs: 20 };
      links.note('d2', meter.add(info(looked), second * 1000));
      if (second === 610) links.take();
    }
    expect(links.take()[0]?.goodputBps).toBeLessThan(12e6);
  });

  test('tells what was sent since the last report, so that all of it can be added up', () => {
    const links = new LinkEstimates('depots');
    noteLeg(links, 8_000_000, 8_000);
    expect(links.take()).toMatchObject([{ sentBytes: 8_000_000, retransmittedBytes: 8_000 }]);
    noteLeg(links, 22_000_000, 2_000);
    expect(links.take()).toMatchObject([{ sentBytes: 22_000_000, retransmittedBytes: 2_000 }]);
    noteLeg(links, 5_000_000, 0);
    expect(links.take()).toMatchObject([{ sentBytes: 5_000_000, retransmittedBytes: 0 }]);
  });

  test('loses what a start that was too fast lost by itself no more than the way does, which loses on', () => {
    const lossRateAfter = (looks: readonly (readonly [lostShare: number, isStartingUp: boolean])[]) => {
      const links = new LinkEstimates('depots');
      const meter = new LegMeter(info({ isStartingUp: true, minRttMs: 20 }), 0);
      let [sentBytes, retransmittedBytes] = [0, 0];
      for (const [second, [lostShare, isStartingUp]] of looks.entries()) {
        sentBytes += 10_000_000;
        retransmittedBytes += lostShare * 10_000_000;
        const looked = info({ minRttMs: 20, sentBytes, retransmittedBytes, isStartingUp });
        links.note('d2', meter.add(looked, 1000 * (second + 1)));
      }
      return links.take()[0]?.lossRate;
    };
    const clean = [0, false] as const;
    expect(lossRateAfter([[0.3, true], [0.1, false], clean, clean])).toBe(0);
    expect(lossRateAfter([[0.3, false], clean, [0.3, false], clean])).toBeCloseTo(0.1);
    // A way that loses so much goes on.
    const lossy = [0.08, false] as const;
    expect(lossRateAfter([[0.08, true], lossy, lossy, lossy, lossy])).toBeCloseTo(0.08);
    // A sender that has too little to send never ends its start, by the kernel's word.
    const links = new LinkEstimates('depots');
    const meter = new LegMeter(info({ isStartingUp: true, isAppLimited: true, minRttMs: 20 }), 0);
    for (let second = 1; second <= 9; second += 1) {
      const [sentBytes, retransmittedBytes] = [second * 10_000_000, second * 800_000];
      const looked = { minRttMs: 20, sentBytes, retransmittedBytes, isStartingUp: true, isAppLimited: true };
      links.note('d2', meter.add(info(looked), 1000 * second));
    }
    expect(links.take()[0]?.lossRate).toBeCloseTo(0.08);
    // What a start loses on a way that loses less than starts do counts.
    expect(
      lossRateAfter([
        [0.02, true],
        [0.02, false],
      ]),
    ).toBeCloseTo(0.02);
  });

  test('says nothing of loss before enough was sent, and then counts all of it', () => {
    const links = new LinkEstimates('depots');
    noteLeg(links, 8_000_000, 0);
    expect(links.take()[0]).not.toHaveProperty('lossRate');
    noteLeg(links, 2_000_000, 10_000);
    expect(links.take()).toMatchObject([{ to: 'd2', rttMs: 20, lossRate: 0.001 }]);
    noteLeg(links, 5_000_000, 0);
    expect(links.take()).toMatchObject([{ to: 'd2', rttMs: 20, lossRate: 0.0005 }]);
  });
});
