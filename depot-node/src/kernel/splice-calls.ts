import type { Libc } from './libc.ts';
import { FCNTL, OPEN, SPLICE } from './linux-constants.ts';

/** Calls that move bytes inside the kernel. */
export interface SpliceCalls {
  /** Moves bytes between a pipe and a socket without copying them, and without ever waiting. */
  readonly splice: (from: number, to: number, maxBytes: number) => number;
  /** An empty pipe of about `sizeBytes`, or smaller where the system grants no more; undefined for none at all. */
  readonly makePipe: (sizeBytes: number) => Pipe | undefined;
}

export interface Pipe {
  readonly output: number;
  readonly input: number;
}

export function bindSpliceCalls({ bind, checked, buffer }: Libc): SpliceCalls {
  const splice = bind('splice', 'intptr_t', 'int', 'intptr_t', 'int', 'intptr_t', 'size_t', 'uint');
  const pipe2 = bind('pipe2', 'int', 'intptr_t', 'int');
  const fcntl = bind('fcntl', 'int', 'int', 'int', 'int');
  const ends = buffer(8);
  return {
    splice: (from, to, maxBytes) => checked(splice(from, 0, to, 0, maxBytes, SPLICE.move | SPLICE.nonBlock)),
    makePipe: (sizeBytes) => {
      if (pipe2(ends.address, OPEN.nonBlock | OPEN.closeOnExec) < 0) return undefined;
      const pipe = { output: ends.bytes.getInt32(0, true), input: ends.bytes.getInt32(4, true) };
      // An unprivileged user may have only so many big ones; a small pipe is as correct.
      fcntl(pipe.input, FCNTL.setPipeSize, sizeBytes);
      return pipe;
    },
  };
}
