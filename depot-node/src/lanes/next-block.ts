import type { Block, BlockQueue } from './block-queue.ts';
import { cutBytes, windowBytes } from './block-sizes.ts';
import type { Lane } from './lane.ts';
import type { LanesConfig } from './lanes-config.ts';

/** A block is asked for again only when that brings it in two thirds of the time: estimates err. */
const LATE_FACTOR = 1.5;
/** A gain of less than this is not worth the connection that the loser gives up. */
const LEAST_GAIN_MS = 50;

interface Chosen {
  readonly block: Block;
  /** Another lane is fetching it, too slowly. */
  readonly isLate: boolean;
}

/**
 * What a free lane fetches next: what a lane that broke has left, else the next piece of the file as far as the reorder
 * buffer reaches, else the rest of a late block. `undefined`: nothing now.
 */
export function chooseBlock(
  lane: Lane,
  lanes: readonly Lane[],
  queue: BlockQueue,
  config: LanesConfig,
): Chosen | undefined {
  const { open } = queue;
  const free = open.find(({ fetches }) => fetches === 0) ?? cutFor(lane, lanes, queue, config);
  if (free) return { block: free, isLate: false };
  // Before the end only the first block holds the stream up.
  const late = (queue.uncutBytes === 0 ? open : open.slice(0, 1)).find((block) =>
    isLateFor(lane, block, lanes),
  );
  return late && { block: late, isLate: true };
}

function cutFor(
  lane: Lane,
  lanes: readonly Lane[],
  queue: BlockQueue,
  config: LanesConfig,
): Block | undefined {
  const { uncutBytes, spanBytes, open } = queue;
  if (uncutBytes === 0) return undefined;
  const inService = lanes.filter((other) => other === lane || !other.isRemoved);
  const sizeBytes = cutBytes(lane, inService, uncutBytes, lanes.length === 1, config);
  const roomBytes = windowBytes(inService, isLate(open[0], lanes), config) - spanBytes;
  if (spanBytes > 0 && roomBytes < Math.min(sizeBytes, uncutBytes)) return undefined;
  return queue.cut(sizeBytes);
}

/** Whether this idle lane would bring the rest of the block much sooner than the one that is fetching it. */
function isLateFor(lane: Lane, block: Block, lanes: readonly Lane[]): boolean {
  const neededMs = lane.neededMs({ startByte: block.nextByte, endByte: block.endByte });
  const owner = ownerOf(block, lanes);
  if (neededMs === undefined || block.fetches > 1 || !owner?.fetch) return false;
  return owner.remainingMs(owner.fetch) > Math.max(LATE_FACTOR * neededMs, neededMs + LEAST_GAIN_MS);
}

/** Whether a block takes longer than its lane's blocks usually do. */
function isLate(block: Block | undefined, lanes: readonly Lane[]): boolean {
  const owner = block && ownerOf(block, lanes);
  if (!block || !owner?.fetch) return false;
  const usualMs = (block.endByte - block.startByte) / (owner.meter.bytesPerMs ?? Number.POSITIVE_INFINITY);
  return owner.fetch.watch.elapsedMs > usualMs;
}

function ownerOf(block: Block, lanes: readonly Lane[]): Lane | undefined {
  return lanes.find(({ fetch }) => fetch?.block === block);
}
