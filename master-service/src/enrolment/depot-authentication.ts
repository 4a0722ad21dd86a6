import type { IncomingMessage, ServerResponse } from 'node:http';
import { CLOCK_SKEW_SECONDS, HEADERS, ok, type RequestStamp, type Result, refuse } from '@longhaul/shared';
import {
  isEnrolled,
  isSignedBy,
  overlayKeyOf,
  proveAnswer,
  type RequestClaims,
  readClaims,
  type StampedRequest,
  signAnswer,
} from '@longhaul/shared/service';
import { readBody, unwrap } from '../http/read-body.ts';

const CLOCK_DETAIL = "time or sequence are missing, or the time is too far off the master's clock";

/** A request as it came: what it is, and what it says of itself. */
export interface DepotRequest extends Omit<StampedRequest, 'stamp'> {
  readonly claims: RequestClaims;
}

/** A request with where its connection comes from. */
export interface ReceivedRequest extends DepotRequest {
  readonly body: Buffer;
  readonly from: string;
}

/** What anybody may send before it is known who that is: keys, names, tokens and an address. */
const MOST_STRANGERS_BYTES = 16_384;

/**
 * Reads a request whose signature is over `path` and the bytes of its body. For Express handlers: throws
 * `bad-request`.
 */
export async function readRequest(
  request: IncomingMessage,
  path: string,
  mostBytes = MOST_STRANGERS_BYTES,
): Promise<ReceivedRequest> {
  const body = unwrap(await readBody(request, mostBytes));
  const from = request.socket.remoteAddress ?? '';
  return { method: 'POST', path, body, claims: readClaims(request), from };
}

/**
 * Answers so that the asker knows a master of the overlay: by the secret's MAC, or signed with the overlay's
 * key for who asks for that.
 */
export type AnswerRequest = (response: ServerResponse, request: DepotRequest, value: object) => void;

export function answersBy(enrolmentSecret: string): AnswerRequest {
  const overlayKey = overlayKeyOf(enrolmentSecret);
  return (response, { claims: { signature = '', wantsOverlayKey } }, value) => {
    const body = Buffer.from(JSON.stringify(value));
    const proof = wantsOverlayKey
      ? signAnswer(overlayKey, signature, body)
      : proveAnswer(enrolmentSecret, signature, body);
    response.setHeader(HEADERS.signature, proof);
    response.setHeader('Cache-Control', 'no-store');
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
    response.end(body);
  };
}

/** Checks that a registration is fresh and made with the enrolment secret; `enrolment-refused` when not. */
export function checkEnrolment(request: DepotRequest, secret: string, nowMs: number): Result<RequestStamp> {
  const { stamp, enrolment } = request.claims;
  if (!stamp || !isFresh(stamp, nowMs)) return refuse('enrolment-refused', CLOCK_DETAIL);
  return isEnrolled({ ...request, stamp }, enrolment, secret) ? ok(stamp) : refuse('enrolment-refused');
}

/** Checks that a request is fresh and signed by this key; `depot-signature-wrong` when not. */
export function checkSignature(
  request: DepotRequest,
  publicKey: string,
  nowMs: number,
): Result<RequestStamp> {
  const { stamp, signature } = request.claims;
  if (!stamp || !isFresh(stamp, nowMs)) return refuse('depot-signature-wrong', CLOCK_DETAIL);
  const isSigned = isSignedBy({ ...request, stamp }, signature, publicKey);
  return isSigned ? ok(stamp) : refuse('depot-signature-wrong');
}

function isFresh({ timeMs }: RequestStamp, nowMs: number): boolean {
  return Math.abs(nowMs - timeMs) <= CLOCK_SKEW_SECONDS * 1000;
}

/**
 * Checks that a request is signed by a join token's key, too; `join-token-unknown` when not, as for a token
 * that nobody knows.
 */
export function checkTokenSignature(request: DepotRequest, tokenKey: string | undefined): Result<void> {
  const { stamp, enrolment } = request.claims;
  const isSigned = stamp && tokenKey !== undefined && isSignedBy({ ...request, stamp }, enrolment, tokenKey);
  return isSigned ? ok(undefined) : refuse('join-token-unknown');
}
