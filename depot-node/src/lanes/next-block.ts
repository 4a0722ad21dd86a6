import type { Block, BlockQueue } from './block-queue.ts';
import { cutBytes, windowBytes } from './block-sizes.ts';
import type { Lane } from './lane.ts';
import type { LanesConfig } from './lanes-config.ts';

/** A block is asked for again only when that brings it in two thirds of the time: estimates err. */
const LATE_FACTOR = 1.5;
/** A gain of less than this is not worth the connection that the loser gives up. */
const LEAST_GAIN_MS = 50;

/** The lanes that share a transfer now. */
export interface LanesAtWork {
  readonly lanes: readonly Lane[];
  /** There will never be more than the one. */
  readonly isAloneForGood: boolean;
}

/** What a free lane does next. */
export type Choice =
  /** `isLate`: another lane is fetching it, too slowly. */
  | { readonly is: 'fetch'; readonly block: Block; readonly isLate: boolean }
  /**
   * Nothing, until so much time has passed or so many bytes were delivered: before that it could choose
   * nothing else.
   */
  | { readonly is: 'wait'; readonly forMs: number; readonly forBytes: number };

/**
 * How soon a lane looks again that leaves what nobody fetches yet to faster ones: these may become slower
 * than they were.
 */
const LOOK_AGAIN_MS = 200;

/**
 * What a free lane fetches next: of what nobody fetches yet what it brings soonest of all lanes, as far as the reorder
 * buffer reaches; else the rest of a late block. Where memory is tight, only what the client gets next.
 */
export function chooseBlock(
  lane: Lane,
  atWork: LanesAtWork,
  queue: BlockQueue,
  config: LanesConfig,
  isTight = false,
): Choice {
  const { lanes } = atWork;
  const { open } = queue;
  const [first] = open;
  const never = Number.POSITIVE_INFINITY;
  if (isTight && first)
    return first.fetches === 0
      ? { is: 'fetch', block: first, isLate: false }
      : { is: 'wait', forMs: never, forBytes: never };
  const next = chooseAhead(lane, atWork, queue, config, isTight);
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

/**
 * The first block, where a busy lane would still bring the rest of it much sooner than the one that stands
 * still with it: everything waits for that, and no lane becomes idle before the reorder buffer is full.
 */
export function chooseLateFirst(lane: Lane, lanes: readonly Lane[], { open }: BlockQueue): Block | undefined {
  const [first] = open;
  const owner = first && ownerOf(first, lanes);
  const fetch = first && owner?.fetchOf(first);
  if (!fetch || !owner || owner === lane || first.fetches > 1) return undefined;
  const inMs = lane.forecast.inMs(first.endByte - first.nextByte);
  return inMs !== undefined && owner.forecast.untilRemainsMs(fetch, lateFromMs(inMs)) === 0
    ? first
    : undefined;
}

/** What a lane fetches next, or after what it fetches now: a late block is left to those that have nothing to do. */
export function chooseAhead(
  lane: Lane,
  { lanes, isAloneForGood }: LanesAtWork,
  queue: BlockQueue,
  config: LanesConfig,
  isTight = false,
): Choice {
  const { unaskedBytes, spanBytes, headByte, open } = queue;
  const never = Number.POSITIVE_INFINITY;
  if (unaskedBytes === 0) return { is: 'wait', forMs: never, forBytes: never };
  const inService = lanes.filter((other) => other === lane || !other.isRemoved);
  // One that waits for others takes no more at once than these may take over.
  const sizeBytes =
    lanes.length === 1 && !isAloneForGood
      ? lane.sizeBytes
      : cutBytes(lane, inService, unaskedBytes, isAloneForGood, config);
  const leftBytes = isTight ? 0 : othersBytes(lane, sizeBytes, inService, config);
  if (leftBytes >= unaskedBytes) return { is: 'wait', forMs: LOOK_AGAIN_MS, forBytes: never };
  const headLateInMs = untilUnusualMs(open[0], lanes);
  const reachBytes = queue.claimByte(leftBytes) + Math.min(sizeBytes, unaskedBytes - leftBytes) - headByte;
  // Before anything is known of a lane no window follows from it.
  const isKnown = lane.meter.bytesPerMs !== undefined;
  const aheadBytes = isKnown ? windowBytes(inService, headLateInMs === 0, config) : config.bufferBytes;
  // Of one lane alone nothing comes before its turn, and its blocks may be larger than the window.
  const missingBytes = inService.length === 1 ? spanBytes - config.bufferBytes / 2 : reachBytes - aheadBytes;
  if (reachBytes > sizeBytes && missingBytes > 0)
    return { is: 'wait', forMs: headLateInMs || never, forBytes: Math.min(missingBytes, spanBytes) };
  return { is: 'fetch', block: queue.claim(leftBytes, sizeBytes), isLate: false };
}

/**
 * What the other lanes would bring, in whole blocks, before this one has brought a block of this size: that is left to
 * them, so that blocks come about in the order of the file. The lane that would be through first leaves nothing.
 */
function othersBytes(lane: Lane, sizeBytes: number, lanes: readonly Lane[], config: LanesConfig): number {
  const inMs = lane.forecast.inMs(sizeBytes);
  if (inMs === undefined) return beginnersBytes(lane, lanes, config);
  let bytes = 0;
  for (const other of lanes) {
    const blockMs = other.forecast.flowMs(other.sizeBytes);
    if (other === lane || blockMs === undefined || !other.isAtWork) continue;
    bytes += other.sizeBytes * Math.max(0, Math.ceil((inMs - other.forecast.freeInMs) / blockMs) - 1);
  }
  return bytes < config.leastBlockBytes ? 0 : bytes;
}

/**
 * What those whose bytes come already bring beyond what they were asked for, before a lane that begins has
 * brought its first block; no more than half of what may be held, for a promise says nothing of what is true.
 */
function beginnersBytes(lane: Lane, lanes: readonly Lane[], { bufferBytes }: LanesConfig): number {
  let bytes = 0;
  for (const other of lanes) {
    const bytesPerMs = other.forecast.likelyBytesPerMs;
    if (other === lane || bytesPerMs === undefined || !other.forecast.isFlowing) continue;
    bytes += Math.max(0, bytesPerMs * lane.forecast.untilFirstMs - other.forecast.askedBytes);
  }
  return Math.floor(Math.min(bytes, bufferBytes / 2));
}

/** Until this idle lane would bring the rest of the block much sooner than the one that is fetching it; 0: it would. */
function untilLateMs(lane: Lane, block: Block, lanes: readonly Lane[]): number {
  const neededMs = lane.forecast.neededMs({ startByte: block.nextByte, endByte: block.endByte });
  const owner = ownerOf(block, lanes);
  const fetch = owner?.fetchOf(block);
  if (neededMs === undefined || block.fetches > 1 || !owner || !fetch) return Number.POSITIVE_INFINITY;
  return owner.forecast.untilRemainsMs(fetch, lateFromMs(neededMs));
}

/** What another lane brings in so much time is late when it remains longer than this. */
function lateFromMs(neededMs: number): number {
  return Math.max(LATE_FACTOR * neededMs, neededMs + LEAST_GAIN_MS);
}

/** Until a block has taken longer than its lane's blocks usually do; 0: it has. */
function untilUnusualMs(block: Block | undefined, lanes: readonly Lane[]): number {
  const owner = block && ownerOf(block, lanes);
  const fetch = block && owner?.fetchOf(block);
  if (!owner || !fetch) return Number.POSITIVE_INFINITY;
  const usualMs = (block.endByte - block.startByte) / (owner.meter.bytesPerMs ?? Number.POSITIVE_INFINITY);
  return Math.max(0, usualMs - fetch.watch.elapsedMs);
}

function ownerOf(block: Block, lanes: readonly Lane[]): Lane | undefined {
  return lanes.find((lane) => lane.fetchOf(block) !== undefined);
}
