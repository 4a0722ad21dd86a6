import type { Block, BlockQueue } from './block-queue.ts';
import { cutBytes, windowBytes } from './block-sizes.ts';
import type { Lane } from './lane.ts';
import type { LanesConfig } from './lanes-config.ts';

/** A block is asked for again only when that brings it in two thirds of the time: estimates err. */
const LATE_FACTOR = 1.5;
/** A gain of less than this is not worth the connection that the loser gives up. */
const LEAST_GAIN_MS = 50;

/** What a free lane does next. */
export type Choice =
  /** `isLate`: another lane is fetching it, too slowly. */
  | { readonly is: 'fetch'; readonly block: Block; readonly isLate: boolean }
  /** Nothing, until so much time has passed or so many bytes were delivered: before that it could choose nothing else. */
  | { readonly is: 'wait'; readonly forMs: number; readonly forBytes: number };

/**
 * What a free lane fetches next: what a lane that broke has left, else the next piece of the file as far as the reorder
 * buffer reaches, else the rest of a late block. Where memory is tight, only what the client gets next.
 */
export function chooseBlock(
  lane: Lane,
  lanes: readonly Lane[],
  queue: BlockQueue,
  config: LanesConfig,
  isTight = false,
): Choice {
  const { open } = queue;
  const left = (isTight ? open.slice(0, 1) : open).find(({ fetches }) => fetches === 0);
  if (left) return { is: 'fetch', block: left, isLate: false };
  const never = Number.POSITIVE_INFINITY;
  if (isTight && open.length > 0) return { is: 'wait', forMs: never, forBytes: never };
  const next = cutFor(lane, lanes, queue, config);
  if (next.is === 'fetch') return next;
  // Before the end only the first block holds the stream up.
  const candidates = queue.uncutBytes === 0 ? open : open.slice(0, 1);
  let { forMs } = next;
  for (const block of candidates) {
    const lateInMs = untilLateMs(lane, block, lanes);
    if (lateInMs === 0) return { is: 'fetch', block, isLate: true };
    forMs = Math.min(forMs, lateInMs);
  }
  return { ...next, forMs };
}

function cutFor(lane: Lane, lanes: readonly Lane[], queue: BlockQueue, config: LanesConfig): Choice {
  const { uncutBytes, spanBytes, open } = queue;
  const never = Number.POSITIVE_INFINITY;
  if (uncutBytes === 0) return { is: 'wait', forMs: never, forBytes: never };
  const inService = lanes.filter((other) => other === lane || !other.isRemoved);
  const sizeBytes = cutBytes(lane, inService, uncutBytes, lanes.length === 1, config);
  const headLateInMs = untilUnusualMs(open[0], lanes);
  const roomBytes = windowBytes(inService, headLateInMs === 0, config) - spanBytes;
  const missingBytes = Math.min(sizeBytes, uncutBytes) - roomBytes;
  if (spanBytes > 0 && missingBytes > 0)
    return { is: 'wait', forMs: headLateInMs || never, forBytes: missingBytes };
  return { is: 'fetch', block: queue.cut(sizeBytes), isLate: false };
}

/** Until this idle lane would bring the rest of the block much sooner than the one that is fetching it; 0: it would. */
function untilLateMs(lane: Lane, block: Block, lanes: readonly Lane[]): number {
  const neededMs = lane.neededMs({ startByte: block.nextByte, endByte: block.endByte });
  const owner = ownerOf(block, lanes);
  if (neededMs === undefined || block.fetches > 1 || !owner?.fetch) return Number.POSITIVE_INFINITY;
  return owner.untilRemainsMs(owner.fetch, Math.max(LATE_FACTOR * neededMs, neededMs + LEAST_GAIN_MS));
}

/** Until a block has taken longer than its lane's blocks usually do; 0: it has. */
function untilUnusualMs(block: Block | undefined, lanes: readonly Lane[]): number {
  const owner = block && ownerOf(block, lanes);
  if (!block || !owner?.fetch) return Number.POSITIVE_INFINITY;
  const usualMs = (block.endByte - block.startByte) / (owner.meter.bytesPerMs ?? Number.POSITIVE_INFINITY);
  return Math.max(0, usualMs - owner.fetch.watch.elapsedMs);
}

function ownerOf(block: Block, lanes: readonly Lane[]): Lane | undefined {
  return lanes.find(({ fetch }) => fetch?.block === block);
}
