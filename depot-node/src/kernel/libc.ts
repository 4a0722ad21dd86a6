import { createRequire } from 'node:module';

/** The C library of this process. Every call of the kernel goes through it, each in the file of its purpose. */
export interface Libc extends MemoryCalls {
  /** Binds a function. The types are koffi's, the result's first; addresses are `intptr_t`. */
  readonly bind: (name: string, result: string, ...parameters: string[]) => LibcFunction;
  /**
   * The address of a function that is called back during a call, by the same thread, with three addresses;
   * for ever.
   */
  readonly callBack: (called: (one: number, other: number, third: number) => number) => number;
  /** The result of the call made last; where that failed, its errno below 0. */
  readonly checked: (result: number) => number;
  /** The error of the call made last; with a number, that is set. */
  readonly errno: (value?: number) => number;
}

type LibcFunction = (...values: readonly (number | string)[]) => number;

/** Memory that the kernel reads or writes. */
export interface MemoryCalls {
  /** Memory with a fixed address. */
  readonly buffer: (sizeBytes: number) => KernelBuffer;
  /**
   * Where the bytes of a buffer lie, for as long as it lives. Not for ones below `SMALLEST_BUFFER_BYTES`: V8
   * moves those.
   */
  readonly addressOf: (buffer: ArrayBuffer) => number;
  /** Copies bytes from one address to another; they do not overlap. */
  readonly copy: (to: number, from: number, sizeBytes: number) => void;
}

export interface KernelBuffer {
  readonly bytes: DataView;
  readonly address: number;
}

// V8 may move smaller buffers.
export const SMALLEST_BUFFER_BYTES = 128;

/** Loads koffi and binds libc; throws when the optional dependency is missing or has no binary for this machine. */
export function openLibc(): Libc {
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
  const libc = koffi.load(null);
  const addressOf = (buffer: ArrayBuffer) => Number(koffi.address(buffer));
  const copy = libc.func('memcpy', 'intptr_t', ['intptr_t', 'intptr_t', 'size_t']) as LibcFunction;
  return {
    bind: (name, result, ...parameters) => libc.func(name, result, parameters) as LibcFunction,
    callBack: (called) => {
      const kind = koffi.pointer(koffi.proto('int', ['intptr_t', 'intptr_t', 'intptr_t']));
      return Number(koffi.address(koffi.register(called, kind)));
    },
    errno: (value) => (value === undefined ? koffi.errno() : koffi.errno(value)),
    checked: (result) => (result < 0 ? -koffi.errno() : result),
    buffer: (sizeBytes) => {
      const memory = new ArrayBuffer(Math.max(sizeBytes, SMALLEST_BUFFER_BYTES));
      return { bytes: new DataView(memory, 0, sizeBytes), address: addressOf(memory) };
    },
    addressOf,
    copy: (to, from, sizeBytes) => void copy(to, from, sizeBytes),
  };
}
