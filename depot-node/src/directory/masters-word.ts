import { decodeBase64url, type MasterWord } from '@longhaul/shared';
import type { VerifySignature } from '@longhaul/shared/service';

/** Clocks of a master and a depot may differ by so much; what a master says so is of no use for longer, either. */
const WORD_LIFE_MS = 60_000;

/** What a master has signed for one depot, at a time. */
export interface SignedWord extends MasterWord {
  readonly text: string;
}

interface MastersWordComponents {
  readonly masterKey: (keyId: string) => VerifySignature | undefined;
  readonly nowMs: () => number;
}

/** Why something is no master's word, now; `undefined` when it is one. */
export function whyNotMasters(
  { text, timeMs, keyId, signature }: SignedWord,
  { masterKey, nowMs }: MastersWordComponents,
): string | undefined {
  if (Math.abs(nowMs() - timeMs) > WORD_LIFE_MS) return 'old';
  const bytes = decodeBase64url(signature) ?? new Uint8Array();
  return masterKey(keyId)?.(Buffer.from(text), bytes) ? undefined : 'not a master’s';
}
