import { describe, expect, test } from 'vitest';
import type { Conversation } from '../origin/conversation.ts';
import type { BodyTaker } from '../origin/exchange.ts';
import { BlockQueue } from './block-queue.ts';
import { Lane } from './lane.ts';
import { lanesSchema } from './lanes-config.ts';
import { chooseBlock } from './next-block.ts';

const CONFIG = lanesSchema.parse({});

let nowMs = 0;
/** Of the block that was asked for last. */
let taker: BodyTaker | undefined;

/** A connection whose answers a relay thread reads: the test tells of them. */
const CONNECTION: Conversation = {
  stands: Promise.resolve(),
  mostQuestions: 1,
  isOpen: true,
  gaveBack: false,
  ask: () => new Promise(() => {}),
  read: (order) => {
    taker = order;
    return new Promise(() => {});
  },
  pause: () => {},
  resume: () => {},
  close: () => {},
  reset: () => {},
};

function idleLane(index: number): Lane {
  const lane = new Lane(index, CONFIG.firstBlockBytes, {
    open: () => {
      throw new Error('nothing is fetched here');
    },
    request: {
      asked: { method: 'GET', target: '/', headers: {} },
      representation: { sizeBytes: 1, validator: '"one"', validatedBy: 'etag', contentEncoding: '' },
      silenceMs: 1000,
    },
    config: CONFIG,
    mostQuestions: () => 1,
    nowMs: () => nowMs,
    onOpened: () => {},
    onChunk: () => {},
    onMoved: (fetch, bytes) => {
      fetch.atByte += bytes;
    },
    onWhole: () => {},
    onFailed: () => {},
  });
  lane.meter.noteDelay(10);
  lane.meter.noteBlock(1_000_000, 10);
  return lane;
}

describe('the next block', () => {
  test('is chosen at once by the one lane that is left, though some of the last has not reached the client', () => {
    const queue = new BlockQueue({ startByte: 0, endByte: 1e9 });
    const block = queue.cut(1_000_000);
    queue.note(block, 1_000_000);
    queue.deliver(600_000);
    const [left, away] = [idleLane(0), idleLane(1)];
    away.isRemoved = true;
    expect(chooseBlock(left, { lanes: [left, away], isAloneForGood: false }, queue, CONFIG)).toMatchObject({
      is: 'fetch',
      block: { startByte: 1_000_000 },
    });
  });

  test('is looked for again when all that was asked for has been delivered, at the latest', () => {
    const queue = new BlockQueue({ startByte: 0, endByte: 1e9 });
    const lanes = [idleLane(0), idleLane(1)];
    for (const lane of lanes) lane.loadBytes = 100_000;
    queue.note(queue.cut(700_000), 700_000);
    const [lane = idleLane(0)] = lanes;
    const choice = chooseBlock(lane, { lanes, isAloneForGood: false }, queue, {
      ...CONFIG,
      bufferBytes: 750_000,
    });
    expect(choice).toMatchObject({ is: 'wait' });
    expect(choice.is === 'wait' && choice.forBytes).toBeLessThanOrEqual(queue.spanBytes);
  });

  test('is not one that may have come, of which a thread has not told yet', () => {
    const queue = new BlockQueue({ startByte: 0, endByte: 1_000_000 });
    const lanes = [idleLane(0), idleLane(1)];
    const [owner = idleLane(0), other = idleLane(1)] = lanes;
    nowMs = 0;
    const block = queue.cut(1_000_000);
    const route = Promise.resolve({ chain: ['d1'], promise: undefined });
    owner.adopt({ connection: CONNECTION, route }, block, nowMs);
    taker?.onMoved?.(0, 0, false);
    nowMs = 150;
    taker?.onMoved?.(900_000, 0, false);
    queue.note(block, 900_000);
    const atWork = { lanes, isAloneForGood: false };
    // The other one would need 20 ms, and be worth it from 70 ms on.
    nowMs = 225;
    expect(chooseBlock(other, atWork, queue, CONFIG)).toMatchObject({ is: 'wait' });
    nowMs = 275;
    expect(chooseBlock(other, atWork, queue, CONFIG)).toMatchObject({ is: 'fetch', isLate: true });
  });
});
