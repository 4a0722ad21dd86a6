/**
 * Signed requests: depot <-> master.
 *
 *     POST /v1/depots/<id>/heartbeat HTTP/1.1
 *     Longhaul-Time: <Unix time in ms>
 *     Longhaul-Sequence: <epoch> <number>
 *     Longhaul-Signature: <Ed25519 signature, base64url>
 *     Longhaul-Enrolment: <HMAC-SHA256 under the enrolment secret, base64url>  (registrations of who has it)
 *     Longhaul-Proofs: overlay-key                                             (depots that joined with a token)
 *
 * The time bounds how long a recorded request could be of use. Order comes from the sequence alone, so a
 * clock may be set.
 */
import { PROTOCOL_VERSION, signedText } from './protocol.ts';

/** When and in which order a depot sent a request to its master. */
export interface RequestStamp {
  readonly timeMs: number;
  /** Stands for one running process of the depot: made at its start, by chance, never used again. */
  readonly epoch: string;
  /** Counts the requests of an epoch, from 1. */
  readonly sequence: number;
}

export function formatSequence({ epoch, sequence }: Pick<RequestStamp, 'epoch' | 'sequence'>): string {
  return `${epoch} ${sequence}`;
}

/** Reads the headers of time and sequence; `undefined` where one is missing or damaged. */
export function parseStamp(time: string | undefined, sequence: string | undefined): RequestStamp | undefined {
  const [, epoch, number] = /^([A-Za-z0-9_-]{8,24}) ([1-9][0-9]{0,14})$/.exec(sequence ?? '') ?? [];
  if (time === undefined || !/^[0-9]{1,15}$/.test(time) || epoch === undefined) return undefined;
  return { timeMs: Number(time), epoch, sequence: Number(number) };
}

/** The bytes that a depot signs for a request to its master; `bodySha256` in base64url. */
export function signedRequestText(
  method: string,
  path: string,
  stamp: RequestStamp,
  bodySha256: string,
): string {
  return signedText('request', method, path, stamp.timeMs, formatSequence(stamp), bodySha256);
}

/** Value of a request's `Longhaul-Proofs`: the answer is to be signed with the overlay's key. */
export const OVERLAY_KEY = 'overlay-key';
/** What the overlay's key is worked out of the enrolment secret for. */
export const OVERLAY_KEY_PURPOSE = `longhaul-overlay-key-${PROTOCOL_VERSION}`;

/** The bytes that a depot's new key signs, so that nobody takes another one's public key for his. */
export function newKeyText(depot: string, oldKey: string, newKey: string): string {
  return signedText('new-key', depot, oldKey, newKey);
}

/**
 * The bytes with which a master's answer proves itself and its freshness: under the enrolment secret's MAC,
 * or signed with the overlay's key.
 */
export function signedAnswerText(requestSignature: string, bodySha256: string): string {
  return signedText('answer', requestSignature, bodySha256);
}
