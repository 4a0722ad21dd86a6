import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
} from 'node:crypto';
import { encodeBase64url } from '@longhaul/shared';
import type { StateFolder } from './state-folder.ts';

/** A depot's own key pair, made at its first start and kept. */
export interface Identity {
  readonly id: string;
  /** Raw Ed25519 public key, base64url. */
  readonly publicKey: string;
  /** Ed25519 signature over a text, base64url. */
  readonly sign: (text: string) => string;
}

const KEY_FILE = 'depot-key.pem';

/** Loads the key pair from the state folder, or makes it. */
export function loadIdentity(id: string, state: StateFolder): Identity {
  const pem =
    state.read(KEY_FILE) ??
    state.write(
      KEY_FILE,
      generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    );
  const privateKey = createPrivateKey(pem);
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { id, publicKey: x, sign: (text) => encodeBase64url(sign(null, Buffer.from(text), privateKey)) };
}

export type VerifySignature = (bytes: Uint8Array, signature: Uint8Array) => boolean;

/** Verifies with a raw Ed25519 public key in base64url; `undefined` when that is not a key. */
export function verifierFor(publicKey: string): VerifySignature | undefined {
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
    return (bytes, signature) => verify(null, bytes, key, signature);
  } catch {
    return undefined;
  }
}

export function sha256(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}

/** HMAC-SHA256 of a text, base64url. */
export function mac(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url');
}
