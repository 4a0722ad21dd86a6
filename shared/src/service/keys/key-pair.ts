import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { LonghaulError } from '../../errors.ts';
import { LruMap } from '../bounds/lru-map.ts';
import type { Content } from './digests.ts';
import { type PairMac, pairMacOf } from './key-agreement.ts';

/** Checks an Ed25519 signature of 64 bytes. */
export type VerifySignature = (bytes: Uint8Array, signature: Uint8Array) => boolean;

/** An Ed25519 key pair (RFC 8032). */
export interface KeyPair {
  /** The raw public key, base64url: `x` of its JWK (RFC 8037). */
  readonly publicKey: string;
  readonly sign: (content: Content) => Uint8Array;
  readonly verify: VerifySignature;
  /** See {@link pairMacOf}: with the owner of another public key, for one purpose. */
  readonly agree: (publicKey: string, purpose: string) => PairMac | undefined;
  /** PKCS #8 in PEM, for the state folder. */
  readonly toPem: () => string;
}

export function generateKeyPair(): KeyPair {
  return keyPair(generateKeyPairSync('ed25519').privateKey);
}

/** PKCS #8 of an Ed25519 key (RFC 8410), up to its seed of 32 bytes. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The key pair of a seed of 32 bytes: always the same one. */
export function keyPairOf(seed: Uint8Array): KeyPair {
  if (seed.length !== 32) throw new RangeError('a seed has 32 bytes');
  const key = Buffer.concat([PKCS8_HEAD, seed]);
  return keyPair(createPrivateKey({ key, format: 'der', type: 'pkcs8' }));
}

/** Reads a key pair that `toPem` gave; throws `state-damaged` with the `file` that it was in for anything else. */
export function parseKeyPair(pem: string, file: string): KeyPair {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === 'ed25519') return keyPair(key);
  } catch (cause) {
    throw new LonghaulError('state-damaged', { detail: file, cause });
  }
  throw new LonghaulError('state-damaged', { detail: `${file}: not an Ed25519 key` });
}

/** Public keys that are kept parsed: those of depots, each of which is heard every second. */
const MOST_PARSED_KEYS = 2_000;
const verifiers = new LruMap<string, VerifySignature>(MOST_PARSED_KEYS);

/** Verifies with a raw public key in base64url; `undefined` when that is not a key. */
export function verifierFor(publicKey: string): VerifySignature | undefined {
  const known = verifiers.get(publicKey);
  if (known) return known;
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
    const verifier = verifyWith(key);
    verifiers.set(publicKey, verifier);
    return verifier;
  } catch {
    return undefined;
  }
}

function keyPair(privateKey: KeyObject): KeyPair {
  const publicKey = createPublicKey(privateKey);
  return {
    publicKey: publicKey.export({ format: 'jwk' }).x ?? '',
    sign: (content) => sign(null, Buffer.from(content), privateKey),
    verify: verifyWith(publicKey),
    agree: (other, purpose) => pairMacOf(privateKey, other, purpose),
    toPem: () => privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
}

function verifyWith(key: KeyObject): VerifySignature {
  return (bytes, signature) => verify(null, bytes, key, signature);
}
