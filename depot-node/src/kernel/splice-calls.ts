import type { DescriptorCalls } from './descriptor-calls.ts';
import type { Libc } from './libc.ts';
import { FCNTL, OPEN, SPLICE } from './linux-constants.ts';

/** Calls that move bytes inside the kernel. */
export interface SpliceCalls {
  /** Moves bytes between a pipe and a socket without copying them, and without ever waiting. */
  readonly splice: (from: number, to: number, maxBytes: number) => number;
  /**
   * An empty pipe of about `sizeBytes`, or smaller where the system grants no more; undefined where that is less than
   * `leastBytes`, or none at all.
   */
  readonly makePipe: (sizeBytes: number, leastBytes: number) => Pipe | undefined;
}

export interface Pipe {
  readonly output: number;
  readonly input: number;
}

export function bindSpliceCalls(
  { bind, checked, buffer }: Libc,
  { close }: Pick<DescriptorCalls, 'close'>,
): SpliceCalls {
  const splice = bind('splice', 'intptr_t', 'int', 'intptr_t', 'int', 'intptr_t', 'size_t', 'uint');
  const pipe2 = bind('pipe2', 'int', 'intptr_t', 'int');
  const fcntl = bind('fcntl', 'int', 'int', 'int', 'int');
  const ends = buffer(8);
  return {
    splice: (from, to, maxBytes) => checked(splice(from, 0, to, 0, maxBytes, SPLICE.move | SPLICE.nonBlock)),
    makePipe: (sizeBytes, leastBytes) => {
      if (pipe2(ends.address, OPEN.nonBlock | OPEN.closeOnExec) < 0) return undefined;
      const pipe = { output: ends.bytes.getInt32(0, true), input: ends.bytes.getInt32(4, true) };
      // An unprivileged user may have only so many big ones. Beyond, this call fails, and a new pipe has two pages.
      const granted = fcntl(pipe.input, FCNTL.setPipeSize, sizeBytes);
      if ((granted < 0 ? fcntl(pipe.input, FCNTL.getPipeSize, 0) : granted) >= leastBytes) return pipe;
      close(pipe.output);
      close(pipe.input);
      return undefined;
    },
  };
}
