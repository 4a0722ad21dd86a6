/** How a depot's requests to its master, and the answers to them, are dated, signed and proved; both halves. */
import { hkdfSync } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { decodeBase64url, encodeBase64url } from '../../base64url.ts';
import { HEADERS } from '../../wire/protocol.ts';
import {
  formatSequence,
  OVERLAY_KEY,
  OVERLAY_KEY_PURPOSE,
  parseStamp,
  type RequestStamp,
  signedAnswerText,
  signedRequestText,
} from '../../wire/signed-requests.ts';
import { headerOf } from '../http/incoming-message.ts';
import { type Content, isMacOf, macOf, sha256Text } from './digests.ts';
import { type KeyPair, keyPairOf, verifierFor } from './key-pair.ts';

export interface StampedRequest {
  readonly method: string;
  /** The raw request target. */
  readonly path: string;
  readonly stamp: RequestStamp;
  readonly body: Content;
}

/** What a request says of itself in its headers; nothing in it may be believed before it is checked. */
export interface RequestClaims {
  /** `undefined` where time or sequence are missing or damaged. */
  readonly stamp: RequestStamp | undefined;
  readonly signature: string | undefined;
  /** The MAC under the enrolment secret or, of a request to join, the signature by the token's key. */
  readonly enrolment: string | undefined;
  /** Whether the answer is to be signed with the overlay's key: the depot has no secret. */
  readonly wantsOverlayKey: boolean;
}

/** Makes a text's signature, base64url. */
export type Sign = (text: string) => string;

/**
 * The headers that date and sign a request. A registration is under the enrolment secret's MAC as well, where
 * the depot has the secret; a request to join is signed with the token's key, too.
 */
export function signRequest(request: StampedRequest, sign: Sign, enrolment?: string | Sign) {
  const text = signedText(request);
  const enrol = typeof enrolment === 'string' ? (signed: string) => macOf(enrolment, signed) : enrolment;
  return {
    [HEADERS.time]: String(request.stamp.timeMs),
    [HEADERS.sequence]: formatSequence(request.stamp),
    [HEADERS.signature]: sign(text),
    ...(enrol === undefined ? {} : { [HEADERS.enrolment]: enrol(text) }),
  };
}

export function readClaims(request: IncomingMessage): RequestClaims {
  return {
    stamp: parseStamp(headerOf(request, HEADERS.time), headerOf(request, HEADERS.sequence)),
    signature: headerOf(request, HEADERS.signature),
    enrolment: headerOf(request, HEADERS.enrolment),
    wantsOverlayKey: headerOf(request, HEADERS.proofs) === OVERLAY_KEY,
  };
}

/** Whether a request is signed by the key whose public half this is (raw, base64url). */
export function isSignedBy(
  request: StampedRequest,
  signature: string | undefined,
  publicKey: string,
): boolean {
  const bytes = decodeBase64url(signature ?? '');
  if (bytes?.length !== 64) return false;
  return verifierFor(publicKey)?.(Buffer.from(signedText(request)), bytes) ?? false;
}

/** Whether whoever sent a request has the enrolment secret. */
export function isEnrolled(
  request: StampedRequest,
  enrolmentMac: string | undefined,
  secret: string,
): boolean {
  return isMacOf(secret, signedText(request), enrolmentMac);
}

/** Proves an answer: only who has the secret can answer exactly this request. */
export function proveAnswer(secret: string, requestSignature: string, body: Content): string {
  return macOf(secret, signedAnswerText(requestSignature, sha256Text(body)));
}

export function isAnswerProved(
  secret: string,
  requestSignature: string,
  body: Content,
  proof: string | undefined,
): boolean {
  return isMacOf(secret, signedAnswerText(requestSignature, sha256Text(body)), proof);
}

/**
 * The key that all masters of an overlay can work out of its enrolment secret, and sign answers with for
 * depots that do not have it.
 */
export function overlayKeyOf(secret: string): KeyPair {
  return keyPairOf(new Uint8Array(hkdfSync('sha256', secret, '', OVERLAY_KEY_PURPOSE, 32)));
}

/** Signs an answer: only a master of the overlay can answer exactly this request. */
export function signAnswer(overlayKey: KeyPair, requestSignature: string, body: Content): string {
  return encodeBase64url(overlayKey.sign(signedAnswerText(requestSignature, sha256Text(body))));
}

export function isAnswerSigned(
  overlayPublicKey: string,
  requestSignature: string,
  body: Content,
  proof: string | undefined,
): boolean {
  const text = Buffer.from(signedAnswerText(requestSignature, sha256Text(body)));
  const bytes = decodeBase64url(proof ?? '');
  return bytes?.length === 64 && (verifierFor(overlayPublicKey)?.(text, bytes) ?? false);
}

function signedText({ method, path, stamp, body }: StampedRequest): string {
  return signedRequestText(method, path, stamp, sha256Text(body));
}
