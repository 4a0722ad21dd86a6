import type { IncomingHttpHeaders } from 'node:http';
import { LonghaulError, ok, type Result, refuse } from '@longhaul/shared';
import { type Part, type Representation, readPart, type VersionHead } from './representation.ts';

/** An origin's 429 or 503: it takes no further request for now. */
export class OriginBusy extends LonghaulError {
  /** How long it asks to be left alone; `undefined` where it does not say. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, retryAfterSeconds: number | undefined) {
    const wait = retryAfterSeconds === undefined ? '' : `, retry after ${Math.ceil(retryAfterSeconds)} s`;
    super('origin-busy', { detail: `${status}${wait}` });
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Origins may give a shorter part than they are asked for; below this they cost more requests than their bytes are worth. */
const LEAST_PART_BYTES = 65_536;

/**
 * The part of a file that an answer to `Range` with `If-Range` gives, to be joined to what is there: from the first byte
 * asked for, to the last one or one before it. Refuses with an `OriginBusy`, another version of the file
 * (`origin-changed`), or something else than what was asked for (`origin-bad-answer`).
 */
export function joinedPart(answer: VersionHead, representation: Representation, asked: Part): Result<Part> {
  const { statusCode, headers } = answer;
  if (statusCode === 429 || statusCode === 503)
    return { ok: false, error: new OriginBusy(statusCode, readRetryAfter(headers)) };
  // The whole file instead of a part, or a part that no longer exists: If-Range did not hold.
  const isChanged = statusCode === 200 || statusCode === 412 || statusCode === 416;
  const part = isChanged ? undefined : readPart(answer);
  if (isChanged || (part && !isSameVersion(part.sizeBytes, headers, representation)))
    return refuse('origin-changed', `the origin answered ${statusCode}`);
  const { startByte = -1, endByte = -1 } = part ?? {};
  const isEnough = endByte === asked.endByte || endByte - startByte >= LEAST_PART_BYTES;
  const isAsked = startByte === asked.startByte && endByte <= asked.endByte && isEnough;
  return statusCode === 206 && isAsked
    ? ok({ startByte, endByte })
    : refuse('origin-bad-answer', `the origin answered ${statusCode}`);
}

/**
 * Whether a part is of this version. After `If-Range` a server leaves out what the asker knows (RFC 9110 section 15.3.7),
 * `Last-Modified` and `Content-Encoding` among it, but never the entity tag.
 */
function isSameVersion(
  sizeBytes: number,
  headers: IncomingHttpHeaders,
  { validator, validatedBy, contentEncoding, sizeBytes: knownBytes }: Representation,
): boolean {
  const given = headers[validatedBy] ?? (validatedBy === 'last-modified' ? validator : undefined);
  const coding = headers['content-encoding'] ?? contentEncoding;
  return sizeBytes === knownBytes && given === validator && coding === contentEncoding;
}

/** Seconds that a `Retry-After` asks for (RFC 9110 section 10.2.3); a date counts from the answer's own. */
export function readRetryAfter(headers: IncomingHttpHeaders): number | undefined {
  const { 'retry-after': text, date } = headers;
  if (text === undefined) return undefined;
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  const seconds = (Date.parse(text) - Date.parse(date ?? '')) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
