import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LaneMeter } from './lane-meter.ts';

const SMOOTHING = 0.5;
const LOAD_BYTES = 262_144;
const BLOCK_BYTES = LOAD_BYTES / 4;

test('what waited behind a lost packet and then comes at once makes no lane fast', () => {
  const meter = new LaneMeter(SMOOTHING);
  for (let round = 0; round < 20; round++) {
    meter.noteBlock(BLOCK_BYTES, 157, LOAD_BYTES);
    for (let block = 0; block < 3; block++) meter.noteBlock(BLOCK_BYTES, 1, LOAD_BYTES);
  }
  // A load in 160 ms, as 13 Mbit/s bring it.
  expect(meter.bytesPerMs).toBeGreaterThan(0.5 * (LOAD_BYTES / 160));
  expect(meter.bytesPerMs).toBeLessThan(2 * (LOAD_BYTES / 160));
});

test('a rate that changes is known once half as much again has come as is fetched at once', () => {
  const meter = new LaneMeter(SMOOTHING);
  for (let block = 0; block < 40; block++) meter.noteBlock(BLOCK_BYTES, BLOCK_BYTES / 4000, LOAD_BYTES);
  for (let block = 0; block < 6; block++) meter.noteBlock(BLOCK_BYTES, BLOCK_BYTES / 1000, LOAD_BYTES);
  expect(meter.bytesPerMs).toBeLessThan(1500);
});

test('it is the same rate however its bytes are cut into blocks', () => {
  const cuts = fc.array(fc.integer({ min: 4000, max: LOAD_BYTES }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(cuts, fc.double({ min: 100, max: 3900, noNaN: true }), (sizes, bytesPerMs) => {
      const meter = new LaneMeter(SMOOTHING);
      for (const sizeBytes of sizes) meter.noteBlock(sizeBytes, sizeBytes / bytesPerMs, LOAD_BYTES);
      expect(meter.bytesPerMs).toBeCloseTo(bytesPerMs, 3);
    }),
  );
});
