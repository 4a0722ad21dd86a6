import { existsSync } from 'node:fs';
import { encodeBase64url, LonghaulError, PUBLIC_KEY } from '@longhaul/shared';
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
  /**
   * MACs under a key that only this depot and the owner of another public key have; `undefined` where that is
   * no key.
   */
  readonly agree: (publicKey: string, purpose: string) => PairMac | undefined;
}

const KEY_FILE = 'depot-key.pem';
/**
 * A key that masters may not know yet: it is written before they are asked, so that it is not lost when they
 * have taken it.
 */
const NEXT_KEY_FILE = 'depot-key.next.pem';
/** What masters are known by, from the join token. */
const OVERLAY_KEY_FILE = 'overlay-key';
/** All of these, for whoever looks after them. */
export const SECRET_FILES: readonly string[] = [KEY_FILE, NEXT_KEY_FILE, OVERLAY_KEY_FILE];

/** Loads the key pair from the state folder, or makes it; throws `depot-key-damaged`, `state-unusable`. */
export function loadIdentity(id: string, state: StateFolder): Identity {
  const pem = state.readOrMake(KEY_FILE, () => generateKeyPair().toPem());
  return identityOf(id, readKey(pem, KEY_FILE));
}

/** The key pair in the state folder, or one for the moment; makes nothing there. */
export function identityForTrial(id: string, stateDir: string): Identity {
  const pem = existsSync(stateDir) ? openStateFolder(stateDir).read(KEY_FILE) : undefined;
  return identityOf(id, pem === undefined ? generateKeyPair() : readKey(pem, KEY_FILE));
}

/** The key pair that is to come after the one that counts, made by the first call. */
export function loadNextIdentity(id: string, state: StateFolder): Identity {
  // A process that ended while it took the last one has left it here, too.
  if (state.read(NEXT_KEY_FILE) === state.read(KEY_FILE)) state.remove(NEXT_KEY_FILE);
  return identityOf(
    id,
    readKey(
      state.readOrMake(NEXT_KEY_FILE, () => generateKeyPair().toPem()),
      NEXT_KEY_FILE,
    ),
  );
}

/** Puts the next key pair into the place of the one that counts. */
export async function takeNextIdentity(state: StateFolder): Promise<void> {
  const pem = state.read(NEXT_KEY_FILE);
  if (pem === undefined) return;
  await state.save(KEY_FILE, pem);
  state.remove(NEXT_KEY_FILE);
}

/** Whether another key has taken the place of this one on disk. A file that is gone or cannot be used says nothing. */
export function isRotated({ publicKey }: Pick<Identity, 'publicKey'>, state: StateFolder): boolean {
  try {
    const pem = state.read(KEY_FILE);
    return pem !== undefined && readKey(pem, KEY_FILE).publicKey !== publicKey;
  } catch {
    return false;
  }
}

/** The key that masters are known by; `undefined` where this depot has not joined. Throws `depot-key-damaged`. */
export function readOverlayKey(state: Pick<StateFolder, 'read'>): string | undefined {
  const key = state.read(OVERLAY_KEY_FILE)?.trim();
  if (key === undefined || PUBLIC_KEY.test(key)) return key;
  throw damaged(OVERLAY_KEY_FILE);
}

export function saveOverlayKey(state: StateFolder, overlayKey: string): Promise<void> {
  return state.save(OVERLAY_KEY_FILE, `${overlayKey}\n`);
}

function readKey(pem: string, file: string): KeyPair {
  try {
    return parseKeyPair(pem, file);
  } catch (cause) {
    throw damaged(file, cause);
  }
}

function damaged(file: string, cause?: unknown): LonghaulError {
  return new LonghaulError('depot-key-damaged', { detail: `stateDir: ${file}`, cause });
}

function identityOf(id: string, { publicKey, sign, agree }: KeyPair): Identity {
  return { id, publicKey, sign: (text) => encodeBase64url(sign(text)), agree };
}
