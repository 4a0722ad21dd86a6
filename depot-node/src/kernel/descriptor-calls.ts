import type { Libc } from './libc.ts';
import { FCNTL } from './linux-constants.ts';

/** Calls for any descriptor. */
export interface DescriptorCalls {
  readonly read: (descriptor: number, address: number, sizeBytes: number) => number;
  readonly write: (descriptor: number, address: number, sizeBytes: number) => number;
  /** A second descriptor of the same socket, closed on exec; close it with `close`. */
  readonly duplicate: (descriptor: number) => number;
  readonly close: (descriptor: number) => void;
}

// Descriptors 0 to 2 stay what they are, whatever has been closed.
const LOWEST_DESCRIPTOR = 3;

export function bindDescriptorCalls({ bind, checked }: Libc): DescriptorCalls {
  const read = bind('read', 'intptr_t', 'int', 'intptr_t', 'size_t');
  const write = bind('write', 'intptr_t', 'int', 'intptr_t', 'size_t');
  const fcntl = bind('fcntl', 'int', 'int', 'int', 'int');
  const close = bind('close', 'int', 'int');
  return {
    read: (descriptor, address, sizeBytes) => checked(read(descriptor, address, sizeBytes)),
    write: (descriptor, address, sizeBytes) => checked(write(descriptor, address, sizeBytes)),
    duplicate: (descriptor) => checked(fcntl(descriptor, FCNTL.duplicateCloseOnExec, LOWEST_DESCRIPTOR)),
    close: (descriptor) => void close(descriptor),
  };
}
