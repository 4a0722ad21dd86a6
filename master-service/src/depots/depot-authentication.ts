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

/** The MAC under the enrolment secret, base64url; the secret's text itself is the key. */
export function enrolmentMac(secret: string, content: string | Uint8Array): string {
  return createHmac('sha256', secret).update(content).digest('base64url');
}

/** Checks a registration's MAC over its raw body, in constant time; `enrolment-refused`. */
export function checkEnrolment(secret: string, body: Uint8Array, mac: string | undefined): Result<void> {
  const expected = Buffer.from(enrolmentMac(secret, body));
  const given = Buffer.from(mac ?? '');
  const equal = expected.length === given.length && timingSafeEqual(expected, given);
  return equal ? ok(undefined) : refuse('enrolment-refused');
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
  const timeMs = /^[0-9]{1,15}$/.test(request.time ?? '') ? Number(request.time) : Number.NaN;
  if (!(Math.abs(nowMs - timeMs) <= CLOCK_SKEW_SECONDS * 1000)) {
    return refuse('depot-signature-wrong', 'the time is missing or too far off');
  }
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

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('base64url');
}
