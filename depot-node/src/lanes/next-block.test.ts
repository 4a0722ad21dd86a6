import { describe, expect, test } from 'vitest';
import { BlockQueue } from './block-queue.ts';
import { Lane } from './lane.ts';
import { lanesSchema } from './lanes-config.ts';
import { chooseBlock } from './next-block.ts';

const CONFIG = lanesSchema.parse({});

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
    nowMs: () => 0,
    onOpened: () => {},
    onChunk: () => {},
    onMoved: () => {},
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
});
