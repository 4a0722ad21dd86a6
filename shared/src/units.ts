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

export const BITS_PER_BYTE = 8;

/** Seconds that `sizeBytes` take at `goodputBps` (bits per second). */
export function transferSeconds(sizeBytes: number, goodputBps: number): number {
  return (sizeBytes * BITS_PER_BYTE) / goodputBps;
}

/** Bits per second of what moved in so many seconds. */
export function rateBpsOf(bytes: number, seconds: number): number {
  return (bytes * BITS_PER_BYTE) / seconds;
}

const BPS_PER_BYTE_PER_MS = BITS_PER_BYTE * 1000;

/** Bytes per millisecond of a rate in bits per second. */
export function bytesPerMsOf(rateBps: number): number {
  return rateBps / BPS_PER_BYTE_PER_MS;
}

/** Bits per second of a rate in bytes per millisecond. */
export function bpsOf(bytesPerMs: number): number {
  return bytesPerMs * BPS_PER_BYTE_PER_MS;
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

const BYTE_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  byte: 1,
  bytes: 1,
  k: 1e3,
  kb: 1e3,
  kib: KIB,
  m: 1e6,
  mb: 1e6,
  mib: MIB,
  g: 1e9,
  gb: 1e9,
  gib: GIB,
  t: 1e12,
  tb: 1e12,
  tib: 1024 * GIB,
};
/** What the option `size=` has room for: 15 digits. */
const MAX_TYPED_BYTES = 999_999_999_999_999;

/**
 * The bytes that a person means by `700 MB`, `1.5 GiB` or plain digits; `undefined` for anything else, for more than 15
 * digits, and for what means different sizes to different people (`1,500 MB`).
 */
export function parseBytes(text: string): number | undefined {
  const match = /^([0-9]+(?: [0-9]{3})*(?:\.[0-9]+|,[0-9]{1,2})?) ?([A-Za-z]*)$/.exec(text.trim());
  const unit = BYTE_UNITS[match?.[2]?.toLowerCase() ?? '?'];
  if (!match?.[1] || unit === undefined) return undefined;
  const sizeBytes = Math.round(Number(match[1].replaceAll(' ', '').replace(',', '.')) * unit);
  return sizeBytes <= MAX_TYPED_BYTES ? sizeBytes : undefined;
}
