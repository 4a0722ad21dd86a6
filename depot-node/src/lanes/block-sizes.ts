import { laneShares, nextBlockBytes } from './fast-law.ts';
import type { LaneMeter } from './lane-meter.ts';
import type { LanesConfig } from './lanes-config.ts';

/** Under plain control a block takes about so long: its request costs a round trip, a tenth of this on a far path. */
const PLAIN_BLOCK_MS = 1000;
/** The buffer for lanes of unlike speed holds twice what comes in one delay of the slowest (RFC 6182 section 5.3). */
const DELAYS_BUFFERED = 2;

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

/**
 * Size of the block to ask for now: what the law says, but a share of what is left when that is less, so that all lanes
 * end together. One lane alone asks for as much as one request is worth; while others are away, for no longer than
 * until they are tried again.
 */
export function cutBytes(
  lane: SizedLane,
  lanes: readonly SizedLane[],
  uncutBytes: number,
  isAloneForGood: boolean,
  config: LanesConfig,
): number {
  const { bytesPerMs = 0, leastDelayMs = 0 } = lane.meter;
  if (lanes.length === 1) {
    const untilRetryBytes = Math.max(lane.sizeBytes, bytesPerMs * config.retrySeconds * 1000);
    return Math.floor(
      isAloneForGood ? config.soloBlockBytes : Math.min(config.soloBlockBytes, untilRetryBytes),
    );
  }
  const fairBytes = Math.max(uncutBytes * shareOf(lane, lanes, config), bytesPerMs * leastDelayMs);
  const mostBytes = config.bufferBytes / lanes.length;
  return Math.max(config.leastBlockBytes, Math.floor(Math.min(lane.sizeBytes, fairBytes, mostBytes)));
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
