import { describe, expect, test } from 'vitest';
import { MAX_PACKET_BYTES, PacketRing } from './packet-ring.ts';
import { RandomStream } from './random-stream.ts';

const CAPACITY_BYTES = 16 * MAX_PACKET_BYTES;

interface Stored {
  readonly offset: number;
  readonly sizeBytes: number;
}

describe.each([1, 2, 3, 4, 5])('whatever comes and goes (seed %i)', (seed) => {
  test('no packet lies where another one still is, and all come out as they went in', () => {
    const random = new RandomStream(`${seed}`);
    const ring = new PacketRing(CAPACITY_BYTES, CAPACITY_BYTES / 2);
    const stored: Stored[] = [];
    let refused = 0;
    for (let step = 0; step < 6000; step += 1) {
      const draw = random.next();
      if (draw < 0.001) ring.setLimit(random.next() * CAPACITY_BYTES);
      if (draw < 0.48 && stored.length > 0) {
        expect([ring.offsetAt(0), ring.sizeAt(0)]).toEqual([stored[0]?.offset, stored[0]?.sizeBytes]);
        ring.shift();
        stored.shift();
        continue;
      }
      const offset = ring.place();
      if (offset < 0) {
        refused += 1;
        continue;
      }
      const end = offset + MAX_PACKET_BYTES;
      expect(end).toBeLessThanOrEqual(CAPACITY_BYTES);
      expect(stored.filter((one) => one.offset < end && offset < one.offset + one.sizeBytes)).toEqual([]);
      const sizeBytes = 1 + Math.floor(random.next() * MAX_PACKET_BYTES);
      ring.push(offset, sizeBytes, step, 1, step + 1);
      stored.push({ offset, sizeBytes });
      expect(ring.count).toBe(stored.length);
    }
    expect(refused).toBeGreaterThan(0);
  });
});

test('a larger limit makes room at once, and keeps the times of packets under way', () => {
  const ring = new PacketRing(64 * 2 ** 20, 0);
  const push = () => {
    const offset = ring.place();
    if (offset >= 0) ring.push(offset, 40, ring.count, 1, ring.count + 1);
    return offset >= 0;
  };
  while (push());
  const before = ring.count;
  ring.setLimit(4 * 2 ** 20);
  while (push());
  expect(ring.count).toBeGreaterThan(10 * before);
  const positions = Array.from({ length: ring.count }, (_, position) => position);
  expect(positions.filter((position) => ring.departureAt(position) !== position)).toEqual([]);
  expect(positions.filter((position) => ring.dueAt(position) !== position + 1)).toEqual([]);
});
