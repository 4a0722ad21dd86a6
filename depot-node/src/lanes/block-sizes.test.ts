import { type ChainPromise, MIB } from '@longhaul/shared';
import { expect, test } from 'vitest';
import { adaptedLoadBytes, aloneLoadBytes, headStartBytes } from './block-sizes.ts';
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

test('a lane that had the line alone leaves the others their part of it before they have shown a rate', () => {
  const unknown = (index: number) => ({ ...laneAt(0, MIB, index), meter: new LaneMeter(0) });
  const first = laneAt(BYTES_PER_MS / 3, 8 * MIB);
  const lanes = [first, ...Array.from({ length: 7 }, (_, index) => unknown(index + 1))];
  const partBytes = (BYTES_PER_MS * (DELAY_MS + 50)) / lanes.length;
  expect(adaptedLoadBytes(first, lanes, CONFIG, PROMISE)).toBeLessThanOrEqual(1.5 * partBytes);
});

test('what lanes bring beyond the promise counts once they have shown it', () => {
  const lanes = Array.from({ length: 4 }, (_, index) => laneAt(BYTES_PER_MS, MIB, index));
  const [first] = lanes as [ReturnType<typeof laneAt>];
  const low = { ...PROMISE, rateBps: PROMISE.rateBps / 10 };
  expect(adaptedLoadBytes(first, lanes, CONFIG, low)).toBe(adaptedLoadBytes(first, lanes, CONFIG));
});

test('the first lane is asked for more the later the others come, and for less where losses hold it back', () => {
  const lossy = { ...PROMISE, worstLossRate: 2.5e-3 };
  const atFirst = (promise: ChainPromise, delayMs: number) => headStartBytes(promise, delayMs, CONFIG);
  expect(atFirst(PROMISE, 300)).toBeGreaterThan(2.9 * atFirst(PROMISE, DELAY_MS));
  expect(atFirst(lossy, 300)).toBeLessThan(atFirst(PROMISE, 300) / 4);
  expect(atFirst(PROMISE, DELAY_MS)).toBeLessThan(BYTES_PER_MS * DELAY_MS);
});

test('a slow origin and a high promise do not make a lane be asked for more than may be held', () => {
  expect(headStartBytes({ ...PROMISE, rateBps: 1e11 }, 60_000, CONFIG)).toBeLessThan(CONFIG.bufferBytes);
});
