import { HEADERS, LonghaulError, OVERLAY_KEY } from '@longhaul/shared';
import { isAnswerProved, isAnswerSigned, type Sign, type StateFolder } from '@longhaul/shared/service';
import { readOverlayKey } from '../identity.ts';

/** How a depot knows masters again, and shows at its registration that it may be a depot. */
export interface MastersProof {
  /** What goes into `Longhaul-Enrolment` of registrations: the secret for its MAC, or what signs. */
  readonly enrolment?: string | Sign;
  /** Headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly isProved: (requestSignature: string, body: string, proof: string | undefined) => boolean;
}

/** By the overlay's secret, which this depot has as well. */
function proofBySecret(secret: string): MastersProof {
  return {
    enrolment: secret,
    headers: {},
    isProved: (signature, body, proof) => isAnswerProved(secret, signature, body, proof),
  };
}

/** By the overlay's public key, which this depot has from its join token; `enrolment` only while it joins. */
export function proofByKey(overlayKey: string, enrolment?: Sign): MastersProof {
  return {
    ...(enrolment ? { enrolment } : {}),
    headers: { [HEADERS.proofs]: OVERLAY_KEY },
    isProved: (signature, body, proof) => isAnswerSigned(overlayKey, signature, body, proof),
  };
}

/** By the secret where one is configured, else by what this depot has joined with; throws `depot-not-joined`. */
export function proofOf(secret: string | undefined, state: Pick<StateFolder, 'read'>): MastersProof {
  if (secret !== undefined) return proofBySecret(secret);
  const overlayKey = readOverlayKey(state);
  if (overlayKey === undefined) throw new LonghaulError('depot-not-joined');
  return proofByKey(overlayKey);
}
