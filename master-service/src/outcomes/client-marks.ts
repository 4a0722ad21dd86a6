import { hash, randomBytes } from 'node:crypto';
import { clientAddress } from '@longhaul/shared';

/** Characters of a mark: two clients of one network hardly ever have the same one. */
const MARK_CHARS = 8;
const KEY_BYTES = 32;

/**
 * Marks that tell clients of a network apart, and tell nobody who they are: the key is kept nowhere. After a
 * start, and on another master, a client has another mark.
 */
export class ClientMarks {
  readonly #key = randomBytes(KEY_BYTES).toString('base64url');

  of(address: string): string {
    // Each plan makes one. Node takes thirty times as long for an HMAC under such a key (24.21), which a mark, cut
    // short and checked by nobody, does not need.
    return hash('sha256', this.#key + clientAddress(address), 'base64url').slice(0, MARK_CHARS);
  }
}
