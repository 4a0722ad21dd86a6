import { createHash, createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto';
import {
  CLOCK_SKEW_SECONDS,
  decodeBase64url,
  ok,
  type Result,
  refuse,
  signedAnswerText,
  signedRequestText,
} from '@longhaul/shared';

export const REGISTRATION_PATH = '/v1/depots';
const CLOCK_DETAIL = "the time is missing or too far off the master's clock";

/** The MAC under the enrolment secret, base64url; the secret's text itself is the key. */
export function enrolmentMac(secret: string, content: string | Uint8Array): string {
  return createHmac('sha256', secret).update(content).digest('base64url');
}

/** What a registration's MAC is over; `timeMs` makes every registration and its answer a fresh one. */
export function registrationText(timeMs: number, body: Uint8Array): string {
  return signedRequestText('POST', REGISTRATION_PATH, timeMs, sha256(body));
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
  const expected = Buffer.from(enrolmentMac(secret, registrationText(timeMs, proof.body)));
  const given = Buffer.from(proof.mac ?? '');
  const equal = expected.length === given.length && timingSafeEqual(expected, given);
  return equal ? ok(timeMs) : refuse('enrolment-refused');
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
  const text = signedRequestText(request.method, request.path, timeMs, sha256(request.body));
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
  return verify(null, Buffer.from(text), key, signature) ? ok(timeMs) : refuse('depot-signature-wrong');
}

/** Proves an answer to a depot: only a master that has the secret can answer exactly this request. */
export function signAnswer(secret: string, requestSignature: string, body: Uint8Array): string {
  return enrolmentMac(secret, signedAnswerText(requestSignature, sha256(body)));
}

function freshTime(time: string | undefined, nowMs: number): number | undefined {
  if (time === undefined || !/^[0-9]{1,15}$/.test(time)) return undefined;
  return Math.abs(nowMs - Number(time)) <= CLOCK_SKEW_SECONDS * 1000 ? Number(time) : undefined;
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url');
}
