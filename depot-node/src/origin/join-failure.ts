import type { IncomingHttpHeaders } from 'node:http';
import { type ErrorCode, LonghaulError } from '@longhaul/shared';
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

/**
 * Why the bytes of an answer to `Range` with `If-Range` may not be joined to what is there: an `OriginBusy`, another version
 * of the file (`origin-changed`), or something else than what was asked for (`origin-bad-answer`). `undefined` when they
 * may.
 */
export function joinFailure(
  answer: VersionHead,
  representation: Representation,
  asked: Part,
): LonghaulError | undefined {
  const code = whyNotJoined(answer, representation, asked);
  const { statusCode, headers } = answer;
  if (code === undefined) return undefined;
  if (statusCode === 429 || statusCode === 503) return new OriginBusy(statusCode, readRetryAfter(headers));
  return new LonghaulError(code, { detail: `the origin answered ${statusCode}` });
}

function whyNotJoined(
  answer: VersionHead,
  representation: Representation,
  asked: Part,
): ErrorCode | undefined {
  const { statusCode, headers } = answer;
  // The whole file instead of a part, or a part that no longer exists: If-Range did not hold.
  if (statusCode === 200 || statusCode === 412 || statusCode === 416) return 'origin-changed';
  const part = readPart(answer);
  if (statusCode !== 206 || !part) return 'origin-bad-answer';
  const { validator, validatedBy, sizeBytes, contentEncoding } = representation;
  if (part.sizeBytes !== sizeBytes || headers[validatedBy] !== validator) return 'origin-changed';
  if ((headers['content-encoding'] ?? '') !== contentEncoding) return 'origin-changed';
  const isAsked = part.startByte === asked.startByte && part.endByte === asked.endByte;
  return isAsked ? undefined : 'origin-bad-answer';
}

/** Seconds that a `Retry-After` asks for (RFC 9110 section 10.2.3); a date counts from the answer's own. */
export function readRetryAfter(headers: IncomingHttpHeaders): number | undefined {
  const { 'retry-after': text, date } = headers;
  if (text === undefined) return undefined;
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  const seconds = (Date.parse(text) - Date.parse(date ?? '')) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
