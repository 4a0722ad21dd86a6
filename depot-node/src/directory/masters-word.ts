import { decodeBase64url, type MasterWord, ok, type Result, refuse } from '@longhaul/shared';
import type { FailedChecks, VerifySignature } from '@longhaul/shared/service';

/** Clocks of a master and a depot may differ by so much; what a master says so is of no use for longer, either. */
const WORD_LIFE_MS = 60_000;

/** What a master has signed for one depot, at a time. */
export interface SignedWord extends MasterWord {
  readonly text: string;
  /** What it is, for people. */
  readonly what: string;
}

export interface MastersWordComponents {
  readonly masterKey: (keyId: string) => VerifySignature | undefined;
  /** Bounds the words of masters that turn out to be none. */
  readonly failedChecks: Pick<FailedChecks, 'hasRoomFor' | 'note'>;
  readonly nowMs: () => number;
}

/**
 * Refuses what somebody at an address says and is no master's word, now: `bad-request`, or
 * `signature-checks-spent` where too much from there was forged.
 */
export function checkMastersWord(
  { what, text, timeMs, keyId, signature }: SignedWord,
  from: string,
  { masterKey, failedChecks, nowMs }: MastersWordComponents,
): Result<void> {
  if (Math.abs(nowMs() - timeMs) > WORD_LIFE_MS) return refuse('bad-request', `${what} is old`);
  const verify = masterKey(keyId);
  if (verify && !failedChecks.hasRoomFor(from)) return refuse('signature-checks-spent');
  if (verify?.(Buffer.from(text), decodeBase64url(signature) ?? new Uint8Array())) return ok(undefined);
  if (verify) failedChecks.note(from);
  return refuse('bad-request', `${what} is not a master’s`);
}
