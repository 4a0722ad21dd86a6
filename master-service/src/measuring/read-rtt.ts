import { createRequire } from 'node:module';
import type { Socket } from 'node:net';

// IPPROTO_TCP and TCP_INFO of linux/tcp.h.
const TCP_LEVEL = 6;
const TCP_INFO = 11;
/** Offsets in struct tcp_info: tcpi_rtt and tcpi_min_rtt, in microseconds. */
const RTT_AT = 68;
const MIN_RTT_AT = 148;
const INFO_BYTES = 152;
/** What the least round trip says before the first sample. */
const NO_SAMPLE_US = 0xffff_ffff;

/**
 * Binds what reads the least round trip of a connection from the kernel (`TCP_INFO`), in milliseconds. Where
 * there is no such kernel, or the optional dependency is missing, nothing can be read.
 */
export function createRttReader(
  platform: NodeJS.Platform = process.platform,
): (socket: Socket) => number | undefined {
  const readInfo = platform === 'linux' ? bindReadInfo() : undefined;
  return (socket) => {
    const descriptor = descriptorOf(socket);
    const info = descriptor === undefined ? undefined : readInfo?.(descriptor);
    if (!info) return undefined;
    const leastUs = info.readUInt32LE(MIN_RTT_AT);
    const rttUs = leastUs === NO_SAMPLE_US || leastUs === 0 ? info.readUInt32LE(RTT_AT) : leastUs;
    return rttUs > 0 ? rttUs / 1000 : undefined;
  };
}

type ReadInfo = (descriptor: number) => Buffer | undefined;

function bindReadInfo(): ReadInfo | undefined {
  try {
    const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
    const read = koffi
      .load(null)
      .func('getsockopt', 'int', ['int', 'int', 'int', 'void *', 'uint32_t *']) as unknown as (
      descriptor: number,
      level: number,
      option: number,
      into: Buffer,
      size: Uint32Array,
    ) => number;
    const into = Buffer.alloc(INFO_BYTES);
    const size = new Uint32Array(1);
    return (descriptor) => {
      size[0] = INFO_BYTES;
      return read(descriptor, TCP_LEVEL, TCP_INFO, into, size) === 0 && size[0] === INFO_BYTES
        ? into
        : undefined;
    };
  } catch {
    return undefined;
  }
}

/** Node tells it nowhere else. */
function descriptorOf(socket: Socket): number | undefined {
  const handle: unknown = Reflect.get(socket, '_handle');
  const descriptor: unknown = typeof handle === 'object' && handle ? Reflect.get(handle, 'fd') : undefined;
  return typeof descriptor === 'number' && descriptor >= 0 ? descriptor : undefined;
}
