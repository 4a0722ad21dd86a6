import { isIP } from 'node:net';
import { constants } from 'node:os';
import type { KernelBuffer, Libc } from './libc.ts';
import { OPEN, SOCKET, SOCKET_OPTIONS, type SocketOption, UNREAD_BYTES } from './linux-constants.ts';

/** Calls for sockets. Setting, binding and ending give 0 when they have worked. */
export interface SocketCalls {
  /** A TCP socket that does not block. */
  readonly openSocket: (family: 4 | 6, protocol: number) => number;
  /** Two connected stream sockets of this machine that do not block; undefined when there are no descriptors left. */
  readonly makeSocketPair: () => SocketPair | undefined;
  /** Binds to an address literal. `::` takes IPv4 as well. */
  readonly bindSocket: (descriptor: number, host: string, port: number) => number;
  readonly setNumber: (descriptor: number, option: SocketOption, value: number) => number;
  readonly setLargeNumber: (descriptor: number, option: SocketOption, value: bigint) => number;
  readonly setText: (descriptor: number, option: SocketOption, value: string) => number;
  /** Bytes of an option that now begin `into`. */
  readonly readOption: (descriptor: number, option: SocketOption, into: KernelBuffer) => number;
  /** Whether the socket knows an option. */
  readonly hasOption: (descriptor: number, option: SocketOption) => boolean;
  /** A number of 32 bits; `undefined` where the option does not exist. */
  readonly readNumber: (descriptor: number, option: SocketOption) => number | undefined;
  /** A text; `undefined` where the option does not exist. */
  readonly readText: (descriptor: number, option: SocketOption) => string | undefined;
  /** The errno that waits on a socket, below 0; 0 for none. Asking takes it off the socket. */
  readonly takeError: (descriptor: number) => number;
  /** Whether the last `close` of this socket, also that of a process that dies, sends a reset instead of an end. */
  readonly resetOnClose: (descriptor: number, isReset: boolean) => void;
  /** Whether it does. */
  readonly isResetOnClose: (descriptor: number) => boolean;
  /** Bytes that came without a gap and wait to be read; `undefined` where the kernel does not say. */
  readonly unreadBytes: (descriptor: number) => number | undefined;
  /** Ends the writing direction of a connection. */
  readonly endWriting: (descriptor: number) => number;
}

export type SocketPair = readonly [one: number, other: number];

const FAMILY = { 4: SOCKET.ipv4, 6: SOCKET.ipv6 } as const;
const STREAM_SOCKET = SOCKET.stream | OPEN.nonBlock | OPEN.closeOnExec;
/** Size of struct sockaddr_in6; struct sockaddr_in has the first 16 of these bytes. */
const SOCKADDR_BYTES = { 4: 16, 6: 28 } as const;
const SOCKADDR_ADDRESS_OFFSET = { 4: 4, 6: 8 } as const;
/** Longest text of a name that is read or written. */
const TEXT_BYTES = 64;

export function bindSocketCalls({ bind, checked, buffer }: Libc): SocketCalls {
  const socket = bind('socket', 'int', 'int', 'int', 'int');
  const socketpair = bind('socketpair', 'int', 'int', 'int', 'int', 'intptr_t');
  const bindTo = bind('bind', 'int', 'int', 'intptr_t', 'uint');
  const setOption = bind('setsockopt', 'int', 'int', 'int', 'int', 'intptr_t', 'uint');
  const getOption = bind('getsockopt', 'int', 'int', 'int', 'int', 'intptr_t', 'intptr_t');
  const parseAddress = bind('inet_pton', 'int', 'int', 'str', 'intptr_t');
  const ioctl = bind('ioctl', 'int', 'int', 'ulong', 'intptr_t');
  const shutdown = bind('shutdown', 'int', 'int', 'int');
  const value = buffer(TEXT_BYTES);
  const length = buffer(8);

  const set = (descriptor: number, [level, name]: SocketOption, sizeBytes: number) =>
    checked(setOption(descriptor, level, name, value.address, sizeBytes));
  const readOption: SocketCalls['readOption'] = (descriptor, [level, name], into) => {
    length.bytes.setUint32(0, into.bytes.byteLength, true);
    const result = checked(getOption(descriptor, level, name, into.address, length.address));
    return result === 0 ? length.bytes.getUint32(0, true) : result;
  };

  return {
    openSocket: (family, protocol) => checked(socket(FAMILY[family], STREAM_SOCKET, protocol)),
    makeSocketPair: () => {
      if (socketpair(SOCKET.local, STREAM_SOCKET, 0, value.address) < 0) return undefined;
      return [value.bytes.getInt32(0, true), value.bytes.getInt32(4, true)];
    },
    bindSocket: (descriptor, host, port) => {
      const family = isIP(host) === 6 ? 6 : 4;
      for (let index = 0; index < SOCKADDR_BYTES[6]; index += 1) value.bytes.setUint8(index, 0);
      value.bytes.setUint16(0, FAMILY[family], true);
      value.bytes.setUint16(2, port, false);
      const place = value.address + SOCKADDR_ADDRESS_OFFSET[family];
      if (parseAddress(FAMILY[family], host, place) !== 1) return -constants.errno.EINVAL;
      return checked(bindTo(descriptor, value.address, SOCKADDR_BYTES[family]));
    },
    setNumber: (descriptor, option, number) => {
      value.bytes.setInt32(0, number, true);
      return set(descriptor, option, 4);
    },
    setLargeNumber: (descriptor, option, number) => {
      value.bytes.setBigUint64(0, number, true);
      return set(descriptor, option, 8);
    },
    setText: (descriptor, option, text) => {
      const { written } = new TextEncoder().encodeInto(
        text,
        new Uint8Array(value.bytes.buffer, 0, TEXT_BYTES),
      );
      return set(descriptor, option, written);
    },
    readOption,
    hasOption: (descriptor, option) => readOption(descriptor, option, value) >= 0,
    readNumber: (descriptor, option) =>
      readOption(descriptor, option, value) === 4 ? value.bytes.getInt32(0, true) : undefined,
    readText: (descriptor, option) => {
      const sizeBytes = readOption(descriptor, option, value);
      if (sizeBytes < 0) return undefined;
      const text = Buffer.from(value.bytes.buffer, 0, sizeBytes).toString('latin1');
      return text.split('\0', 1)[0];
    },
    takeError: (descriptor) => {
      value.bytes.setInt32(0, 0, true);
      const sizeBytes = readOption(descriptor, SOCKET_OPTIONS.error, value);
      return sizeBytes < 0 ? sizeBytes : -value.bytes.getInt32(0, true);
    },
    resetOnClose: (descriptor, isReset) => {
      // struct linger: whether to linger, and for how long; for no time at all means a reset.
      value.bytes.setInt32(0, isReset ? 1 : 0, true);
      value.bytes.setInt32(4, 0, true);
      set(descriptor, SOCKET_OPTIONS.linger, 8);
    },
    isResetOnClose: (descriptor) =>
      readOption(descriptor, SOCKET_OPTIONS.linger, value) === 8 &&
      value.bytes.getInt32(0, true) !== 0 &&
      value.bytes.getInt32(4, true) === 0,
    unreadBytes: (descriptor) =>
      ioctl(descriptor, UNREAD_BYTES, value.address) === 0 ? value.bytes.getInt32(0, true) : undefined,
    endWriting: (descriptor) => checked(shutdown(descriptor, SOCKET.shutWriting)),
  };
}
