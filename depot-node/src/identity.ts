import { existsSync } from 'node:fs';
import { encodeBase64url } from '@longhaul/shared';
import {
  generateKeyPair,
  type KeyPair,
  openStateFolder,
  type PairMac,
  parseKeyPair,
  type StateFolder,
} from '@longhaul/shared/service';

/** A depot's own key pair, made at its first start and kept. */
export interface Identity {
  readonly id: string;
  /** Raw Ed25519 public key, base64url. */
  readonly publicKey: string;
  /** Ed25519 signature over a text, base64url. */
  readonly sign: (text: string) => string;
  /** MACs under a key that only this depot and the owner of another public key have; `undefined` where that is no key. */
  readonly agree: (publicKey: string, purpose: string) => PairMac | undefined;
}

const KEY_FILE = 'depot-key.pem';
const KEY_NAME = `stateDir: ${KEY_FILE}`;

/** Loads the key pair from the state folder, or makes it; throws `config-invalid` where it is damaged. */
export function loadIdentity(id: string, state: StateFolder): Identity {
  const pem = state.readOrMake(KEY_FILE, () => generateKeyPair().toPem());
  return identityOf(id, parseKeyPair(pem, KEY_NAME));
}

/** The key pair in the state folder, or one for the moment; makes nothing there. */
export function identityForTrial(id: string, stateDir: string): Identity {
  const pem = existsSync(stateDir) ? openStateFolder(stateDir).read(KEY_FILE) : undefined;
  return identityOf(id, pem === undefined ? generateKeyPair() : parseKeyPair(pem, KEY_NAME));
}

function identityOf(id: string, { publicKey, sign, agree }: KeyPair): Identity {
  return { id, publicKey, sign: (text) => encodeBase64url(sign(text)), agree };
}
