import { describe, expect, test } from 'vitest';
import { type DirectionSettings, FRAME_OVERHEAD_BYTES } from './link-settings.ts';
import { PacketDirection } from './packet-direction.ts';
import { MAX_PACKET_BYTES } from './packet-ring.ts';
import { RandomStream } from './random-stream.ts';

const PLAIN: DirectionSettings = {
  delayMs: 10,
  jitterMs: 0,
  loss: { kind: 'none' },
  rateBps: 100e6,
  queue: { bytes: 100_000 },
  isCut: false,
};
const FULL_BYTES = 1500;
const FULL_TIME_MS = ((FULL_BYTES + FRAME_OVERHEAD_BYTES) * 8000) / PLAIN.rateBps;

function direction(
  settings: Partial<DirectionSettings> = {},
  seed = 1,
  memoryBytes?: number,
): PacketDirection {
  return new PacketDirection('a:b/forward', { ...PLAIN, ...settings }, seed, memoryBytes);
}

function offer(line: PacketDirection, nowMs: number, sizeBytes = FULL_BYTES): boolean {
  return line.offer(nowMs, line.place(), sizeBytes);
}

/** Hands out all that is due by then, exactly when due; when that was. */
function handOutUntil(line: PacketDirection, nowMs: number): number[] {
  const timesMs: number[] = [];
  while (line.nextDueMs <= nowMs) {
    timesMs.push(line.nextDueMs);
    line.handedOut(line.nextDueMs, true);
  }
  return timesMs;
}

/** Numbers of the packets that are lost. */
function lostNumbers(line: PacketDirection, count: number, gapMs = 1): number[] {
  return Array.from({ length: count }, (_, number) => number).filter((number) => {
    const before = line.counters().lostPackets;
    offer(line, number * gapMs);
    handOutUntil(line, number * gapMs);
    return line.counters().lostPackets > before;
  });
}

describe.each([1, 2, 3, 4, 5, 6])('under any traffic and any changes (seed %i)', (seed) => {
  test('packets keep their order and their delay, and every one is accounted for', () => {
    const random = new RandomStream(`traffic ${seed}`);
    const line = direction({ jitterMs: 5, loss: { kind: 'independent', rate: 0.05 } }, seed);
    const waiting: { readonly sizeBytes: number; readonly earliestMs: number }[] = [];
    let nowMs = 0;
    let lastDueMs = 0;
    let delayMs = 10;
    for (let step = 0; step < 6000; step += 1) {
      nowMs += random.next() * 0.2;
      while (line.nextDueMs <= nowMs) {
        expect(line.nextDueMs).toBeGreaterThanOrEqual(lastDueMs);
        lastDueMs = line.nextDueMs;
        const packet = waiting.shift();
        expect(line.nextSizeBytes).toBe(packet?.sizeBytes);
        expect(lastDueMs).toBeGreaterThanOrEqual((packet?.earliestMs ?? 0) - 1e-9);
        line.handedOut(nowMs, random.next() < 0.99);
      }
      const sizeBytes = 40 + Math.floor(random.next() * 1460);
      if (offer(line, nowMs, sizeBytes)) waiting.push({ sizeBytes, earliestMs: nowMs + delayMs });
      const draw = random.next();
      if (draw < 0.01) {
        delayMs = random.next() * 50;
        line.change(nowMs, { delayMs });
      } else if (draw < 0.02) line.change(nowMs, { rateBps: 1e6 + random.next() * 200e6 });
      else if (draw < 0.025) line.change(nowMs, { rateBps: Number.POSITIVE_INFINITY });
      else if (draw < 0.03) line.change(nowMs, { queue: { packets: 1 + random.next() * 100 } });
      else if (draw < 0.032) {
        line.change(nowMs, { isCut: true });
        waiting.length = 0;
        expect(offer(line, nowMs)).toBe(false);
        line.change(nowMs, { isCut: false });
        lastDueMs = 0;
      }
      const counters = line.counters();
      const ends = counters.packetsOut + counters.lostPackets + counters.queueDroppedPackets;
      const others = counters.cutPackets + counters.undeliveredPackets + counters.waitingPackets;
      expect(ends + others).toBe(counters.packetsIn);
      expect(counters.waitingPackets).toBe(waiting.length);
    }
    const { packetsOut, lostPackets, queueDroppedPackets, cutPackets, undeliveredPackets } = line.counters();
    for (const value of [packetsOut, lostPackets, queueDroppedPackets, cutPackets, undeliveredPackets]) {
      expect(value).toBeGreaterThan(0);
    }
  });
});

test('a packet alone takes the time of its transmission and the delay', () => {
  const line = direction();
  offer(line, 1000);
  expect(line.nextDueMs).toBeCloseTo(1000 + FULL_TIME_MS + 10, 9);
});

test('a busy line carries exactly its rate, frame overhead included', () => {
  const line = direction();
  const timesMs: number[] = [];
  for (let nowMs = 0; nowMs < 1000; nowMs += 0.1) {
    offer(line, nowMs);
    timesMs.push(...handOutUntil(line, nowMs));
  }
  const spanMs = (timesMs.at(-1) ?? 0) - (timesMs[0] ?? 0);
  expect(spanMs / (timesMs.length - 1)).toBeCloseTo(FULL_TIME_MS, 6);
  expect(line.counters().queueDroppedPackets).toBeGreaterThan(0);
});

test('a queue in bytes never holds more than that', () => {
  const line = direction({ queue: { bytes: 10_000 } });
  while (offer(line, 0));
  const frames = line.waitingPackets;
  expect(frames * (FULL_BYTES + FRAME_OVERHEAD_BYTES)).toBeLessThanOrEqual(10_000);
  expect((frames + 1) * (FULL_BYTES + FRAME_OVERHEAD_BYTES)).toBeGreaterThan(10_000);
});

test('a queue in packets holds that many, and has room again when one has been sent', () => {
  const line = direction({ queue: { packets: 10 } });
  while (offer(line, 0));
  expect(line.waitingPackets).toBe(10);
  expect(offer(line, FULL_TIME_MS * 0.99)).toBe(false);
  expect(offer(line, FULL_TIME_MS * 1.01)).toBe(true);
  expect(offer(line, FULL_TIME_MS * 1.01)).toBe(false);
});

test('an idle line takes a packet that is larger than its queue', () => {
  const line = direction({ queue: { bytes: 100 } });
  expect([offer(line, 0), offer(line, 0)]).toEqual([true, false]);
});

test('without a rate there is no queue and no transmission time', () => {
  const line = direction({ rateBps: Number.POSITIVE_INFINITY, queue: { bytes: 1 } });
  expect(Array.from({ length: 100 }, () => offer(line, 5))).not.toContain(false);
  expect(handOutUntil(line, 15)).toEqual(Array.from({ length: 100 }, () => 15));
});

test('jitter spreads the delay up to its bound', () => {
  const line = direction({ jitterMs: 4 });
  const extraMs: number[] = [];
  for (let number = 0; number < 2000; number += 1) {
    const nowMs = number * 20;
    offer(line, nowMs);
    extraMs.push(line.nextDueMs - nowMs - FULL_TIME_MS - 10);
    handOutUntil(line, nowMs + 20);
  }
  expect(Math.min(...extraMs)).toBeGreaterThanOrEqual(-1e-9);
  expect(Math.max(...extraMs)).toBeLessThan(4);
  const mean = extraMs.reduce((sum, value) => sum + value, 0) / extraMs.length;
  expect(Math.abs(mean - 2)).toBeLessThan((3 * 4) / Math.sqrt(12 * extraMs.length));
});

describe('one seed', () => {
  const settings = { loss: { kind: 'independent', rate: 0.02 } } as const;

  test('loses the same packets whatever the timing, queue, jitter and rate', () => {
    const lost = lostNumbers(direction(settings), 5000);
    expect(lost.length).toBeGreaterThan(50);
    const hurried = direction({ ...settings, jitterMs: 3, rateBps: 10e6, queue: { packets: 3 } });
    expect(lostNumbers(hurried, 5000, 0.1)).toEqual(lost);
    expect(hurried.counters().queueDroppedPackets).toBeGreaterThan(1000);
  });

  test('loses the same packets again after the stream was started anew', () => {
    const line = direction({
      loss: { kind: 'gilbert-elliott', toBad: 0.05, toGood: 0.3, lossInGood: 0, lossInBad: 0.7 },
    });
    const lost = lostNumbers(line, 3333);
    line.reseed(1);
    expect(lostNumbers(line, 3333)).toEqual(lost);
    line.reseed(2);
    expect(lostNumbers(line, 3333)).not.toEqual(lost);
  });

  test('loses other packets on another link', () => {
    const other = new PacketDirection('b:c/forward', { ...PLAIN, ...settings }, 1);
    expect(lostNumbers(other, 5000)).not.toEqual(lostNumbers(direction(settings), 5000));
  });
});

describe('a change while packets are under way', () => {
  test('of the delay keeps the order: a shorter one is reached when the line has emptied', () => {
    const line = direction({ delayMs: 100 });
    offer(line, 0);
    line.change(1, { delayMs: 5 });
    offer(line, 1);
    const timesMs = handOutUntil(line, 1000);
    expect(timesMs[1]).toBe(timesMs[0]);
    offer(line, 200);
    expect(line.nextDueMs).toBeCloseTo(205 + FULL_TIME_MS, 9);
  });

  test('of the rate stretches what has not been sent', () => {
    const line = direction({ delayMs: 0 });
    for (let number = 0; number < 10; number += 1) offer(line, 0);
    line.change(5 * FULL_TIME_MS, { rateBps: PLAIN.rateBps / 10 });
    const timesMs = handOutUntil(line, Number.MAX_VALUE);
    expect(timesMs[4]).toBeCloseTo(5 * FULL_TIME_MS, 9);
    expect(timesMs[5]).toBeCloseTo(15 * FULL_TIME_MS, 9);
    expect(timesMs[9]).toBeCloseTo(55 * FULL_TIME_MS, 9);
  });

  test('to no rate at all lets everything go that waited', () => {
    const line = direction({ delayMs: 0 });
    for (let number = 0; number < 10; number += 1) offer(line, 0);
    line.change(5 * FULL_TIME_MS, { rateBps: Number.POSITIVE_INFINITY });
    expect(handOutUntil(line, Number.MAX_VALUE).at(-1)).toBeCloseTo(5 * FULL_TIME_MS, 9);
    expect(offer(line, 6 * FULL_TIME_MS)).toBe(true);
    expect(line.nextDueMs).toBeCloseTo(6 * FULL_TIME_MS, 9);
  });

  test('that cuts the link loses what is under way and what comes, until it is whole again', () => {
    const line = direction();
    offer(line, 0);
    line.change(1, { isCut: true });
    expect(line.nextDueMs).toBe(Number.POSITIVE_INFINITY);
    expect(offer(line, 2)).toBe(false);
    line.change(3, { isCut: false });
    expect(offer(line, 3)).toBe(true);
    expect(line.counters()).toMatchObject({ packetsIn: 3, cutPackets: 2, lostPackets: 0, waitingPackets: 1 });
  });

  test('to a longer and faster line makes room for what it then holds', () => {
    const line = direction({ rateBps: 1e6, delayMs: 1 });
    line.change(0, { rateBps: 1e9, delayMs: 200, queue: { bytes: 1e6 } });
    for (let nowMs = 0; nowMs < 190; nowMs += FULL_TIME_MS / 10) offer(line, nowMs);
    expect(line.counters().queueDroppedPackets).toBe(0);
    expect(line.waitingPackets).toBeGreaterThan(15_000);
  });
});

test('what finds the memory full counts as dropped by the queue', () => {
  const line = direction({ rateBps: Number.POSITIVE_INFINITY }, 1, 4 * MAX_PACKET_BYTES);
  for (let number = 0; number < 100; number += 1) offer(line, 0);
  const { waitingPackets, queueDroppedPackets } = line.counters();
  expect(waitingPackets * FULL_BYTES).toBeLessThanOrEqual(4 * MAX_PACKET_BYTES);
  expect(queueDroppedPackets).toBe(100 - waitingPackets);
});

test('the worst lateness is that of the packet handed out latest, and starts anew when taken', () => {
  const line = direction();
  offer(line, 0);
  offer(line, 0);
  line.handedOut(line.nextDueMs + 3, true);
  line.handedOut(line.nextDueMs + 1, true);
  expect(line.counters().worstLatenessMs).toBeCloseTo(3, 9);
  expect(line.takeLateness()).toBeCloseTo(3, 9);
  expect(line.takeLateness()).toBe(0);
});
