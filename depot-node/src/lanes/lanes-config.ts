import { KIB, MIB } from '@longhaul/shared';
import { seconds, unlessWrong } from '@longhaul/shared/service';
import * as z from 'zod';

/** `lanes.bufferBytes`: What one transfer may hold that came before its turn: two seconds of 64 Mbit/s. */
const DEFAULT_BUFFER_BYTES = 16_777_216;
/**
 * `lanes.totalBufferBytes`: What all transfers together may hold so: eight that need all of theirs, or
 * hundreds that need a part.
 */
const DEFAULT_TOTAL_BUFFER_BYTES = 134_217_728;
/**
 * `lanes.total`: Connections of lanes beside the first one of each transfer: a quarter of the transfers a
 * depot serves.
 */
export const DEFAULT_LANES_TOTAL = 500;
/**
 * `lanes.alphaBytes`: What lies out of order reaches the client late: of 8 MiB the drain at the end cost a
 * tenth of a 30 MiB download.
 */
const DEFAULT_ALPHA_BYTES = 2_621_440;
/** `lanes.gain`: Weight of the newest block in a lane's next size; the value of FAST TCP. */
const DEFAULT_GAIN = 0.5;
/**
 * `lanes.smoothing`: Weight of what was, in averages over blocks: a transfer has few of them, so the newest
 * counts as much as all before.
 */
const DEFAULT_SMOOTHING = 0.5;
/**
 * `lanes.minShare`: Pull of all shares to the middle: without it any split is a fixed point, and a lane can
 * be starved for good.
 */
const DEFAULT_MIN_SHARE = 0.05;
/**
 * `lanes.firstBlockBytes`: A fifth of a second of 10 Mbit/s: lanes show their rates soon, and the first bytes
 * in order are not waited for.
 */
const DEFAULT_FIRST_BLOCK_BYTES = 262_144;
/** `lanes.leastBlockBytes`: Smaller blocks spend more on their requests than on their bytes. */
const DEFAULT_LEAST_BLOCK_BYTES = 65_536;
/**
 * `lanes.soloBlockBytes`: One lane alone asks for this much at once: a round trip of 100 ms is 2 % of it at
 * 100 Mbit/s.
 */
const DEFAULT_SOLO_BLOCK_BYTES = 67_108_864;
/**
 * `lanes.perOrigin`: More than the 6 connections of a browser to one server, fewer than the 16 of download
 * managers.
 */
const DEFAULT_PER_ORIGIN = 8;
/** `lanes.retrySeconds`: A lane that was removed is tried again after this time, which then doubles. */
const DEFAULT_RETRY_SECONDS = 10;
/** `lanes.silenceSeconds`: A lane that sends nothing for so long while bytes are wanted has broken. */
const DEFAULT_SILENCE_SECONDS = 5;
/**
 * `lanes.tries`: Times that no lane is left, with less than a least block between them, after which the
 * transfer has broken.
 */
const DEFAULT_TRIES = 5;
/** `lanes.longestWaitSeconds`: Longer than this a client is not kept waiting by an origin that asks for patience. */
const DEFAULT_LONGEST_WAIT_SECONDS = 60;

const wholeBytes = (least: number) =>
  z.int('must be a whole number of bytes').min(least, `must be at least ${least} bytes`);
const portion = (preset: number) =>
  z.number().min(0, 'must not be negative').max(1, 'must be at most 1').default(preset);

/** `lanes` of a depot's configuration. */
export const lanesSchema = z
  .strictObject({
    /** How much a lane is asked for at once: by a law after MPFAST's, or the same for all. */
    control: z.enum(['coupled', 'plain']).default('coupled'),
    /** Whether lanes use the plan's other chains, too: that pays where these do not share their narrowest link. */
    spread: z.boolean().default(false),
    bufferBytes: wholeBytes(MIB).default(DEFAULT_BUFFER_BYTES),
    totalBufferBytes: wholeBytes(MIB)
      .max(1024 * MIB, 'must be at most 1 GiB: it is counted in 32 bits')
      .default(DEFAULT_TOTAL_BUFFER_BYTES),
    total: z.int().min(1).default(DEFAULT_LANES_TOTAL),
    /** Bytes that all lanes together ask for beyond what is on the way; no more than `bufferBytes`. */
    alphaBytes: wholeBytes(64 * KIB).optional(),
    gain: z.number().positive('must be more than 0').max(1, 'must be at most 1').default(DEFAULT_GAIN),
    smoothing: portion(DEFAULT_SMOOTHING),
    minShare: portion(DEFAULT_MIN_SHARE),
    firstBlockBytes: wholeBytes(16 * KIB).default(DEFAULT_FIRST_BLOCK_BYTES),
    leastBlockBytes: wholeBytes(4 * KIB).default(DEFAULT_LEAST_BLOCK_BYTES),
    soloBlockBytes: wholeBytes(MIB).default(DEFAULT_SOLO_BLOCK_BYTES),
    perOrigin: z.int().min(1).max(64).default(DEFAULT_PER_ORIGIN),
    retrySeconds: seconds(DEFAULT_RETRY_SECONDS),
    silenceSeconds: seconds(DEFAULT_SILENCE_SECONDS),
    tries: z.int().min(1).default(DEFAULT_TRIES),
    longestWaitSeconds: seconds(DEFAULT_LONGEST_WAIT_SECONDS),
  })
  .refine((lanes) => lanes.leastBlockBytes <= lanes.firstBlockBytes, {
    path: ['leastBlockBytes'],
    error: 'must not be more than firstBlockBytes',
    when: unlessWrong('leastBlockBytes', 'firstBlockBytes'),
  })
  .refine((lanes) => (lanes.alphaBytes ?? 0) <= lanes.bufferBytes, {
    path: ['alphaBytes'],
    error: 'must not be more than bufferBytes',
    when: unlessWrong('alphaBytes', 'bufferBytes'),
  })
  .refine((lanes) => lanes.leastBlockBytes * lanes.perOrigin <= lanes.bufferBytes, {
    path: ['bufferBytes'],
    error: 'must hold leastBlockBytes for each of perOrigin lanes',
    when: unlessWrong('leastBlockBytes', 'perOrigin', 'bufferBytes'),
  })
  .transform((lanes) => ({
    ...lanes,
    alphaBytes: lanes.alphaBytes ?? Math.min(DEFAULT_ALPHA_BYTES, lanes.bufferBytes),
  }));

export type LanesConfig = z.output<typeof lanesSchema>;
