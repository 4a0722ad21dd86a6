import type { MemoryCalls } from '../kernel/libc.ts';
import { IdleStock } from './idle-stock.ts';

/** As much as a pipe of Linux moves at its best, and sixteen records of TLS. */
export const BUFFER_BYTES = 262_144;
/** Empty buffers kept: as many flows move bytes through memory in the same turn. */
const MAX_IDLE_BUFFERS = 16;

/** Memory with a fixed address. */
export interface PooledBuffer {
  readonly buffer: ArrayBuffer;
  readonly address: number;
}

/** Memory for flows whose bytes the kernel cannot move by itself, and that hold some right now. */
export interface BufferPool {
  readonly take: () => PooledBuffer;
  /** Gives a buffer back whose bytes nobody needs any more. */
  readonly give: (buffer: PooledBuffer) => void;
  /** To be called again and again: lets go of buffers that a burst has left. */
  readonly shrink: () => void;
  /** Whether none is kept. */
  readonly isEmpty: () => boolean;
}

export function createBufferPool(kernel: Pick<MemoryCalls, 'addressOf'>): BufferPool {
  const idle = new IdleStock<PooledBuffer>(MAX_IDLE_BUFFERS);
  const make = (): PooledBuffer => {
    const buffer = new ArrayBuffer(BUFFER_BYTES);
    return { buffer, address: kernel.addressOf(buffer) };
  };
  return {
    take: () => idle.take() ?? make(),
    give: (buffer) => void idle.give(buffer),
    shrink: () => void idle.shrink(),
    isEmpty: () => idle.isEmpty,
  };
}
