import {
  CLOCK_SKEW_SECONDS,
  decodeBase64url,
  ok,
  type Result,
  refuse,
  signedAnswerText,
  signedRequestText,
} from '@longhaul/shared';
import { isMacOf, macOf, sha256Text, verifierFor } from '@longhaul/shared/service';

export const REGISTRATION_PATH = '/v1/depots';
const CLOCK_DETAIL = "the time is missing or too far off the master's clock";

/** What a registration's MAC is over; `timeMs` makes every registration and its answer a fresh one. */
export function registrationText(timeMs: number, body: Uint8Array): string {
  return signedRequestText('POST', REGISTRATION_PATH, timeMs, sha256Text(body));
}

export interface EnrolmentProof {
  /** The header Longhaul-Time: Unix milliseconds. */
  readonly time: string | undefined;
  /** The header Longhaul-Enrolment, base64url. */
  readonly mac: string | undefined;
  readonly body: Uint8Array;
}

/**
 * Checks a registration's time against the clock and its MAC in constant time; gives the depot's time in milliseconds, or
 * `enrolment-refused`.
 */
export function checkEnrolment(secret: string, proof: EnrolmentProof, nowMs: number): Result<number> {
  const timeMs = freshTime(proof.time, nowMs);
  if (timeMs === undefined) return refuse('enrolment-refused', CLOCK_DETAIL);
  const isProved = isMacOf(secret, registrationText(timeMs, proof.body), proof.mac);
  return isProved ? ok(timeMs) : refuse('enrolment-refused');
}

export interface SignedRequest {
  readonly method: string;
  /** The raw request target. */
  readonly path: string;
  /** The header Longhaul-Time: Unix milliseconds. */
  readonly time: string | undefined;
  /** The header Longhaul-Signature, base64url. */
  readonly signature: string | undefined;
  readonly body: Uint8Array;
}

/** Checks a depot's request against its registered key and the clock; gives the depot's time in milliseconds. */
export function checkSignedRequest(request: SignedRequest, publicKey: string, nowMs: number): Result<number> {
  const timeMs = freshTime(request.time, nowMs);
  if (timeMs === undefined) return refuse('depot-signature-wrong', CLOCK_DETAIL);
  const signature = decodeBase64url(request.signature ?? '');
  if (signature?.length !== 64) return refuse('depot-signature-wrong');
  const text = signedRequestText(request.method, request.path, timeMs, sha256Text(request.body));
  const isSigned = verifierFor(publicKey)?.(Buffer.from(text), signature) ?? false;
  return isSigned ? ok(timeMs) : refuse('depot-signature-wrong');
}

/** Proves an answer to a depot: only a master that has the secret can answer exactly this request. */
export function signAnswer(secret: string, requestSignature: string, body: Uint8Array): string {
  return macOf(secret, signedAnswerText(requestSignature, sha256Text(body)));
}

function freshTime(time: string | undefined, nowMs: number): number | undefined {
  if (time === undefined || !/^[0-9]{1,15}$/.test(time)) return undefined;
  return Math.abs(nowMs - Number(time)) <= CLOCK_SKEW_SECONDS * 1000 ? Number(time) : undefined;
}
