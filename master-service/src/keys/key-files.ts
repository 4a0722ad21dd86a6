import { randomBytes } from 'node:crypto';
import { LonghaulError } from '@longhaul/shared';
import type { StateFolder } from '@longhaul/shared/service';
import { generateSigningKey, parseSigningKey, type SigningKey } from './signing-key.ts';

export const SIGNING_KEY_FILE = 'signing-key.pem';
const ENROLMENT_SECRET_FILE = 'enrolment-secret';
/** As hard to guess as the SHA-256 MAC it keys. */
const SECRET_BYTES = 32;

export interface MasterKeys {
  readonly signingKey: SigningKey;
  /** The MAC key is this text as it stands in the file, without white space around it. */
  readonly enrolmentSecret: string;
}

/**
 * Reads the signing key and the enrolment secret from the state folder; the first start makes them. Throws
 * `state-damaged` where one of them is damaged, and on I/O errors.
 */
export function loadMasterKeys(state: StateFolder): MasterKeys {
  const pem = state.readOrMake(SIGNING_KEY_FILE, () => generateSigningKey().toPem());
  const makeSecret = () => `${randomBytes(SECRET_BYTES).toString('base64url')}\n`;
  const enrolmentSecret = state.readOrMake(ENROLMENT_SECRET_FILE, makeSecret).trim();
  if (enrolmentSecret.length < SECRET_BYTES) {
    throw new LonghaulError('state-damaged', { detail: ENROLMENT_SECRET_FILE });
  }
  return { signingKey: parseSigningKey(pem, SIGNING_KEY_FILE), enrolmentSecret };
}
