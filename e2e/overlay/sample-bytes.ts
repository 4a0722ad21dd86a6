import { createCipheriv, createHash } from 'node:crypto';

/** Bytes that no compression shortens and that every machine makes alike. */
export function sampleBytes(sizeBytes: number, seed: number): Buffer {
  const key = createHash('sha256').update(`longhaul sample ${seed}`).digest().subarray(0, 16);
  return createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(sizeBytes));
}

export function sha256Hex(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
