import { seededRandom } from '../../lab/results/seeded-random.ts';

/**
 * The body repeats after so many bytes: more than any cache of a core, as bytes from a network card would be, and no
 * multiple of a power of two that a buffer may have, so that a piece in the wrong place is seen.
 */
export const PATTERN_BYTES = 64 * 1024 * 1024 - 4093;
/** The words drawn; the pattern is made of them, each block shifted by one more byte. */
const BLOCK_BYTES = 64 * 1024 - 1;

/** The bytes of every body, the same in source and sink: `body[n] = pattern[n % PATTERN_BYTES]`. */
export function patternBytes(): Buffer {
  const random = seededRandom(1);
  const block = Buffer.alloc(BLOCK_BYTES);
  for (let at = 0; at < BLOCK_BYTES; at += 1) block[at] = Math.floor(random() * 256);
  const pattern = Buffer.alloc(PATTERN_BYTES);
  for (let at = 0; at < PATTERN_BYTES; at += BLOCK_BYTES) {
    block.copy(pattern, at);
    // Two blocks are never alike.
    if (at + 8 <= PATTERN_BYTES) pattern.writeUInt32LE(at, at);
  }
  return pattern;
}
