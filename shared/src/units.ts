/**
 * Units. A name ending in `Bps` is in bits per second, `Bytes` in bytes, `Ms` in milliseconds, `Seconds` in
 * seconds; `Rate` in `lossRate` is a probability from 0 to 1. Points in time on the wire are Unix seconds
 * unless the name says `Ms`.
 */
export const KIB = 1024;
export const MIB = 1024 * KIB;
export const GIB = 1024 * MIB;

/** Bytes of TCP payload in one full segment on Ethernet with timestamps (MTU 1500). */
export const SEGMENT_BYTES = 1448;

/** Seconds that `sizeBytes` take at `goodputBps` (bits per second). */
export function transferSeconds(sizeBytes: number, goodputBps: number): number {
  return (sizeBytes * 8) / goodputBps;
}

const BYTE_STEPS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** A size for people, in decimal units with at most one decimal: `31.5 MB`. */
export function formatBytes(sizeBytes: number): string {
  return formatStep(sizeBytes, BYTE_STEPS);
}

/** A rate for people, in decimal units with at most one decimal: `95.6 Mbit/s`. */
export function formatBps(rateBps: number): string {
  return formatStep(rateBps, ['bit/s', 'kbit/s', 'Mbit/s', 'Gbit/s', 'Tbit/s']);
}

function formatStep(value: number, steps: readonly string[]): string {
  let rest = value;
  let step = 0;
  while (rest >= 1000 && step < steps.length - 1) {
    rest /= 1000;
    step += 1;
  }
  const digits = rest >= 100 || Number.isInteger(rest) ? 0 : 1;
  return `${rest.toFixed(digits)} ${steps[step] ?? ''}`;
}
