import type { MasterKey } from '@longhaul/shared';
import { generateKeyPair, type KeyPair, parseKeyPair, sha256Text } from '@longhaul/shared/service';

/** Characters of the key's thumbprint that make its id: 72 bits, and short in every ticket. */
const KEY_ID_CHARS = 12;

/** The key that signs this master's tickets. */
export interface SigningKey extends KeyPair {
  /** The first characters of the key's JWK thumbprint (RFC 7638). */
  readonly keyId: string;
}

export function generateSigningKey(): SigningKey {
  return withId(generateKeyPair());
}

/** Reads a key that `toPem` gave; throws `state-damaged` with the `file` that it was in for anything else. */
export function parseSigningKey(pem: string, file: string): SigningKey {
  return withId(parseKeyPair(pem, file));
}

/** One key as depots get it in their directory. */
export function masterKeyOf(key: SigningKey): MasterKey {
  return { keyId: key.keyId, publicKey: key.publicKey };
}

/** The JSON Web Key Set (RFC 7517, RFC 8037) with which tickets can be verified. */
export function jwksOf(keys: readonly MasterKey[]): object {
  return {
    keys: keys.map((key) => ({
      kty: 'OKP',
      crv: 'Ed25519',
      alg: 'EdDSA',
      use: 'sig',
      kid: key.keyId,
      x: key.publicKey,
    })),
  };
}

/** The id of a public key: nobody has another one's. */
export function keyIdOf(publicKey: string): string {
  // RFC 7638: the required members in lexical order, without spaces; RFC 8037 names them for OKP keys.
  return sha256Text(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x: publicKey })).slice(0, KEY_ID_CHARS);
}

function withId(key: KeyPair): SigningKey {
  return { ...key, keyId: keyIdOf(key.publicKey) };
}
