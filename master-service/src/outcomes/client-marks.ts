import { createHmac, randomBytes } from 'node:crypto';
import { clientAddress } from '@longhaul/shared';

/** Characters of a mark: two clients of one network hardly ever have the same one. */
const MARK_CHARS = 8;
const KEY_BYTES = 32;

/**
 * Marks that tell clients of a network apart, and tell nobody who they are: the key is kept nowhere. After a
 * start, and on another master, a client has another mark.
 */
export class ClientMarks {
  readonly #key = randomBytes(KEY_BYTES);

  of(address: string): string {
    const hash = createHmac('sha256', this.#key).update(clientAddress(address)).digest('base64url');
    return hash.slice(0, MARK_CHARS);
  }
}
