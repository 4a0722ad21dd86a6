import type { SigningKey } from './signing-key.ts';

/** Depots that see an unknown key ask again at most every 30 s, so a short cache is enough. */
export const JWKS_MAX_AGE_SECONDS = 300;

/** The JSON Web Key Set (RFC 7517, RFC 8037) with which tickets can be verified. */
export function jwksOf(keys: readonly SigningKey[]): object {
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
