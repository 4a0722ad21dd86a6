import type { IncomingHttpHeaders } from 'node:http';
import { LonghaulError } from '@longhaul/shared';
import { type AnswerHead, type Part, type Representation, whyNotJoined } from '../entry/representation.ts';

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

/** Seconds that a `Retry-After` asks for (RFC 9110 section 10.2.3); a date counts from the answer's own. */
export function readRetryAfter(headers: IncomingHttpHeaders): number | undefined {
  const { 'retry-after': text, date } = headers;
  if (text === undefined) return undefined;
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  const seconds = (Date.parse(text) - Date.parse(date ?? '')) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

/**
 * Why an answer to a part may not be joined to what is there, as a failure: an `OriginBusy`, or what `whyNotJoined` says.
 * `undefined` when it may.
 */
export function joinFailure(
  answer: AnswerHead,
  representation: Representation,
  asked: Part,
): LonghaulError | undefined {
  const code = whyNotJoined(answer, representation, asked);
  const { statusCode = 0, headers } = answer;
  if (code === undefined) return undefined;
  if (statusCode === 429 || statusCode === 503) return new OriginBusy(statusCode, readRetryAfter(headers));
  return new LonghaulError(code, { detail: `the origin answered ${statusCode}` });
}
