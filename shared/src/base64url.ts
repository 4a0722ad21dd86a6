import { BITS_PER_BYTE } from './units.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** By the code of a character; what is no digit has none. */
const VALUES: readonly (number | undefined)[] = Array.from({ length: 128 }, (_, code) => {
  const value = ALPHABET.indexOf(String.fromCharCode(code));
  return value < 0 ? undefined : value;
});
const BITS_PER_CHAR = 6;

/** base64url without padding (RFC 4648 section 5), on web-standard primitives only. */
export function encodeBase64url(bytes: Uint8Array): string {
  let text = '';
  let held = 0;
  let heldBits = 0;
  for (const byte of bytes) {
    held = (held << BITS_PER_BYTE) | byte;
    heldBits += BITS_PER_BYTE;
    while (heldBits >= BITS_PER_CHAR) {
      heldBits -= BITS_PER_CHAR;
      text += ALPHABET[held >> heldBits];
      held &= (1 << heldBits) - 1;
    }
  }
  return heldBits > 0 ? text + (ALPHABET[held << (BITS_PER_CHAR - heldBits)] ?? '') : text;
}

/** Returns `undefined` for anything that is not the one canonical encoding of some bytes. */
export function decodeBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = new Uint8Array(Math.floor((text.length * BITS_PER_CHAR) / BITS_PER_BYTE));
  let held = 0;
  let heldBits = 0;
  let filled = 0;
  for (let at = 0; at < text.length; at += 1) {
    const value = VALUES[text.charCodeAt(at)];
    if (value === undefined) return undefined;
    held = (held << BITS_PER_CHAR) | value;
    heldBits += BITS_PER_CHAR;
    if (heldBits < BITS_PER_BYTE) continue;
    heldBits -= BITS_PER_BYTE;
    bytes[filled] = held >> heldBits;
    filled += 1;
    held &= (1 << heldBits) - 1;
  }
  // Bits that no byte has are zero, and fewer than a character's.
  return held === 0 && heldBits < BITS_PER_CHAR ? bytes : undefined;
}
