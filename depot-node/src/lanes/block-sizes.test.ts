import { MIB } from '@longhaul/shared';
import { expect, test } from 'vitest';
import { adaptedLoadBytes, aloneLoadBytes } from './block-sizes.ts';
import { LaneMeter } from './lane-meter.ts';
import { lanesSchema } from './lanes-config.ts';

const CONFIG = lanesSchema.parse({});
/** 100 Mbit/s, whose answers come after 100 ms. */
const BYTES_PER_MS = 12_500;
const DELAY_MS = 100;
const PROMISE = { rateBps: 8000 * BYTES_PER_MS, worstRttMs: 30, worstLossRate: 0 };

/** A lane that has brought blocks at this rate. */
function laneAt(bytesPerMs: number, loadBytes = MIB, index = 0) {
  const meter = new LaneMeter(0);
  meter.noteDelay(DELAY_MS);
  meter.noteBlock(bytesPerMs * 1000, 1000);
  return { index, loadBytes, mostQuestions: 4, sizeBytes: loadBytes / 4, meter };
}

test('a lane alone has enough asked for to go on while no answer ends for a quarter of a second', () => {
  const enoughBytes = BYTES_PER_MS * (DELAY_MS + 250);
  expect(aloneLoadBytes(PROMISE, DELAY_MS, CONFIG)).toBeGreaterThan(enoughBytes);
  const alone = laneAt(BYTES_PER_MS);
  expect(adaptedLoadBytes(alone, [alone], CONFIG)).toBeGreaterThan(enoughBytes);
  const held = laneAt(BYTES_PER_MS / 4, enoughBytes);
  expect(adaptedLoadBytes(held, [held], CONFIG), 'also after it has stood still').toBe(enoughBytes);
});

test('lanes beside each other have no more asked for than what they bring within a delay and a little more', () => {
  const lanes = [laneAt(BYTES_PER_MS / 2), laneAt(BYTES_PER_MS / 2, MIB, 1)] as const;
  const asked = lanes.reduce((sum, lane) => sum + adaptedLoadBytes(lane, lanes, CONFIG), 0);
  expect(asked).toBeLessThan(BYTES_PER_MS * 2 * DELAY_MS);
});

test('however fast a lane is, half of what a transfer may hold is asked for at most', () => {
  const fast = laneAt(1000 * BYTES_PER_MS);
  expect(adaptedLoadBytes(fast, [fast], CONFIG)).toBe(CONFIG.bufferBytes / 2);
  expect(aloneLoadBytes({ ...PROMISE, rateBps: 1e12 }, DELAY_MS, CONFIG)).toBe(CONFIG.bufferBytes / 2);
});
