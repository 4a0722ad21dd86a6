import { getHeapStatistics } from 'node:v8';
import { expect, test } from 'vitest';
import { compactHeap } from './compact-heap.ts';
import { HeapRest } from './heap-rest.ts';

/** Looks that find a depot at rest before it gives back what its work took. */
const LOOKS_AFTER_WORK = 40;

/** A process of which a test says what it does; compacting takes 40 ms if not said otherwise, and leaves 10 MB. */
function imagined() {
  const state = {
    busy: 0,
    isCarrying: false,
    heapBytes: 30e6,
    nowMs: 0,
    cpuMs: 0,
    compacted: 0,
    compactMs: 40,
  };
  const rest = new HeapRest({
    busyShare: () => state.busy,
    isCarrying: () => state.isCarrying,
    heapBytes: () => state.heapBytes,
    compact: () => {
      state.compacted += 1;
      state.cpuMs += state.compactMs;
      state.heapBytes = 10e6;
    },
    cpuMs: () => state.cpuMs,
    nowMs: () => state.nowMs,
  });
  const look = (times: number) => {
    for (let time = 0; time < times; time += 1) {
      state.nowMs += 500;
      rest.look();
    }
  };
  const work = () => {
    state.busy = 0.5;
    state.heapBytes = 30e6;
    look(1);
    state.busy = 0;
  };
  return { state, look, work };
}

test('a depot that has started and rests gives back what its start took, once', () => {
  const { state, look } = imagined();
  look(60);
  expect(state.compacted).toBe(1);
});

test('a depot that works is never held up', () => {
  const { state, look } = imagined();
  state.busy = 0.06;
  look(60);
  expect(state.compacted).toBe(0);
});

test('a moment between two requests is no rest', () => {
  const { state, look } = imagined();
  for (let time = 0; time < 30; time += 1) {
    state.busy = time % 2 === 0 ? 0.5 : 0;
    look(1);
  }
  expect(state.compacted).toBe(0);
});

test('a depot that rests after its work gives back what that took, but not before twenty seconds', () => {
  const { state, look, work } = imagined();
  look(60);
  for (let download = 0; download < 10; download += 1) {
    work();
    look(LOOKS_AFTER_WORK - 1);
  }
  expect(state.compacted, 'what comes so soon finds warm code').toBe(1);
  look(1);
  expect(state.compacted).toBe(2);
});

test('a depot whose connections rest gives back what they took to begin, for what they need stays warm', () => {
  const { state, look, work } = imagined();
  look(60);
  state.isCarrying = true;
  work();
  look(3);
  expect(state.compacted).toBe(2);
});

test('whoever wakes a depot again and again costs it half a percent of a core', () => {
  const { state, look, work } = imagined();
  state.compactMs = 400;
  for (let time = 0; time < 1000; time += 1) {
    work();
    look(LOOKS_AFTER_WORK);
  }
  expect(state.compacted).toBeGreaterThan(200);
  expect((state.compacted * state.compactMs) / state.nowMs).toBeLessThanOrEqual(0.005);
});

test('compacting gives the room of new objects back', () => {
  let held: unknown[] = [];
  for (let index = 0; index < 200_000; index += 1) held.push({ index });
  expect(held.length).toBe(200_000);
  const before = getHeapStatistics().total_physical_size;
  held = [];
  compactHeap();
  expect(getHeapStatistics().total_physical_size).toBeLessThan(before);
});
