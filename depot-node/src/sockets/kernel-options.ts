import { closeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isIP } from 'node:net';

/** The calls of Linux that Node does not offer for sockets. Failures are errno numbers, never exceptions. */
export interface SocketKernel {
  /** A TCP socket that does not block; the negative errno where there is none. */
  readonly open: (family: 4 | 6, protocol: number) => number;
  /** Binds to an address literal; 0 or the errno. `::` takes IPv4 as well. */
  readonly bind: (descriptor: number, host: string, port: number) => number;
  /** Set an option; 0 or the errno. */
  readonly setNumber: (descriptor: number, option: SocketOption, value: number) => number;
  readonly setLargeNumber: (descriptor: number, option: SocketOption, value: bigint) => number;
  readonly setText: (descriptor: number, option: SocketOption, value: string) => number;
  /** Bytes of an option that now begin `into`, or the negative errno.  */
  readonly read: (descriptor: number, option: SocketOption, into: KernelBuffer) => number;
  /** Whether the socket knows an option. */
  readonly has: (descriptor: number, option: SocketOption) => boolean;
  /** A number of 32 bits; `undefined` where the option does not exist. */
  readonly readNumber: (descriptor: number, option: SocketOption) => number | undefined;
  /** A text; `undefined` where the option does not exist. */
  readonly readText: (descriptor: number, option: SocketOption) => string | undefined;
  /** Memory with a fixed address, for `read`. */
  readonly buffer: (sizeBytes: number) => KernelBuffer;
  /** A second descriptor of the same socket, or the negative errno; close it with `close`. */
  readonly duplicate: (descriptor: number) => number;
  readonly close: (descriptor: number) => void;
}

export interface KernelBuffer {
  readonly bytes: DataView;
  readonly address: number;
}

/** Level and name of an option. */
export type SocketOption = readonly [level: number, name: number];

/** From asm-generic/socket.h, linux/tcp.h and linux/mptcp.h; the same on x64, arm64 and riscv64. */
export const SOCKET_OPTIONS = {
  reuseAddress: [1, 2],
  sendBuffer: [1, 7],
  receiveBuffer: [1, 8],
  keepAlive: [1, 9],
  maxPacingRate: [1, 47],
  bufferLock: [1, 72],
  noDelay: [6, 1],
  keepIdle: [6, 4],
  keepInterval: [6, 5],
  keepCount: [6, 6],
  info: [6, 11],
  congestion: [6, 13],
  userTimeout: [6, 18],
  notSentLowat: [6, 25],
  ipv6Only: [41, 26],
  mptcpInfo: [284, 1],
} as const satisfies Record<string, SocketOption>;

export const TCP_PROTOCOL = 6;
export const MPTCP_PROTOCOL = 262;

const FAMILY = { 4: 2, 6: 10 } as const;
const SOCK_STREAM_NONBLOCK_CLOEXEC = 0o1 | 0o4000 | 0o2000000;
const F_DUPFD_CLOEXEC = 1030;
const EINVAL = 22;
/** Size of struct sockaddr_in6; struct sockaddr_in has the first 16 of these bytes. */
const SOCKADDR_BYTES = { 4: 16, 6: 28 } as const;
const SOCKADDR_ADDRESS_OFFSET = { 4: 4, 6: 8 } as const;
/** Longest text of a name that is read or written. */
const TEXT_BYTES = 64;

export type KernelAccess =
  | { readonly kernel: SocketKernel }
  | { readonly kernel: undefined; readonly reason: string };

/** Binds the calls; tells why where that is impossible: not Linux, or koffi is missing or does not load. */
export function openSocketKernel(platform: NodeJS.Platform = process.platform): KernelAccess {
  if (platform !== 'linux') return { kernel: undefined, reason: `${platform} is not Linux` };
  try {
    const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
    return { kernel: bindCalls(koffi) };
  } catch (failure) {
    const text = failure instanceof Error ? failure.message : String(failure);
    return { kernel: undefined, reason: `koffi does not load: ${text.split('\n', 1)[0]}` };
  }
}

function bindCalls(koffi: typeof import('koffi')): SocketKernel {
  const libc = koffi.load(null);
  const socket = libc.func('socket', 'int', ['int', 'int', 'int']);
  const bindTo = libc.func('bind', 'int', ['int', 'intptr_t', 'uint']);
  const setOption = libc.func('setsockopt', 'int', ['int', 'int', 'int', 'intptr_t', 'uint']);
  const getOption = libc.func('getsockopt', 'int', ['int', 'int', 'int', 'intptr_t', 'intptr_t']);
  const parseAddress = libc.func('inet_pton', 'int', ['int', 'str', 'intptr_t']);
  const control = libc.func('fcntl', 'int', ['int', 'int', 'long']);
  const errno = () => koffi.errno();
  const failureOf = (result: number) => (result === 0 ? 0 : errno());

  const buffer = (sizeBytes: number): KernelBuffer => {
    const memory = new ArrayBuffer(sizeBytes);
    return { bytes: new DataView(memory), address: Number(koffi.address(memory)) };
  };
  const value = buffer(TEXT_BYTES);
  const length = buffer(8);

  const read = (descriptor: number, [level, name]: SocketOption, into: KernelBuffer) => {
    length.bytes.setUint32(0, into.bytes.byteLength, true);
    const result: number = getOption(descriptor, level, name, into.address, length.address);
    return result === 0 ? length.bytes.getUint32(0, true) : -errno();
  };

  return {
    open: (family, protocol) => {
      const descriptor: number = socket(FAMILY[family], SOCK_STREAM_NONBLOCK_CLOEXEC, protocol);
      return descriptor >= 0 ? descriptor : -errno();
    },
    bind: (descriptor, host, port) => {
      const family = isIP(host) === 6 ? 6 : 4;
      for (let index = 0; index < SOCKADDR_BYTES[6]; index += 1) value.bytes.setUint8(index, 0);
      value.bytes.setUint16(0, FAMILY[family], true);
      value.bytes.setUint16(2, port, false);
      const place = value.address + SOCKADDR_ADDRESS_OFFSET[family];
      if (parseAddress(FAMILY[family], host, place) !== 1) return EINVAL;
      return failureOf(bindTo(descriptor, value.address, SOCKADDR_BYTES[family]));
    },
    setNumber: (descriptor, [level, name], number) => {
      value.bytes.setInt32(0, number, true);
      return failureOf(setOption(descriptor, level, name, value.address, 4));
    },
    setLargeNumber: (descriptor, [level, name], number) => {
      value.bytes.setBigUint64(0, number, true);
      return failureOf(setOption(descriptor, level, name, value.address, 8));
    },
    setText: (descriptor, [level, name], text) => {
      const { written } = new TextEncoder().encodeInto(text, new Uint8Array(value.bytes.buffer));
      return failureOf(setOption(descriptor, level, name, value.address, written));
    },
    read,
    has: (descriptor, option) => read(descriptor, option, value) >= 0,
    readNumber: (descriptor, option) =>
      read(descriptor, option, value) === 4 ? value.bytes.getInt32(0, true) : undefined,
    readText: (descriptor, option) => {
      const sizeBytes = read(descriptor, option, value);
      if (sizeBytes < 0) return undefined;
      const text = Buffer.from(value.bytes.buffer, 0, sizeBytes).toString('latin1');
      return text.split('\0', 1)[0];
    },
    buffer,
    duplicate: (descriptor) => {
      const copy: number = control(descriptor, F_DUPFD_CLOEXEC, 3);
      return copy >= 0 ? copy : -errno();
    },
    close: (descriptor) => closeSync(descriptor),
  };
}
