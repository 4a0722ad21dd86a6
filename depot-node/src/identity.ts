import { encodeBase64url } from '@longhaul/shared';
import { generateKeyPair, parseKeyPair, type StateFolder } from '@longhaul/shared/service';

/** A depot's own key pair, made at its first start and kept. */
export interface Identity {
  readonly id: string;
  /** Raw Ed25519 public key, base64url. */
  readonly publicKey: string;
  /** Ed25519 signature over a text, base64url. */
  readonly sign: (text: string) => string;
}

const KEY_FILE = 'depot-key.pem';

/** Loads the key pair from the state folder, or makes it; throws `config-invalid` where it is damaged. */
export function loadIdentity(id: string, state: StateFolder): Identity {
  const pem = state.readOrMake(KEY_FILE, () => generateKeyPair().toPem());
  const { publicKey, sign } = parseKeyPair(pem, `stateDir: ${KEY_FILE}`);
  return { id, publicKey, sign: (text) => encodeBase64url(sign(text)) };
}
