import type { DescriptorCalls } from '../kernel/descriptor-calls.ts';
import type { Pipe, SpliceCalls } from '../kernel/splice-calls.ts';
import { IdleStock } from './idle-stock.ts';

/** Smaller ones cost twice the CPU time per byte; the kernel gives no more to normal users. */
export const PIPE_BYTES = 1_048_576;
/** Bytes go through memory rather than a smaller pipe: two calls move 256 KiB there. */
const LEAST_PIPE_BYTES = 65_536;
/** Empty pipes kept: as many flows move bytes in the same turn; each is two descriptors. */
const MAX_IDLE_PIPES = 64;

/** Pipes for flows that hold bytes right now. */
export interface PipePool {
  /** Undefined when the process has no descriptors left, or its user no room for pipes that are worth it. */
  readonly take: () => Pipe | undefined;
  /** Gives an empty pipe back. */
  readonly give: (pipe: Pipe) => void;
  /** Closes a pipe, with whatever is in it. */
  readonly discard: (pipe: Pipe) => void;
  /** To be called again and again: closes pipes that a burst has left, and has the system asked again for more. */
  readonly shrink: () => void;
  /** Whether none is kept. */
  readonly isEmpty: () => boolean;
  readonly close: () => void;
}

export function createPipePool(kernel: Pick<SpliceCalls & DescriptorCalls, 'makePipe' | 'close'>): PipePool {
  const idle = new IdleStock<Pipe>(MAX_IDLE_PIPES);
  /** To be refused one costs as much as to copy some KB, each time. */
  let isRefused = false;
  const discard = (pipe: Pipe) => {
    kernel.close(pipe.output);
    kernel.close(pipe.input);
  };
  return {
    take: () => {
      const kept = idle.take();
      if (kept || isRefused) return kept;
      const made = kernel.makePipe(PIPE_BYTES, LEAST_PIPE_BYTES);
      isRefused = made === undefined;
      return made;
    },
    give: (pipe) => {
      if (!idle.give(pipe)) discard(pipe);
    },
    discard,
    shrink: () => {
      isRefused = false;
      for (const pipe of idle.shrink()) discard(pipe);
    },
    isEmpty: () => idle.isEmpty,
    close: () => {
      for (const pipe of idle.empty()) discard(pipe);
    },
  };
}
