import { bpsOf } from '@longhaul/shared';

/** Rates over less time than this say more of the moment than of the load. */
const LEAST_MS = 500;

interface UplinkLoadInit {
  /** What the operator lets the uplink carry, bits per second. */
  readonly mostBps: number;
  /** Bytes that were sent towards clients and other depots since the start. */
  readonly sentBytes: () => number;
  readonly nowMs: () => number;
}

/** What the uplink carries and can carry; the rate is the mean since it was asked for before. */
export function createUplinkLoad({ mostBps, sentBytes, nowMs }: UplinkLoadInit) {
  let last = { bytes: sentBytes(), atMs: nowMs(), bps: 0 };
  return (): { readonly sentBps: number; readonly mostBps: number } => {
    const now = { bytes: sentBytes(), atMs: nowMs() };
    const passedMs = now.atMs - last.atMs;
    // Two heartbeats may follow each other at once, and the clock may have been set back.
    if (passedMs >= LEAST_MS) last = { ...now, bps: bpsOf((now.bytes - last.bytes) / passedMs) };
    else if (passedMs < 0) last = { ...now, bps: last.bps };
    return { sentBps: Math.max(0, last.bps), mostBps };
  };
}
