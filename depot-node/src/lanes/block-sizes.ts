import { laneShares, nextBlockBytes } from './fast-law.ts';
import type { LaneMeter } from './lane-meter.ts';
import type { LanesConfig } from './lanes-config.ts';

/** Under plain control a block takes about so long: its request costs a round trip, a tenth of this on a far path. */
const PLAIN_BLOCK_MS = 1000;
/** The buffer for lanes of unlike speed holds twice what comes in one delay of the slowest (RFC 6182 section 5.3). */
const DELAYS_BUFFERED = 2;

/** From so many blocks before its end on, a lane's blocks are cut to fit what is left. */
const NEAR_THE_END_BLOCKS = 3;

interface SizedLane {
  readonly index: number;
  /** Of its next block, as the law says. */
  readonly sizeBytes: number;
  readonly meter: LaneMeter;
}

/** Size of a lane's first block; a lane that is tried again begins with the least. */
export function firstBlockBytes(config: LanesConfig, laneCount: number): number {
  const evenBytes = Math.floor(config.alphaBytes / laneCount);
  return Math.max(config.leastBlockBytes, Math.min(config.firstBlockBytes, evenBytes));
}

/** Size of a lane's next block after one has come; `lanes` are those in service, this one among them. */
export function adaptedBlockBytes(lane: SizedLane, lanes: readonly SizedLane[], config: LanesConfig): number {
  const { bytesPerMs, leastDelayMs } = lane.meter;
  if (bytesPerMs === undefined || leastDelayMs === undefined) return lane.sizeBytes;
  const sizeBytes =
    config.control === 'coupled'
      ? nextBlockBytes(
          { sizeBytes: lane.sizeBytes, bytesPerMs, leastDelayMs, share: shareOf(lane, lanes, config) },
          config,
        )
      : Math.min(bytesPerMs * PLAIN_BLOCK_MS, config.alphaBytes / lanes.length);
  return Math.max(config.leastBlockBytes, Math.floor(sizeBytes));
}

interface BusyLane extends SizedLane {
  /** Until it is free. */
  readonly busyMs: number;
}

/**
 * Size of the block to ask for now: what the law says, evened out so that this lane's last block is no scrap and all
 * lanes end together. One lane alone asks for as much as one request is worth; while others are away, for no longer
 * than until they are tried again.
 */
export function cutBytes(
  lane: BusyLane,
  lanes: readonly BusyLane[],
  uncutBytes: number,
  isAloneForGood: boolean,
  config: LanesConfig,
): number {
  const { sizeBytes, meter } = lane;
  if (lanes.length === 1) {
    const untilRetryBytes = Math.max(sizeBytes, (meter.bytesPerMs ?? 0) * config.retrySeconds * 1000);
    return Math.floor(
      isAloneForGood ? config.soloBlockBytes : Math.min(config.soloBlockBytes, untilRetryBytes),
    );
  }
  const ownBytes = portionBytes(lane, lanes, uncutBytes);
  const blocks = Math.max(1, Math.round(ownBytes / sizeBytes));
  // Far from the end it is the law's size, with as much again or less at the end.
  const evenBytes = blocks < NEAR_THE_END_BLOCKS ? ownBytes / blocks : sizeBytes;
  return Math.max(config.leastBlockBytes, Math.floor(Math.min(evenBytes, config.bufferBytes / lanes.length)));
}

/**
 * What of the rest is this lane's when all lanes are to end at one time t: each brings x (t - its busy time), together
 * they bring the rest.
 */
function portionBytes(lane: BusyLane, lanes: readonly BusyLane[], uncutBytes: number): number {
  const known = lanes.flatMap(({ meter: { bytesPerMs } }) => bytesPerMs ?? []);
  if (known.length === 0) return uncutBytes / lanes.length;
  const mean = known.reduce((sum, rate) => sum + rate, 0) / known.length;
  let broughtBytes = uncutBytes;
  let bytesPerMs = 0;
  for (const { busyMs, meter } of lanes.toSorted((one, other) => one.busyMs - other.busyMs)) {
    // One that is free only after the others have ended takes no part.
    if (bytesPerMs > 0 && busyMs >= broughtBytes / bytesPerMs) break;
    const rate = meter.bytesPerMs ?? mean;
    broughtBytes += rate * busyMs;
    bytesPerMs += rate;
  }
  return (lane.meter.bytesPerMs ?? mean) * (broughtBytes / bytesPerMs);
}

/**
 * How far ahead of the first missing byte blocks are asked for: twice what all lanes bring in the longest delay of one, at
 * least two blocks of each lane, at most `bufferBytes`. Plain control never waits before that; nor does the other while the first block is late.
 */
export function windowBytes(lanes: readonly SizedLane[], isHeadLate: boolean, config: LanesConfig): number {
  if (config.control === 'plain' || isHeadLate) return config.bufferBytes;
  const sum = lanes.reduce((total, { meter }) => total + (meter.bytesPerMs ?? 0), 0);
  const longestMs = Math.max(0, ...lanes.map(({ meter }) => meter.leastDelayMs ?? 0));
  const blocks = lanes.reduce((total, { sizeBytes }) => total + sizeBytes, 0);
  return Math.min(config.bufferBytes, Math.max(DELAYS_BUFFERED * sum * longestMs, 2 * blocks));
}

function shareOf(lane: SizedLane, lanes: readonly SizedLane[], { minShare }: LanesConfig): number {
  const shares = laneShares(
    lanes.map(({ meter }) => meter.bytesPerMs),
    minShare,
  );
  return shares[lanes.findIndex(({ index }) => index === lane.index)] ?? 1 / lanes.length;
}
