import { bpsOf } from '@longhaul/shared';

export interface SlowOptions {
  /** A rate below this share of what the plan promised is too slow. */
  readonly share: number;
  /** For how long it must be so. */
  readonly seconds: number;
}

interface SlowWatchInit extends SlowOptions {
  /** Rate promised of this way, bits per second. */
  readonly promisedBps: number;
  /** Best rate promised of another way, bits per second. */
  readonly alternativeBps: number;
  /** Connections that share what a way promises, this one among them: it is held to its share alone. */
  readonly sharedBy: () => number;
  /** Bytes that have come so far. */
  readonly bytes: () => number;
  /** Whether the client, or its connection, is what holds the transfer up. */
  readonly isClientBehind: () => boolean;
  /** Told what has come meanwhile, bits per second. */
  readonly onSlow: (meanBps: number) => void;
}

/** Often enough to tell who holds whom up. */
const LOOK_MS = 1000;
/** Slow start of all legs of a far chain. */
const START_UP_LOOKS = 3;
/** An alternative is worth the break when it promises this much more than what is there. */
const WORTHWHILE_GAIN = 2;

/**
 * Watches whether a transfer stays far below its plan although the client waits and another way promises much more.
 * Seconds in which the client was behind do not count. Call the result to stop.
 */
export function watchForSlowness(init: SlowWatchInit): () => void {
  let looks = 0;
  let slowLooks = 0;
  let slowBytes = 0;
  let lastBytes = init.bytes();
  const timer = setInterval(() => {
    const bytes = init.bytes();
    const grownBytes = bytes - lastBytes;
    lastBytes = bytes;
    looks += 1;
    if (looks <= START_UP_LOOKS || init.isClientBehind()) return;
    const rateBps = bpsOf(grownBytes / LOOK_MS);
    const sharedBy = Math.max(1, init.sharedBy());
    if (rateBps >= (init.promisedBps / sharedBy) * init.share) {
      slowLooks = 0;
      slowBytes = 0;
      return;
    }
    slowLooks += 1;
    slowBytes += grownBytes;
    if (slowLooks * LOOK_MS < init.seconds * 1000) return;
    const meanBps = bpsOf(slowBytes / (slowLooks * LOOK_MS));
    if (init.alternativeBps / sharedBy >= WORTHWHILE_GAIN * meanBps) init.onSlow(meanBps);
  }, LOOK_MS);
  return () => clearInterval(timer);
}
