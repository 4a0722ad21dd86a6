import { endianness } from 'node:os';

/** The calls of Linux that source and sink live on; addresses are numbers, nothing is made per call. */
export interface TrafficKernel {
  /** A listening IPv4 socket that never blocks. */
  readonly listen: (host: string, port: number) => number;
  /** Where a listening socket listens. */
  readonly portOf: (listener: number) => number;
  /** The next connection that waits, without blocking; below 0 when there is none. */
  readonly accept: (listener: number) => number;
  /** A connection that is under way, from one of this host's addresses. */
  readonly connect: (from: string, host: string, port: number) => number;
  /** A file in memory with these bytes. */
  readonly memoryFile: (content: Buffer) => number;
  /** Sends bytes of a file from an offset, in the kernel alone; bytes taken, or below 0. */
  readonly sendFile: (socket: number, file: number, offset: number, sizeBytes: number) => number;
  readonly send: (socket: number, bytes: Buffer) => number;
  /** Bytes received into the buffer, 0 at the end, below 0 when none wait. */
  readonly receive: (socket: number, into: Buffer) => number;
  /** The same without looking at them: `MSG_TRUNC` of tcp(7), at most `sizeBytes`. */
  readonly discard: (socket: number, sizeBytes: number) => number;
  readonly close: (descriptor: number) => void;
  readonly createPoll: () => Poll;
  /** Of the call that has just failed. */
  readonly errno: () => number;
}

/** An epoll set, level-triggered. */
export interface Poll {
  readonly add: (descriptor: number, wants: number) => void;
  readonly change: (descriptor: number, wants: number) => void;
  readonly remove: (descriptor: number) => void;
  /** Waits for up to `timeoutMs` and calls back with each descriptor that is ready; how many there were. */
  readonly wait: (timeoutMs: number, onReady: (descriptor: number, is: number) => void) => number;
}

/** Bits of `wants` and `is`, from sys/epoll.h. */
export const READABLE = 0x001;
export const WRITABLE = 0x004;

/** From asm-generic/errno.h. */
export const EAGAIN = 11;
/** From sys/socket.h and netinet/in.h. */
const AF_INET = 2;
const SOCKADDR_BYTES = 16;
const SOCK_STREAM_NONBLOCK_CLOEXEC = 1 | 0o4000 | 0o2000000;
const SOCK_NONBLOCK_CLOEXEC = 0o4000 | 0o2000000;
const EPOLL_CLOEXEC = 0o2000000;
const SOL_SOCKET = 1;
const SO_REUSEADDR = 2;
const IPPROTO_TCP = 6;
const TCP_NODELAY = 1;
const MSG_TRUNC = 0x20;
const MSG_NOSIGNAL = 0x4000;
const EINPROGRESS = 115;
/** More than the flows of any run, so that nobody's connection waits for a second SYN. */
const BACKLOG = 4096;
/** From sys/epoll.h; the event is packed on x86 alone. */
const EPOLL_CTL = { add: 1, remove: 2, change: 3 } as const;
const EVENT_LAYOUT = process.arch === 'x64' ? { sizeBytes: 12, dataAt: 4 } : { sizeBytes: 16, dataAt: 8 };
/** Events taken in one call. */
const EVENTS = 256;

/** Binds the calls. Rejects when the optional dependency koffi is missing or has no binary for this machine. */
export async function openTrafficKernel(): Promise<TrafficKernel> {
  if (endianness() !== 'LE') throw new Error('the traffic programs know little-endian machines only');
  const { default: koffi } = await import('koffi');
  const libc = koffi.load(null);
  const addressOf = (bytes: Uint8Array) => Number(koffi.address(bytes.buffer)) + bytes.byteOffset;
  const socket = libc.func('socket', 'int', ['int', 'int', 'int']);
  const bind = libc.func('bind', 'int', ['int', 'intptr_t', 'uint']);
  const listen = libc.func('listen', 'int', ['int', 'int']);
  const getName = libc.func('getsockname', 'int', ['int', 'intptr_t', 'intptr_t']);
  const accept4 = libc.func('accept4', 'int', ['int', 'intptr_t', 'intptr_t', 'int']);
  const connect = libc.func('connect', 'int', ['int', 'intptr_t', 'uint']);
  const setOption = libc.func('setsockopt', 'int', ['int', 'int', 'int', 'intptr_t', 'uint']);
  const memfdCreate = libc.func('memfd_create', 'int', ['str', 'uint']);
  const write = libc.func('write', 'intptr_t', ['int', 'intptr_t', 'size_t']);
  const sendfile = libc.func('sendfile', 'intptr_t', ['int', 'int', 'intptr_t', 'size_t']);
  const send = libc.func('send', 'intptr_t', ['int', 'intptr_t', 'size_t', 'int']);
  const recv = libc.func('recv', 'intptr_t', ['int', 'intptr_t', 'size_t', 'int']);
  const close = libc.func('close', 'int', ['int']);
  const epollCreate = libc.func('epoll_create1', 'int', ['int']);
  const epollControl = libc.func('epoll_ctl', 'int', ['int', 'int', 'int', 'intptr_t']);
  const epollWait = libc.func('epoll_wait', 'int', ['int', 'intptr_t', 'int', 'int']);

  const scratch = Buffer.alloc(128);
  const scratchAddress = addressOf(scratch);
  const check = (result: number, what: string): number => {
    if (result < 0) throw new Error(`${what} failed: errno ${koffi.errno()}`);
    return result;
  };
  /** struct sockaddr_in. */
  const writeAddress = (host: string, port: number) => {
    scratch.fill(0, 0, SOCKADDR_BYTES);
    scratch.writeUInt16LE(AF_INET, 0);
    scratch.writeUInt16BE(port, 2);
    host.split('.').forEach((part, index) => {
      scratch.writeUInt8(Number(part), 4 + index);
    });
  };
  const setFlag = (descriptor: number, level: number, option: number) => {
    scratch.writeInt32LE(1, 0);
    check(setOption(descriptor, level, option, scratchAddress, 4), 'setsockopt');
  };
  const openSocket = () => check(socket(AF_INET, SOCK_STREAM_NONBLOCK_CLOEXEC, 0), 'socket');

  const createPoll = (): Poll => {
    const set = check(epollCreate(EPOLL_CLOEXEC), 'epoll_create1');
    const events = Buffer.alloc(EVENTS * EVENT_LAYOUT.sizeBytes);
    const eventsAddress = addressOf(events);
    const control = (operation: number, descriptor: number, wants: number) => {
      scratch.writeUInt32LE(wants, 0);
      scratch.writeInt32LE(descriptor, EVENT_LAYOUT.dataAt);
      check(epollControl(set, operation, descriptor, scratchAddress), 'epoll_ctl');
    };
    return {
      add: (descriptor, wants) => control(EPOLL_CTL.add, descriptor, wants),
      change: (descriptor, wants) => control(EPOLL_CTL.change, descriptor, wants),
      remove: (descriptor) => control(EPOLL_CTL.remove, descriptor, 0),
      wait: (timeoutMs, onReady) => {
        const count = epollWait(set, eventsAddress, EVENTS, timeoutMs);
        for (let at = 0; at < count; at += 1) {
          const offset = at * EVENT_LAYOUT.sizeBytes;
          onReady(events.readInt32LE(offset + EVENT_LAYOUT.dataAt), events.readUInt32LE(offset));
        }
        return count;
      },
    };
  };

  return {
    listen: (host, port) => {
      const descriptor = openSocket();
      setFlag(descriptor, SOL_SOCKET, SO_REUSEADDR);
      writeAddress(host, port);
      check(bind(descriptor, scratchAddress, SOCKADDR_BYTES), `bind to ${host}:${port}`);
      check(listen(descriptor, BACKLOG), 'listen');
      return descriptor;
    },
    portOf: (listener) => {
      // The length that goes in and out stands behind the address.
      scratch.writeUInt32LE(SOCKADDR_BYTES, SOCKADDR_BYTES);
      check(getName(listener, scratchAddress, scratchAddress + SOCKADDR_BYTES), 'getsockname');
      return scratch.readUInt16BE(2);
    },
    accept: (listener) => {
      const descriptor = accept4(listener, 0, 0, SOCK_NONBLOCK_CLOEXEC);
      if (descriptor >= 0) setFlag(descriptor, IPPROTO_TCP, TCP_NODELAY);
      return descriptor;
    },
    connect: (from, host, port) => {
      const descriptor = openSocket();
      setFlag(descriptor, IPPROTO_TCP, TCP_NODELAY);
      writeAddress(from, 0);
      check(bind(descriptor, scratchAddress, SOCKADDR_BYTES), `bind to ${from}`);
      writeAddress(host, port);
      if (connect(descriptor, scratchAddress, SOCKADDR_BYTES) < 0 && koffi.errno() !== EINPROGRESS)
        throw new Error(`connect to ${host}:${port} failed: errno ${koffi.errno()}`);
      return descriptor;
    },
    memoryFile: (content) => {
      const descriptor = check(memfdCreate('body', 1), 'memfd_create');
      for (let done = 0; done < content.length; )
        done += check(write(descriptor, addressOf(content) + done, content.length - done), 'write');
      return descriptor;
    },
    sendFile: (to, file, offset, sizeBytes) => {
      scratch.writeBigInt64LE(BigInt(offset), 0);
      return sendfile(to, file, scratchAddress, sizeBytes);
    },
    send: (to, bytes) => send(to, addressOf(bytes), bytes.length, MSG_NOSIGNAL),
    receive: (from, into) => recv(from, addressOf(into), into.length, 0),
    discard: (from, sizeBytes) => recv(from, scratchAddress, sizeBytes, MSG_TRUNC),
    close: (descriptor) => void close(descriptor),
    createPoll,
    errno: () => koffi.errno(),
  };
}
