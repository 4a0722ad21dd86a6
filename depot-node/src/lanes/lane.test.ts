import { expect, test } from 'vitest';
import { ToldLane } from '../testing/told-lane.ts';

const BLOCK_BYTES = 1_000_000;

/**
 * A lane whose first byte came after `delayMs`, and then so many bytes in 200 ms; whether its connection
 * stands when another has brought its block.
 */
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

/**
 * Whether a lane that has brought so many bytes per ms tells that a new connection was not answered, when
 * another one brings its block after so long.
 */
function isUnansweredAfter(elapsedMs: number, { bytesPerMs = 0, rests = false } = {}): boolean {
  const told = new ToldLane(0, { usualStartMs: () => 100, promisedBytesPerMs: undefined });
  const { lane } = told;
  if (bytesPerMs > 0) lane.meter.noteBlock(BLOCK_BYTES, BLOCK_BYTES / bytesPerMs);
  lane.start({ startByte: 0, endByte: BLOCK_BYTES, nextByte: 0, fetches: 0 });
  if (rests) {
    lane.pause();
    lane.resume();
  }
  told.nowMs = elapsedMs;
  const isUnanswered = lane.fetch !== undefined && lane.lose(lane.fetch);
  expect(told.isClosed).toBe(true);
  return isUnanswered;
}

test('a new connection that brings nothing is told of once others have brought a block in such a time', () => {
  expect(isUnansweredAfter(300)).toBe(true);
  expect(isUnansweredAfter(20, { bytesPerMs: 1000 }), 'given up early for its long block').toBe(false);
  expect(isUnansweredAfter(300, { rests: true }), 'it was not read').toBe(false);
});

test('a connection that has answered before is slow with its next block, and no more', () => {
  const told = new ToldLane(0, { usualStartMs: () => 0, promisedBytesPerMs: undefined });
  told.adopt({ startByte: 0, endByte: BLOCK_BYTES, nextByte: 0, fetches: 0 }, -20);
  told.nowMs = 10_000;
  expect(told.lane.fetch && told.lane.lose(told.lane.fetch)).toBe(false);
});

test('over TLS the making of a connection is no part of the delay of an answer, but of what a new connection takes', () => {
  const told = new ToldLane(0, { usualStartMs: () => 0, promisedBytesPerMs: undefined });
  told.adopt({ startByte: 0, endByte: BLOCK_BYTES, nextByte: 0, fetches: 0 }, -100, -340);
  expect(told.lane.meter.leastDelayMs).toBe(100);
  expect(told.lane.meter.leastStartMs).toBe(340);
});
