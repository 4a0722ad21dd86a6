import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { compactHeap } from './compact-heap.ts';

/** How often is looked whether the process rests. */
const LOOK_MS = 500;
/** Looks in a row that find it at rest before its heap is compacted: between two requests of one client it is not. */
const RESTING_LOOKS = 3;
/**
 * The same where it carries nothing any more. With the last object of a kind V8 forgets the code that it was
 * made for, and work that comes soon after costs a quarter more.
 */
const LOOKS_AFTER_WORK = 40;
/** Of a core, what a resting process does at most: heartbeats, looks at idle connections. */
const RESTING_SHARE = 0.05;
/** Of a core, what compacting takes at most, however often somebody wakes a depot and lets it rest again. */
const COMPACTING_SHARE = 0.005;
/** Less growth is not worth compacting. */
const LEAST_GROWTH_BYTES = 2_000_000;

interface HeapRestComponents {
  /** Of the time since the last call, the share in which the event loop was busy. */
  readonly busyShare: () => number;
  /** Whether something runs, though it may rest. */
  readonly isCarrying: () => boolean;
  /** What the heap holds resident. */
  readonly heapBytes: () => number;
  /** Compacts it, and whatever else rests. */
  readonly compact: () => void;
  /** CPU time of the thread so far. */
  readonly cpuMs: () => number;
  readonly nowMs: () => number;
}

/** Lets a process that rests hold no more memory than it needs. */
export class HeapRest {
  readonly #components: HeapRestComponents;
  #restingLooks = 0;
  #hasCompacted = false;
  #heldBytes = 0;
  #notBeforeMs = -Infinity;

  constructor(components: HeapRestComponents) {
    this.#components = components;
  }

  /** To be called once in a while; compacts when the process rests and has grown since. */
  look(): void {
    const { busyShare, isCarrying, heapBytes, compact, cpuMs, nowMs } = this.#components;
    const neededLooks = this.#hasCompacted && !isCarrying() ? LOOKS_AFTER_WORK : RESTING_LOOKS;
    this.#restingLooks = busyShare() <= RESTING_SHARE ? this.#restingLooks + 1 : 0;
    if (this.#restingLooks < neededLooks || nowMs() < this.#notBeforeMs) return;
    if (heapBytes() < this.#heldBytes + LEAST_GROWTH_BYTES) return;
    const before = cpuMs();
    compact();
    this.#hasCompacted = true;
    this.#heldBytes = heapBytes();
    this.#notBeforeMs = nowMs() + (cpuMs() - before) / COMPACTING_SHARE;
  }
}

/** Watches over this thread's heap, by a timer that keeps no process alive. `others` is called when it is compacted. */
export function watchHeap(isCarrying: () => boolean, others: () => void): void {
  let last = performance.eventLoopUtilization();
  const rest = new HeapRest({
    busyShare: () => {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, last);
      last = now;
      return utilization;
    },
    isCarrying,
    heapBytes: () => getHeapStatistics().total_physical_size,
    compact: () => {
      compactHeap();
      others();
    },
    cpuMs: () => process.threadCpuUsage().user / 1000,
    nowMs: () => performance.now(),
  });
  setInterval(() => rest.look(), LOOK_MS).unref();
}
