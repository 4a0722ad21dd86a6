import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { LonghaulError, type MasterKey } from '@longhaul/shared';

/** Characters of the key's thumbprint that make its id: 72 bits, and short in every ticket. */
const KEY_ID_CHARS = 12;

/** The key that signs this master's tickets. */
export interface SigningKey {
  /** The first characters of the key's JWK thumbprint (RFC 7638). */
  readonly keyId: string;
  /** The raw public key, base64url: `x` of the JWK. */
  readonly publicKey: string;
  readonly sign: (bytes: Uint8Array) => Uint8Array;
  readonly verify: (bytes: Uint8Array, signature: Uint8Array) => boolean;
  /** PKCS #8 in PEM, for the state folder. */
  readonly toPem: () => string;
}

export function generateSigningKey(): SigningKey {
  return signingKey(generateKeyPairSync('ed25519').privateKey);
}

/** Reads a key that `toPem` gave; throws `config-invalid` for anything else. */
export function parseSigningKey(pem: string): SigningKey {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return signingKey(key);
  } catch (cause) {
    throw new LonghaulError('config-invalid', { detail: 'stateDir: the signing key is damaged', cause });
  }
  throw new LonghaulError('config-invalid', { detail: 'stateDir: the signing key is not an Ed25519 key' });
}

/** One key as depots get it in their directory. */
export function masterKeyOf(key: SigningKey): MasterKey {
  return { keyId: key.keyId, publicKey: key.publicKey };
}

function signingKey(privateKey: KeyObject): SigningKey {
  const publicKeyObject = createPublicKey(privateKey);
  const publicKey = publicKeyObject.export({ format: 'jwk' }).x ?? '';
  return {
    keyId: thumbprint(publicKey).slice(0, KEY_ID_CHARS),
    publicKey,
    sign: (bytes) => sign(null, bytes, privateKey),
    verify: (bytes, signature) => verify(null, bytes, publicKeyObject, signature),
    toPem: () => privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}

// RFC 7638: the required members in lexical order, without spaces; RFC 8037 names them for OKP keys.
function thumbprint(publicKey: string): string {
  return createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x: publicKey }))
    .digest('base64url');
}
