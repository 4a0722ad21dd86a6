import { MIB } from '@longhaul/shared';
import type { OriginFile } from '../../overlay/origin-server.ts';
import { sampleBytes } from '../../overlay/sample-bytes.ts';

/** A file is held in memory by the origin and by the driver; more than this would push a small machine into swap. */
export const LARGEST_FILE_BYTES = 512 * MIB;

const filesBySize = new Map<number, Buffer>();

/** The bytes of every file of this size at the lab's origin; made once per process. */
export function originBytes(sizeBytes: number): Buffer {
  const known = filesBySize.get(sizeBytes);
  if (known) return known;
  const bytes = sampleBytes(sizeBytes, sizeBytes);
  filesBySize.set(sizeBytes, bytes);
  return bytes;
}

/** What the lab's origin has: `/<sizeBytes>/<anything>.bin`, for sizes from 1 to {@link LARGEST_FILE_BYTES}. */
export function originContent(path: string): OriginFile | undefined {
  const sizeBytes = Number(/^\/([1-9][0-9]{0,9})\/[^/]+\.bin$/.exec(path)?.[1]);
  if (!(sizeBytes <= LARGEST_FILE_BYTES)) return undefined;
  return { body: originBytes(sizeBytes), headers: { ETag: `"${sizeBytes}"` } };
}
