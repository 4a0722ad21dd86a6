import { expect, test } from 'vitest';
import { ToldLane } from '../testing/told-lane.ts';

const BLOCK_BYTES = 1_000_000;

/** A lane whose first byte came after `delayMs`, and then so many bytes in 200 ms; whether its connection stands when another has brought its block. */
function losesAfter(delayMs: number, bytes: number): boolean {
  const told = new ToldLane(0, { usualStartMs: () => 0, promisedBytesPerMs: undefined });
  told.adopt({ startByte: 0, endByte: BLOCK_BYTES, nextByte: 0, fetches: 0 }, -delayMs);
  told.taker?.onMoved?.(1, 0, false);
  told.nowMs = 200;
  told.taker?.onMoved?.(bytes, 0, false);
  const { lane } = told;
  if (lane.fetch) lane.lose(lane.fetch);
  return !told.isClosed;
}

test('a connection is kept when another lane has brought its block, where the rest is there sooner than a new one would be', () => {
  expect(losesAfter(300, 0.8 * BLOCK_BYTES)).toBe(true);
});

test('it is given up where a new one is there sooner', () => {
  expect(losesAfter(20, 0.8 * BLOCK_BYTES), 'a near origin').toBe(false);
  expect(losesAfter(300, 0.1 * BLOCK_BYTES), 'a lane that hardly moves').toBe(false);
});

test('over TLS the making of a connection is no part of the delay of an answer, but of what a new connection takes', () => {
  const told = new ToldLane(0, { usualStartMs: () => 0, promisedBytesPerMs: undefined });
  told.adopt({ startByte: 0, endByte: BLOCK_BYTES, nextByte: 0, fetches: 0 }, -100, -340);
  expect(told.lane.meter.leastDelayMs).toBe(100);
  expect(told.lane.meter.leastStartMs).toBe(340);
});
