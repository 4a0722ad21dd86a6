/** How fast a running job is, between two looks at it. */
export interface Pace {
  readonly atMs: number;
  readonly bytes: number;
  /** Bits per second since the look before; `undefined` after the first one. */
  readonly rateBps: number | undefined;
  /** Since when it has been slower than it may be. */
  readonly slowSinceMs: number | undefined;
}

/** What was promised of a job's way, and of the direct one, in bits per second. */
export interface Promised {
  readonly promisedBps?: number | undefined;
  readonly directBps?: number | undefined;
}

/** Between two looks at how fast a job is. */
export const PACE_LOOK_MS = 5_000;
/**
 * A look that comes so much later than the one before says nothing: the machine has slept meanwhile, or the
 * background, and nobody knows which.
 */
const LATE_LOOK_MS = 15_000;
/** A way that is slow for so long is slow: shorter dips are repaired by the depots, or are the network's. */
const SLOW_MS = 10_000;
/** The share of its promise below which a way is slow. */
const SLOW_SHARE = 0.5;
/** Bytes on disk are given up only for a way that ends in this share of the time that is left. */
const WORTH_SHARE = 0.5;

/** The rate below which a way is slow: half of what it promises, but never more than direct promises. */
export function slowBps({ promisedBps, directBps }: Promised): number {
  if (promisedBps === undefined || directBps === undefined) return 0;
  return Math.min(promisedBps * SLOW_SHARE, directBps);
}

/** The pace at this look, by the one before. */
export function paceAt(
  before: Pace | undefined,
  now: Pick<Pace, 'atMs' | 'bytes'>,
  promised: Promised,
): Pace {
  const elapsedMs = now.atMs - (before?.atMs ?? now.atMs);
  const isAnew = !before || now.bytes < before.bytes || elapsedMs > LATE_LOOK_MS || elapsedMs < 0;
  if (isAnew) return { ...now, rateBps: undefined, slowSinceMs: undefined };
  // Two events may lead to two looks at once.
  if (elapsedMs < PACE_LOOK_MS) return before;
  const rateBps = ((now.bytes - before.bytes) * 8_000) / elapsedMs;
  const isSlow = rateBps < slowBps(promised);
  return { ...now, rateBps, slowSinceMs: isSlow ? (before.slowSinceMs ?? before.atMs) : undefined };
}

/** Whether it has been slow for long enough that something must be done. */
export function isTooSlow({ slowSinceMs, atMs }: Pace): boolean {
  return slowSinceMs !== undefined && atMs - slowSinceMs >= SLOW_MS;
}

/** Seconds until the end at this pace; `Infinity` while nothing comes, or where nobody knows how much is to come. */
export function secondsLeft({ bytes, rateBps = 0 }: Pace, totalBytes: number | undefined): number {
  if (totalBytes === undefined || rateBps === 0) return Number.POSITIVE_INFINITY;
  return ((totalBytes - bytes) * 8) / rateBps;
}

/** Whether a new start, which takes so long, is worth the bytes on disk. */
export function isWorthNewStart(wholeSeconds: number, leftSeconds: number): boolean {
  return wholeSeconds <= leftSeconds * WORTH_SHARE;
}
