import { BITS_PER_BYTE } from '@longhaul/shared';
import type { MemoryCalls } from '../kernel/libc.ts';
import { SOCKET_OPTIONS } from '../kernel/linux-constants.ts';
import type { SocketCalls } from '../kernel/socket-calls.ts';

/**
 * What Linux knows of a TCP connection (struct tcp_info of linux/tcp.h). Fields that this kernel's struct does not
 * reach, or has no value for yet, are `undefined`. Counts and times run from the start of the connection.
 */
export interface TcpInfo {
  /** 1: established, 7: closed; the other numbers are those of the kernel. */
  readonly state: number;
  readonly rttMs: number | undefined;
  readonly minRttMs: number | undefined;
  /**
   * Of who receives, while bytes come: from an acknowledgement to the bytes that it lets go, with what waits
   * on their way. Nothing unless both ends send timestamps: else the kernel measures windows.
   */
  readonly receiverRttMs: number | undefined;
  readonly mssBytes: number | undefined;
  /** Segments sent and not acknowledged. */
  readonly unackedSegments: number | undefined;
  /** Since the last bytes of the other end came in. */
  readonly sinceDataMs: number | undefined;
  /** Since the last acknowledgement came in. */
  readonly sinceAckMs: number | undefined;
  readonly congestionWindowSegments: number | undefined;
  /**
   * The window that the other end offers now, and the largest that its scale can express; of a SYN cookie,
   * which loses the scale, nobody knows.
   */
  readonly offeredWindowBytes: number | undefined;
  readonly mostWindowBytes: number | undefined;
  /**
   * The sender has met no limit of the network yet. When it does, CUBIC and BBR alike set the threshold of
   * slow start, which has none before.
   */
  readonly isStartingUp: boolean;
  readonly retransmittedSegments: number | undefined;
  readonly sentSegments: number | undefined;
  /** Payload bytes, retransmissions included. */
  readonly sentBytes: number | undefined;
  readonly retransmittedBytes: number | undefined;
  /**
   * Payload bytes that the other end has without a gap, and segments that it has at all, with a gap before
   * them or not.
   */
  readonly ackedBytes: number | undefined;
  readonly deliveredSegments: number | undefined;
  readonly receivedBytes: number | undefined;
  /** Segments with bytes in them that came in, and of them those that came behind a gap. */
  readonly receivedSegments: number | undefined;
  readonly outOfOrderSegments: number | undefined;
  readonly notSentBytes: number | undefined;
  /** The fastest that this end lets it be. Bits per second, as all rates; `undefined` where it sets no bound. */
  readonly maxPacingBps: number | undefined;
  readonly deliveryRateBps: number | undefined;
  /** Whether the sender had too little to send while the delivery rate was measured. */
  readonly isAppLimited: boolean;
  /** Time with something to send; of it, held back by the receiver's window and by the send buffer. */
  readonly busyMs: number | undefined;
  readonly receiverLimitedMs: number | undefined;
  readonly bufferLimitedMs: number | undefined;
}

// `state` of a connection that is over: TCP_CLOSE of linux/tcp_states.h.
export const TCP_CLOSED = 7;

/** More than any kernel's struct tcp_info has so far. */
const TCP_INFO_BYTES = 512;
/** What `min_rtt` says before the first sample. */
const NO_MIN_RTT_US = 0xffff_ffff;
/** TCP_INFINITE_SSTHRESH of net/tcp.h. */
const NO_THRESHOLD = 0x7fff_ffff;
/**
 * TCPI_OPT_TIMESTAMPS, _SACK and _WSCALE of linux/tcp.h: what both ends agreed on. A connection without any
 * of them may have been made by a SYN cookie.
 */
const OPTIONS = { timestamps: 1, sack: 2, scale: 4 } as const;
/** The largest window that the header of a segment has room for, before it is scaled. */
const MOST_UNSCALED_BYTES = 65_535;

/** Decodes the first `sizeBytes` of a struct tcp_info, in the byte order of x64, arm64 and riscv64. */
export function decodeTcpInfo(bytes: DataView, sizeBytes: number): TcpInfo {
  const small = (offset: number) => (offset + 4 <= sizeBytes ? bytes.getUint32(offset, true) : undefined);
  const large = (offset: number) =>
    offset + 8 <= sizeBytes ? Number(bytes.getBigUint64(offset, true)) : undefined;
  const minRttUs = small(148);
  return {
    state: sizeBytes > 0 ? bytes.getUint8(0) : 0,
    rttMs: scaled(small(68) || undefined, 1 / 1000),
    minRttMs: scaled(minRttUs === NO_MIN_RTT_US ? undefined : minRttUs || undefined, 1 / 1000),
    receiverRttMs:
      sizeBytes > 5 && (bytes.getUint8(5) & OPTIONS.timestamps) !== 0
        ? scaled(small(92) || undefined, 1 / 1000)
        : undefined,
    mssBytes: small(16),
    unackedSegments: small(24),
    sinceDataMs: small(52),
    sinceAckMs: small(56),
    congestionWindowSegments: small(80),
    offeredWindowBytes: small(228),
    mostWindowBytes: sizeBytes > 6 ? mostWindowOf(bytes.getUint8(5), bytes.getUint8(6)) : undefined,
    isStartingUp: small(76) === NO_THRESHOLD,
    retransmittedSegments: small(100),
    sentSegments: small(156),
    sentBytes: large(200),
    retransmittedBytes: large(208),
    ackedBytes: large(120),
    deliveredSegments: small(192),
    receivedBytes: large(128),
    receivedSegments: small(152),
    outOfOrderSegments: small(224),
    notSentBytes: small(144),
    maxPacingBps: scaled(finiteRate(bytes, 112, sizeBytes), BITS_PER_BYTE),
    deliveryRateBps: scaled(large(160) || undefined, BITS_PER_BYTE),
    isAppLimited: sizeBytes > 7 && (bytes.getUint8(7) & 1) === 1,
    busyMs: scaled(large(168), 1 / 1000),
    receiverLimitedMs: scaled(large(176), 1 / 1000),
    bufferLimitedMs: scaled(large(184), 1 / 1000),
  };
}

/**
 * Whether anything came from the other end between two looks: a connection that rests knows nothing of a
 * route that has changed.
 */
export function hasAnswered(before: TcpInfo, after: TcpInfo): boolean {
  const hasGrown = (field: 'receivedBytes' | 'ackedBytes') => (after[field] ?? 0) > (before[field] ?? 0);
  return hasGrown('receivedBytes') || hasGrown('ackedBytes');
}

/** What reading a struct tcp_info takes. */
export type TcpInfoCalls = SocketCalls & MemoryCalls;

/** Reads the information of one connection after another; `undefined` for what is no TCP socket. */
export function createTcpInfoReader(kernel: TcpInfoCalls): (descriptor: number) => TcpInfo | undefined {
  const buffer = kernel.buffer(TCP_INFO_BYTES);
  return (descriptor) => {
    const sizeBytes = kernel.readOption(descriptor, SOCKET_OPTIONS.info, buffer);
    return sizeBytes > 0 ? decodeTcpInfo(buffer.bytes, sizeBytes) : undefined;
  };
}

function scaled(value: number | undefined, factor: number): number | undefined {
  return value === undefined ? undefined : value * factor;
}

/** The other end's scale is the lower half of its byte. */
function mostWindowOf(options: number, scales: number): number | undefined {
  if ((options & (OPTIONS.timestamps | OPTIONS.sack | OPTIONS.scale)) === 0) return undefined;
  const scale = options & OPTIONS.scale ? scales & 0xf : 0;
  return MOST_UNSCALED_BYTES * 2 ** scale;
}

/** A rate in bytes per second; all ones stand for none. */
function finiteRate(bytes: DataView, offset: number, sizeBytes: number): number | undefined {
  if (offset + 8 > sizeBytes) return undefined;
  const rate = bytes.getBigUint64(offset, true);
  return rate === 0xffff_ffff_ffff_ffffn || rate === 0n ? undefined : Number(rate);
}
