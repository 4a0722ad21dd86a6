import { type ChainPromise, rateBpsOf, SEGMENT_BYTES, transferSeconds } from '@longhaul/shared';

/** Blocks after which a lane's own rate is known; before that, a burst may flatter it. */
export const PROVING_BLOCKS = 4;
/** A lane differs from the best of the others when its least block takes so many times as long. */
const LATER_THAN_OTHERS = 2;

/**
 * Goodput of a TCP sender, bits per second, from round-trip time and loss (RFC 3819 section 8.5.3, with a
 * timeout of five round trips).
 */
export function senderGoodputBps(
  rttMs: number,
  lossRate: number,
  segmentBytes: number = SEGMENT_BYTES,
): number {
  const rttSeconds = rttMs / 1000;
  const recovery = Math.sqrt(1.33 * lossRate);
  const timeouts = 5 * lossRate * (1 + 32 * lossRate ** 2) * Math.min(1, 3 * Math.sqrt(0.75 * lossRate));
  return rateBpsOf(segmentBytes, rttSeconds * (recovery + timeouts));
}

export interface LaneRecord {
  /** Measured goodput, bits per second; `undefined` before a block has come. */
  readonly rateBps: number | undefined;
  readonly blocks: number;
  readonly leastDelayMs: number;
  readonly promise: ChainPromise | undefined;
}

/**
 * Seconds after which a lane's least block is there, d + least block / R. R is what was measured and, until
 * that is proved, no more than what loss and round-trip time of the worst leg let a usual sender have.
 */
function leastBlockSeconds(lane: LaneRecord, leastBlockBytes: number): number {
  const { promise, rateBps = promise?.rateBps ?? Number.POSITIVE_INFINITY } = lane;
  const estimateBps = promise
    ? senderGoodputBps(promise.worstRttMs, promise.worstLossRate)
    : Number.POSITIVE_INFINITY;
  const likelyBps = lane.blocks >= PROVING_BLOCKS ? rateBps : Math.min(rateBps, estimateBps);
  return lane.leastDelayMs / 1000 + transferSeconds(leastBlockBytes, likelyBps);
}

/**
 * Whether a lane holds the others up: its least block comes so late that meanwhile they fill the buffer and wait,
 * d + least block / R > buffer / (y - x). Where the buffer is too small for all lanes alike, none of them is the cause.
 */
export function isDegraded(
  lane: LaneRecord,
  others: readonly LaneRecord[],
  { leastBlockBytes, bufferBytes }: { readonly leastBlockBytes: number; readonly bufferBytes: number },
): boolean {
  const othersBps = others.reduce((sum, { rateBps = 0 }) => sum + rateBps, 0);
  const lateSeconds = leastBlockSeconds(lane, leastBlockBytes);
  const measured = others.filter(({ rateBps }) => rateBps !== undefined);
  const soonestSeconds = Math.min(...measured.map((other) => leastBlockSeconds(other, leastBlockBytes)));
  return (
    lateSeconds > transferSeconds(bufferBytes, othersBps) && lateSeconds > LATER_THAN_OTHERS * soonestSeconds
  );
}
