import { randomBytes } from 'node:crypto';
import type { JoinToken } from '@longhaul/shared';
import { keyPairOf } from '@longhaul/shared/service';

/** 96 bits: no two tokens have one id. */
const ID_BYTES = 12;
/** A seed of an Ed25519 key. */
const SEED_BYTES = 32;

/** Makes a token, and the public key that masters know it by. Who has that and the id cannot join. */
export function newJoinToken(overlayKey: string): { readonly token: JoinToken; readonly publicKey: string } {
  const seed = randomBytes(SEED_BYTES);
  const token = {
    id: randomBytes(ID_BYTES).toString('base64url'),
    seed: seed.toString('base64url'),
    overlayKey,
  };
  return { token, publicKey: keyPairOf(seed).publicKey };
}
