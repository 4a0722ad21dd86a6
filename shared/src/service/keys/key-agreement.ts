import {
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  diffieHellman,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';

/** Makes the MAC of a text (HMAC-SHA256, base64url) under a key that only two have. */
export type PairMac = (text: string) => string;

/** The field of Curve25519 (RFC 7748). */
const P = 2n ** 255n - 19n;
const KEY_BYTES = 32;
/** Marks the end of a public key's y coordinate: the sign of x, which Curve25519 does without. */
const SIGN_BIT = 1n << 255n;

/**
 * What the owners of two Ed25519 keys can both work out and nobody else: X25519 (RFC 7748) between the keys
 * that these are on Curve25519, then HKDF-SHA256 over both public keys, in the order of their texts.
 * `undefined` where one is no key. `purpose` is for one use of one protocol version.
 */
export function pairMacOf(own: KeyObject, otherPublicKey: string, purpose: string): PairMac | undefined {
  try {
    const { d = '', x: ownPublicKey = '' } = own.export({ format: 'jwk' });
    const secret = diffieHellman({
      privateKey: privateOnCurve25519(Buffer.from(d, 'base64url'), ownPublicKey),
      publicKey: publicOnCurve25519(otherPublicKey),
    });
    const info = [purpose, ...[ownPublicKey, otherPublicKey].toSorted()].join('\n');
    const key = createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', info, KEY_BYTES)));
    return (text) => createHmac('sha256', key).update(text).digest('base64url');
  } catch {
    // Points of small order are refused as well: the secret would be known to all.
    return undefined;
  }
}

/**
 * RFC 8032, section 5.1.5: the scalar of an Ed25519 key is the first half of its seed's SHA-512; X25519
 * clamps it the same way.
 */
function privateOnCurve25519(seed: Buffer, publicKey: string): KeyObject {
  const scalar = createHash('sha512').update(seed).digest().subarray(0, KEY_BYTES);
  const x = uOf(publicKey).toString('base64url');
  return createPrivateKey({
    key: { kty: 'OKP', crv: 'X25519', d: scalar.toString('base64url'), x },
    format: 'jwk',
  });
}

function publicOnCurve25519(publicKey: string): KeyObject {
  return createPublicKey({
    key: { kty: 'OKP', crv: 'X25519', x: uOf(publicKey).toString('base64url') },
    format: 'jwk',
  });
}

/** RFC 7748, section 4.1: u = (1 + y) / (1 - y). */
function uOf(publicKey: string): Buffer {
  const bytes = Buffer.from(publicKey, 'base64url');
  if (bytes.length !== KEY_BYTES) throw new RangeError('not a key');
  const y = BigInt(`0x${Buffer.from(bytes.toReversed()).toString('hex')}`) & (SIGN_BIT - 1n);
  const u = ((1n + y) * inverse((((1n - y) % P) + P) % P)) % P;
  return Buffer.from(Buffer.from(u.toString(16).padStart(2 * KEY_BYTES, '0'), 'hex').toReversed());
}

/** By Fermat: a^(p - 2); 0 has none. */
function inverse(of: bigint): bigint {
  if (of === 0n) throw new RangeError('not a key');
  let [base, result] = [of, 1n];
  for (let exponent = P - 2n; exponent > 0n; exponent >>= 1n) {
    if ((exponent & 1n) === 1n) result = (result * base) % P;
    base = (base * base) % P;
  }
  return result;
}
