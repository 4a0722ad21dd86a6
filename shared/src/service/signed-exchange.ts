/** How a depot's requests to its master, and the answers to them, are dated, signed and proved; both halves. */
import type { IncomingMessage } from 'node:http';
import { decodeBase64url } from '../base64url.ts';
import {
  formatSequence,
  HEADERS,
  parseStamp,
  type RequestStamp,
  signedAnswerText,
  signedRequestText,
} from '../wire.ts';
import { type Content, isMacOf, macOf, sha256Text } from './digests.ts';
import { headerOf } from './incoming-message.ts';
import { verifierFor } from './key-pair.ts';

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
  readonly enrolmentMac: string | undefined;
}

/** Makes a text's signature, base64url. */
type Sign = (text: string) => string;

/** The headers that date and sign a request; a registration is under the enrolment secret's MAC as well. */
export function signRequest(request: StampedRequest, sign: Sign, enrolmentSecret?: string) {
  const text = signedText(request);
  return {
    [HEADERS.time]: String(request.stamp.timeMs),
    [HEADERS.sequence]: formatSequence(request.stamp),
    [HEADERS.signature]: sign(text),
    ...(enrolmentSecret === undefined ? {} : { [HEADERS.enrolment]: macOf(enrolmentSecret, text) }),
  };
}

export function readClaims(request: IncomingMessage): RequestClaims {
  return {
    stamp: parseStamp(headerOf(request, HEADERS.time), headerOf(request, HEADERS.sequence)),
    signature: headerOf(request, HEADERS.signature),
    enrolmentMac: headerOf(request, HEADERS.enrolment),
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

function signedText({ method, path, stamp, body }: StampedRequest): string {
  return signedRequestText(method, path, stamp, sha256Text(body));
}
