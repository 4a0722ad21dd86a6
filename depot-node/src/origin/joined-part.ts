import type { IncomingHttpHeaders } from 'node:http';
import { LonghaulError, ok, type Result, refuse } from '@longhaul/shared';
import {
  type Part,
  type Representation,
  readPart,
  strongValidator,
  type VersionHead,
} from './representation.ts';

/** An origin's 429 or 503: it takes no further request for now. */
export class OriginBusy extends LonghaulError {
  constructor(status: number, retryAfterSeconds: number | undefined) {
    const wait = retryAfterSeconds === undefined ? '' : `, retry after ${Math.ceil(retryAfterSeconds)} s`;
    super('origin-busy', { detail: `${status}${wait}`, retryAfterSeconds });
  }
}

/** An origin's no to an address that may have been good before: what led there may lead to another one now. */
export class AddressRefused extends LonghaulError {
  constructor(status: number) {
    super('origin-bad-answer', { detail: `the origin answered ${status}` });
  }
}

/** Refusals that say nothing of the address. */
const NOT_OF_ADDRESS = new Set([408, 412, 416, 429]);

/**
 * Whether an address that was good before may be so no longer: a redirect's target may live shorter than the
 * download.
 */
export function isOutdated(statusCode: number): boolean {
  return statusCode >= 400 && statusCode < 500 && !NOT_OF_ADDRESS.has(statusCode);
}

/**
 * Origins may give a shorter part than they are asked for; below this they cost more requests than their
 * bytes are worth.
 */
export const LEAST_PART_BYTES = 65_536;

/**
 * The part of a file that an answer to `Range` with `If-Range` gives, to be joined to what is there: from the
 * first byte asked for, to the last one or one before it. Refuses with an `OriginBusy`, another version of
 * the file (`origin-changed`), or something else than what was asked for (`origin-bad-answer`, an
 * `AddressRefused` where that is a no).
 */
export function joinedPart(answer: VersionHead, representation: Representation, asked: Part): Result<Part> {
  const { statusCode, headers } = answer;
  const busy = busyOrigin(answer);
  if (busy) return { ok: false, error: busy };
  // The whole file instead of a part, or a part that no longer exists: If-Range did not hold.
  const isChanged = statusCode === 200 || statusCode === 412 || statusCode === 416;
  const part = isChanged ? undefined : readPart(answer);
  if (isChanged || (part && !isPartOfVersion(part.sizeBytes, headers, representation)))
    return refuse('origin-changed', `the origin answered ${statusCode}`);
  const { startByte = -1, endByte = -1 } = part ?? {};
  const isEnough = endByte === asked.endByte || endByte - startByte >= LEAST_PART_BYTES;
  const isAsked = startByte === asked.startByte && endByte <= asked.endByte && isEnough;
  if (statusCode === 206 && isAsked) return ok({ startByte, endByte });
  return isOutdated(statusCode)
    ? { ok: false, error: new AddressRefused(statusCode) }
    : refuse('origin-bad-answer', `the origin answered ${statusCode}`);
}

/**
 * Whether a part is of this version. After `If-Range` a server leaves out what the asker knows (RFC 9110
 * section 15.3.7), `Last-Modified` and `Content-Encoding` among it, but never the entity tag.
 */
function isPartOfVersion(
  sizeBytes: number,
  headers: IncomingHttpHeaders,
  { validator, validatedBy, contentEncoding, sizeBytes: knownBytes }: Representation,
): boolean {
  const given = headers[validatedBy] ?? (validatedBy === 'last-modified' ? validator : undefined);
  const coding = headers['content-encoding'] ?? contentEncoding;
  return sizeBytes === knownBytes && given === validator && coding === contentEncoding;
}

/**
 * Whether an answer brings the whole file, of this version: a server may pay no heed to `Range` (RFC 9110
 * section 14.2). One strong validator is one text, so that what is there of it need not be compared.
 */
export function isWholeOf(
  answer: VersionHead,
  { validator, validatedBy, contentEncoding, sizeBytes }: Representation,
): boolean {
  const { statusCode, headers } = answer;
  const isNamedSo = headers[validatedBy] === validator;
  const isCodedSo = (headers['content-encoding'] ?? '') === contentEncoding;
  return statusCode === 200 && isNamedSo && isCodedSo && readPart(answer)?.sizeBytes === sizeBytes;
}

/** The refusal of an origin that takes no further request for now. */
export function busyOrigin({ statusCode, headers }: VersionHead): OriginBusy | undefined {
  const isBusy = statusCode === 429 || statusCode === 503;
  return isBusy ? new OriginBusy(statusCode, readRetryAfter(headers)) : undefined;
}

/**
 * Whether the head of an answer to the same request says nothing that makes it another file than the first
 * answer did, but for its length. Servers behind one name may each have an entity tag of their own: one date
 * of the last change does then.
 */
export function isSameAnswer(first: VersionHead, again: VersionHead): boolean {
  const isSame = (name: 'content-type' | 'content-encoding' | 'last-modified' | 'etag') =>
    first.headers[name] === again.headers[name];
  const isSameForm =
    first.statusCode === again.statusCode && isSame('content-type') && isSame('content-encoding');
  if (first.headers.etag !== undefined && isSame('etag')) return isSameForm;
  const isDated = first.headers['last-modified'] !== undefined && isSame('last-modified');
  return isSameForm && (isDated || (isSame('etag') && (isSame('last-modified') || !isOld(first))));
}

/**
 * Whether an answer of another version seems to be the same file, from another server of its name that calls
 * it by a tag of its own: as long, and last changed at the same time. That proves nothing, but the server
 * that has begun it is likely to be there.
 */
export function isNamedOtherwise(first: VersionHead, again: VersionHead, sizeBytes: number): boolean {
  const { etag, 'last-modified': modified } = again.headers;
  const isDated = modified !== undefined && isOld(first) && first.headers['last-modified'] === modified;
  const isTagged = etag !== undefined && etag !== first.headers.etag;
  return isDated && isTagged && readPart(again)?.sizeBytes === sizeBytes;
}

/**
 * Whether an answer's date of the last change is one: whoever makes a file as it is asked for may give the
 * time of day.
 */
function isOld({ headers }: VersionHead): boolean {
  return strongValidator({ 'last-modified': headers['last-modified'], date: headers.date }) !== undefined;
}

/** Seconds that a `Retry-After` asks for (RFC 9110 section 10.2.3); a date counts from the answer's own. */
export function readRetryAfter(headers: IncomingHttpHeaders): number | undefined {
  const { 'retry-after': text, date } = headers;
  if (text === undefined) return undefined;
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  const seconds = (Date.parse(text) - Date.parse(date ?? '')) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
