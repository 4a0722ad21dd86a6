import { DEPOT_CONGESTION_CONTROL, type EndName } from '@longhaul/shared';
import * as z from 'zod';

/** Which neighbour a connection leads to: the client that connected, another depot, or an origin. */
export type LegClass = EndName | 'depot';

/** Leaves the choice of the congestion control to the operating system. */
export const SYSTEM_CONGESTION_CONTROL = 'system';

/**
 * `sockets.client.notSentLowatBytes`, `sockets.depot.notSentLowatBytes`: Keeps 4 ms of unsent bytes ready at
 * 1 Gbit/s; the rest waits where it can still take another way.
 */
const DEFAULT_NOT_SENT_LOWAT_BYTES = 524_288;
/** `sockets.origin.notSentLowatBytes`: An origin is sent requests only. */
const DEFAULT_ORIGIN_NOT_SENT_LOWAT_BYTES = 131_072;
/**
 * `sockets.client.userTimeoutSeconds`, `sockets.depot.userTimeoutSeconds`: Leaves a dead receiver to
 * `tcp_retries2` (about 15 min): the kernel takes one that pauses for dead, too.
 */
const DEFAULT_USER_TIMEOUT_SECONDS = 0;
/**
 * `sockets.origin.userTimeoutSeconds`: A request that an origin has not acknowledged by then is lost; nobody
 * pauses while reading one.
 */
const DEFAULT_ORIGIN_USER_TIMEOUT_SECONDS = 60;
/**
 * `sockets.client.keepAliveSeconds`, `sockets.depot.keepAliveSeconds`, `sockets.origin.keepAliveSeconds`:
 * Shorter than the minutes after which usual NATs forget a connection.
 */
const DEFAULT_KEEP_ALIVE_SECONDS = 30;
/** Linux takes no longer idle time before its first keep-alive probe. */
const MAX_KEEP_ALIVE_SECONDS = 32_767;
/** Less than a few segments would stop a connection for good. */
const MIN_BUFFER_BYTES = 16_384;
/** Linux counts a buffer twice in a signed 32-bit number. */
const MAX_BUFFER_BYTES = 1_073_741_823;
/** Slower than a modem is a mistake of the unit. */
const MIN_PACING_BPS = 64_000;
/** Three weeks: what milliseconds in a signed 32-bit number hold. */
const MAX_USER_TIMEOUT_SECONDS = 2_147_483;

/** Names as Linux allows them: TCP_CA_NAME_MAX is 16 with the final zero. */
const CONGESTION_NAME = /^[a-z0-9_-]{1,15}$/;

const bufferBytes = z
  .int('must be a whole number of bytes')
  .min(MIN_BUFFER_BYTES, `must be at least ${MIN_BUFFER_BYTES} bytes`)
  .max(MAX_BUFFER_BYTES, `must be at most ${MAX_BUFFER_BYTES} bytes`);

interface LegPreset {
  readonly congestionControl: string;
  readonly notSentLowatBytes: number;
  readonly userTimeoutSeconds: number;
}

function legShape(preset: LegPreset) {
  return {
    /** Asked of the kernel by name; where it is refused, the system's own stays, and that is reported. */
    congestionControl: z
      .string()
      .regex(
        CONGESTION_NAME,
        `must be the name of a congestion control, for example ${DEPOT_CONGESTION_CONTROL}, or system`,
      )
      .default(preset.congestionControl),
    /** Bytes the kernel takes beyond what it may send now; 0 leaves it to the system. */
    notSentLowatBytes: z
      .int('must be a whole number of bytes')
      .min(0, 'must not be negative')
      .max(MAX_BUFFER_BYTES, `must be at most ${MAX_BUFFER_BYTES} bytes`)
      .default(preset.notSentLowatBytes),
    /** After which unacknowledged bytes, or a window that stays closed, end the connection; 0: the system's rules. */
    userTimeoutSeconds: z
      .number()
      .min(0, 'must not be negative')
      .max(MAX_USER_TIMEOUT_SECONDS, `must be at most ${MAX_USER_TIMEOUT_SECONDS} seconds`)
      .default(preset.userTimeoutSeconds),
    /** Silence before the first keep-alive probe. */
    keepAliveSeconds: z
      .int('must be a whole number of seconds')
      .min(1, 'must be at least 1 second')
      .max(MAX_KEEP_ALIVE_SECONDS, `must be at most ${MAX_KEEP_ALIVE_SECONDS} seconds`)
      .default(DEFAULT_KEEP_ALIVE_SECONDS),
    noDelay: z.boolean().default(true),
    /** Payload bits per second that one connection may not exceed. */
    maxPacingBps: z
      .int()
      .min(MIN_PACING_BPS, `must be at least ${MIN_PACING_BPS} bits per second`)
      .optional(),
    /** Caps of kernel memory; setting one ends the kernel's own tuning of that buffer. */
    sendBufferBytes: bufferBytes.optional(),
    receiveBufferBytes: bufferBytes.optional(),
  };
}

const CLIENT_PRESET: LegPreset = {
  congestionControl: DEPOT_CONGESTION_CONTROL,
  notSentLowatBytes: DEFAULT_NOT_SENT_LOWAT_BYTES,
  userTimeoutSeconds: DEFAULT_USER_TIMEOUT_SECONDS,
};
const ORIGIN_PRESET: LegPreset = {
  // The origin's own choice counts for what it sends.
  congestionControl: SYSTEM_CONGESTION_CONTROL,
  notSentLowatBytes: DEFAULT_ORIGIN_NOT_SENT_LOWAT_BYTES,
  userTimeoutSeconds: DEFAULT_ORIGIN_USER_TIMEOUT_SECONDS,
};

/** The one table of socket options, by leg class. */
export const legTableSchema = z.strictObject({
  client: z.strictObject(legShape(CLIENT_PRESET)).prefault({}),
  depot: z
    .strictObject({
      ...legShape(CLIENT_PRESET),
      /** Multipath TCP to and from other depots that offer it; about three times the CPU for each byte. */
      mptcp: z.boolean().default(false),
    })
    .prefault({}),
  origin: z.strictObject(legShape(ORIGIN_PRESET)).prefault({}),
});
export type LegTable = z.output<typeof legTableSchema>;

/** The table of a depot whose configuration says nothing of sockets. */
export const DEFAULT_LEG_TABLE: LegTable = legTableSchema.parse({});

/** What a socket of one class is set to. */
export type LegOptions = LegTable['client'];

/**
 * The legs whose user timeout would end a download that its client has paused: a window that stays closed for longer
 * counts as dead for the kernel, although the peer answers every probe.
 */
export function legsThatForbidPauses(table: LegTable, stallSeconds: number): readonly LegClass[] {
  return (['client', 'depot'] as const).filter((legClass) => {
    const { userTimeoutSeconds } = table[legClass];
    return userTimeoutSeconds > 0 && userTimeoutSeconds < stallSeconds;
  });
}
