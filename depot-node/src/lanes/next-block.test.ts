import { describe, expect, test } from 'vitest';
import { ToldLane } from '../testing/told-lane.ts';
import { BlockQueue } from './block-queue.ts';
import { lanesSchema } from './lanes-config.ts';
import { chooseBlock } from './next-block.ts';

const CONFIG = lanesSchema.parse({});

/** Of a first byte over a new connection. */
const DELAY_MS = 100;

/** A lane that has shown nothing yet. */
const newLane = (index: number, promisedBytesPerMs?: number) =>
  new ToldLane(index, { usualStartMs: () => DELAY_MS, promisedBytesPerMs });

/** One that has shown that it is fast. */
function idleLane(index: number): ToldLane {
  const told = newLane(index);
  told.lane.meter.noteDelay(10);
  told.lane.meter.noteStart(10);
  told.lane.meter.noteBlock(1_000_000, 10);
  return told;
}

describe('the next block', () => {
  test('is chosen at once by the one lane that is left, though some of the last has not reached the client', () => {
    const queue = new BlockQueue({ startByte: 0, endByte: 1e9 });
    const block = queue.cut(1_000_000);
    queue.note(block, 1_000_000);
    queue.deliver(600_000);
    const [left, away] = [idleLane(0).lane, idleLane(1).lane];
    away.isRemoved = true;
    expect(chooseBlock(left, { lanes: [left, away], isAloneForGood: false }, queue, CONFIG)).toMatchObject({
      is: 'fetch',
      block: { startByte: 1_000_000 },
    });
  });

  test('is looked for again when all that was asked for has been delivered, at the latest', () => {
    const queue = new BlockQueue({ startByte: 0, endByte: 1e9 });
    const lanes = [idleLane(0).lane, idleLane(1).lane] as const;
    for (const lane of lanes) lane.loadBytes = 100_000;
    queue.note(queue.cut(700_000), 700_000);
    const [lane] = lanes;
    const choice = chooseBlock(lane, { lanes, isAloneForGood: false }, queue, {
      ...CONFIG,
      bufferBytes: 750_000,
    });
    expect(choice).toMatchObject({ is: 'wait' });
    expect(choice.is === 'wait' && choice.forBytes).toBeLessThanOrEqual(queue.spanBytes);
  });

  test('leaves what comes before to a lane that is answered, for one whose connection has to be made', () => {
    const queue = new BlockQueue({ startByte: 0, endByte: 1e8 });
    const [first, { lane: second }] = [newLane(0, 5000), newLane(1, 5000)];
    const lanes = [first.lane, second];
    first.adopt(queue.cut(200_000), -DELAY_MS);
    const choice = chooseBlock(second, { lanes, isAloneForGood: false }, queue, CONFIG);
    // Twice the delay at the promised rate: until then its connection finds its rate.
    expect(choice).toMatchObject({ is: 'fetch', block: { startByte: 2 * DELAY_MS * 5000 } });
    expect(queue.claimByte(0), 'what lies between is for whoever is free first').toBe(200_000);
  });

  test('is not left to a lane that was answered and then stands still, whatever the plan promises of it', () => {
    const queue = new BlockQueue({ startByte: 0, endByte: 1e6 });
    const [first, { lane: second }] = [newLane(0, 5000), newLane(1, 5000)];
    const lanes = [first.lane, second];
    first.adopt(queue.cut(200_000), -DELAY_MS);
    const choose = () => chooseBlock(second, { lanes, isAloneForGood: false }, queue, CONFIG);
    const before = choose();
    expect(before, 'it would bring everything before').toMatchObject({ is: 'wait' });
    first.nowMs = DELAY_MS + 1;
    expect(before.is === 'wait' && before.forMs).toBeLessThan(1000);
    expect(choose()).toMatchObject({ is: 'fetch', block: { startByte: 200_000 } });
  });

  test('is not one that may have come, of which a thread has not told yet', () => {
    const queue = new BlockQueue({ startByte: 0, endByte: 1_000_000 });
    const [owner, { lane: other }] = [idleLane(0), idleLane(1)];
    const lanes = [owner.lane, other];
    const block = queue.cut(1_000_000);
    owner.adopt(block, 0);
    owner.taker?.onMoved?.(0, 0, false);
    owner.nowMs = 150;
    owner.taker?.onMoved?.(900_000, 0, false);
    queue.note(block, 900_000);
    const atWork = { lanes, isAloneForGood: false };
    // The other one would need 20 ms, and be worth it from 70 ms on.
    owner.nowMs = 225;
    expect(chooseBlock(other, atWork, queue, CONFIG)).toMatchObject({ is: 'wait' });
    owner.nowMs = 275;
    expect(chooseBlock(other, atWork, queue, CONFIG)).toMatchObject({ is: 'fetch', isLate: true });
  });
});
