import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LonghaulError } from '@longhaul/shared';
import { readIfPresent } from '../storage/read-if-present.ts';
import { writeAtomically } from '../storage/write-atomically.ts';
import { generateSigningKey, parseSigningKey, type SigningKey } from './signing-key.ts';

const SIGNING_KEY_FILE = 'signing-key.pem';
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
 * `config-invalid` where one of them is damaged, and on I/O errors.
 */
export async function loadMasterKeys(stateDir: string): Promise<MasterKeys> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  const pem = await readOrMake(join(stateDir, SIGNING_KEY_FILE), () => generateSigningKey().toPem());
  const secret = await readOrMake(join(stateDir, ENROLMENT_SECRET_FILE), () => {
    return `${randomBytes(SECRET_BYTES).toString('base64url')}\n`;
  });
  if (secret.trim().length < SECRET_BYTES) {
    throw new LonghaulError('config-invalid', { detail: 'stateDir: the enrolment secret is damaged' });
  }
  return { signingKey: parseSigningKey(pem), enrolmentSecret: secret.trim() };
}

async function readOrMake(path: string, make: () => string): Promise<string> {
  const present = await readIfPresent(path);
  if (present !== undefined) return present;
  const content = make();
  await writeAtomically(path, content);
  return content;
}
