/** The calls of Linux that the splice plane lives on. What returns a number returns below 0 the negated errno. */
export interface SpliceKernel {
  /** Moves bytes between a pipe and a socket without copying them, and without ever waiting. */
  readonly splice: (from: number, to: number, maxBytes: number) => number;
  readonly read: (descriptor: number, address: number, sizeBytes: number) => number;
  readonly write: (descriptor: number, address: number, sizeBytes: number) => number;
  /** A second descriptor for the same socket, closed on exec. */
  readonly duplicate: (descriptor: number) => number;
  readonly close: (descriptor: number) => void;
  /** Ends the writing direction of a connection. */
  readonly endWriting: (descriptor: number) => number;
  /** Whether the last `close` of this socket, also that of a process that dies, sends a reset instead of an end. */
  readonly resetOnClose: (descriptor: number, isReset: boolean) => void;
  /** The errno that waits on a socket, 0 for none. */
  readonly pendingError: (descriptor: number) => number;
  /** An empty pipe of about `sizeBytes`, or smaller where the system grants no more; undefined for none at all. */
  readonly makePipe: (sizeBytes: number) => Pipe | undefined;
  /** A descriptor that becomes readable with `wake`. */
  readonly makeWaker: () => number;
  readonly wake: (waker: number) => void;
  readonly rest: (waker: number) => void;
  readonly createPoll: () => number;
  /** `event` is the address of a `struct epoll_event`. */
  readonly changePoll: (poll: number, operation: number, descriptor: number, event: number) => number;
  readonly waitPoll: (poll: number, events: number, maxEvents: number, timeoutMs: number) => number;
  /** Where the bytes of a buffer lie, for as long as it lives. Not for small ones: V8 moves those. */
  readonly addressOf: (buffer: ArrayBuffer) => number;
}

export interface Pipe {
  readonly output: number;
  readonly input: number;
}

// From fcntl.h, sys/socket.h and the like; the same on x64 and arm64.
const SPLICE_F_MOVE = 1;
const SPLICE_F_NONBLOCK = 2;
const F_DUPFD_CLOEXEC = 1030;
const F_SETPIPE_SZ = 1031;
const CLOEXEC_NONBLOCK = 0o2004000;
const EPOLL_CLOEXEC = 0o2000000;
const SHUT_WR = 1;
const SOL_SOCKET = 1;
const SO_ERROR = 4;
const SO_LINGER = 13;
// Descriptors 0 to 2 stay what they are, whatever has been closed.
const LOWEST_DESCRIPTOR = 3;

/** Binds the calls. Rejects when the optional dependency koffi is missing or has no binary for this machine. */
export async function openSpliceKernel(): Promise<SpliceKernel> {
  const { default: koffi } = await import('koffi');
  const libc = koffi.load(null);
  const bind = (name: string, ...types: string[]): ((...values: number[]) => number) => {
    const [result = 'int', ...parameters] = types;
    const call = libc.func(name, result, parameters) as (...values: number[]) => number;
    return call;
  };
  const splice = bind('splice', 'intptr_t', 'int', 'intptr_t', 'int', 'intptr_t', 'size_t', 'uint');
  const read = bind('read', 'intptr_t', 'int', 'intptr_t', 'size_t');
  const write = bind('write', 'intptr_t', 'int', 'intptr_t', 'size_t');
  const fcntl = bind('fcntl', 'int', 'int', 'int', 'int');
  const close = bind('close', 'int', 'int');
  const shutdown = bind('shutdown', 'int', 'int', 'int');
  const setOption = bind('setsockopt', 'int', 'int', 'int', 'int', 'intptr_t', 'uint');
  const getOption = bind('getsockopt', 'int', 'int', 'int', 'int', 'intptr_t', 'intptr_t');
  const pipe2 = bind('pipe2', 'int', 'intptr_t', 'int');
  const eventfd = bind('eventfd', 'int', 'uint', 'int');
  const epollCreate = bind('epoll_create1', 'int', 'int');
  const epollControl = bind('epoll_ctl', 'int', 'int', 'int', 'int', 'intptr_t');
  const epollWait = bind('epoll_wait', 'int', 'int', 'intptr_t', 'int', 'int');

  const checked = (result: number) => (result < 0 ? -koffi.errno() : result);
  const addressOf = (buffer: ArrayBuffer) => Number(koffi.address(buffer));
  // Never on V8's own heap, where a small buffer may move.
  const scratch = new ArrayBuffer(256);
  const words = new Int32Array(scratch);
  const first = addressOf(scratch);
  const second = first + 128;

  return {
    splice: (from, to, maxBytes) =>
      checked(splice(from, 0, to, 0, maxBytes, SPLICE_F_MOVE | SPLICE_F_NONBLOCK)),
    read: (descriptor, address, sizeBytes) => checked(read(descriptor, address, sizeBytes)),
    write: (descriptor, address, sizeBytes) => checked(write(descriptor, address, sizeBytes)),
    duplicate: (descriptor) => checked(fcntl(descriptor, F_DUPFD_CLOEXEC, LOWEST_DESCRIPTOR)),
    close: (descriptor) => void close(descriptor),
    endWriting: (descriptor) => checked(shutdown(descriptor, SHUT_WR)),
    resetOnClose: (descriptor, isReset) => {
      words[0] = isReset ? 1 : 0;
      words[1] = 0;
      setOption(descriptor, SOL_SOCKET, SO_LINGER, first, 8);
    },
    pendingError: (descriptor) => {
      words[0] = 0;
      words[32] = 4;
      return getOption(descriptor, SOL_SOCKET, SO_ERROR, first, second) < 0 ? koffi.errno() : (words[0] ?? 0);
    },
    makePipe: (sizeBytes) => {
      if (pipe2(first, CLOEXEC_NONBLOCK) < 0) return undefined;
      const pipe = { output: words[0] ?? -1, input: words[1] ?? -1 };
      // An unprivileged user may have only so many big ones; a small pipe is as correct.
      fcntl(pipe.input, F_SETPIPE_SZ, sizeBytes);
      return pipe;
    },
    makeWaker: () => checked(eventfd(0, CLOEXEC_NONBLOCK)),
    wake: (waker) => {
      words[0] = 1;
      words[1] = 0;
      write(waker, first, 8);
    },
    rest: (waker) => void read(waker, first, 8),
    createPoll: () => checked(epollCreate(EPOLL_CLOEXEC)),
    changePoll: (poll, operation, descriptor, event) =>
      checked(epollControl(poll, operation, descriptor, event)),
    waitPoll: (poll, events, maxEvents, timeoutMs) => checked(epollWait(poll, events, maxEvents, timeoutMs)),
    addressOf,
  };
}
