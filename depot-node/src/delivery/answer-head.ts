import type { IncomingMessage } from 'node:http';
import { type ErrorCode, HEADERS, LonghaulError, type OriginUrl } from '@longhaul/shared';
import { headersToClient, SAFETY_HEADERS } from '../door/client-headers.ts';
import type { Job } from '../jobs/job-memory.ts';
import { type AnswerHead, type Part, readContentRange, readPart } from '../origin/representation.ts';
import { dispositionFor } from './download-name.ts';

/** What describes one part only, and not the file or the part that the client gets. */
const OF_THE_BLOCK = new Set(['content-length', 'content-range', 'content-md5', 'content-digest']);

/** Refusals that may be of whoever asks: of a data centre's address, of a country, of another address than a link was made for. */
const OF_WHO_ASKS = new Set([403, 451]);
/** Redirects that a depot does not follow and a client may: it has cookies, and goes from https to http where it likes. */
const NOT_FOLLOWED: ReadonlySet<ErrorCode> = new Set([
  'redirect-limit',
  'redirect-downgrade',
  'redirect-bad-target',
]);

/** What an origin may answer to a client that goes on with a download. */
const RESUME_ANSWERS = new Set([200, 206, 304, 412, 416]);

/**
 * The head with which the client gets all it asked for, `isWhole` or a part that goes to the end of the file, made of the
 * head of an answer with the first block of it.
 */
export function headOfAll(block: AnswerHead, { startByte, endByte }: Part, isWhole: boolean): AnswerHead {
  const kept: string[] = [];
  for (let index = 0; index + 1 < block.rawHeaders.length; index += 2) {
    const name = block.rawHeaders[index] ?? '';
    if (!OF_THE_BLOCK.has(name.toLowerCase())) kept.push(name, block.rawHeaders[index + 1] ?? '');
  }
  // nginx, for one, says it with whole files alone; Firefox resumes nothing without it. This answer proves it.
  if (isWhole && block.headers['accept-ranges'] === undefined) kept.push('Accept-Ranges', 'bytes');
  kept.push('Content-Length', String(endByte - startByte));
  if (!isWhole) kept.push('Content-Range', `bytes ${startByte}-${endByte - 1}/${endByte}`);
  return { statusCode: isWhole ? 200 : 206, headers: block.headers, rawHeaders: kept };
}

/** The headers of an answer as the client gets them: of what the origin gives at this URL, in this job at this depot. */
export function answerHeaders(
  head: AnswerHead,
  url: OriginUrl,
  jobId: string,
  depotId: string,
): readonly (readonly [string, string])[] {
  const { statusCode, headers, rawHeaders } = head;
  const isError = statusCode >= 400;
  // An origin's error page must not run under this depot's name, so it is shown as text. A 204 has no length at all.
  const left = isError ? /^content-type$/i : statusCode === 204 ? /^content-length$/i : undefined;
  const passed = headersToClient(rawHeaders).filter(([name]) => left?.test(name) !== true);
  // A part has a known length also where the origin frames it otherwise: its rest may come over another way, framed by it.
  const isCounted = passed.some(([name]) => /^content-length$/i.test(name));
  const part = statusCode === 206 && !isCounted ? readPart(head) : undefined;
  if (part) passed.push(['Content-Length', String(part.endByte - part.startByte)]);
  const own = ownHeaders(jobId, depotId);
  if (isError) own.push(['Content-Type', 'text/plain; charset=utf-8']);
  else own.push(['Content-Disposition', dispositionFor(headers['content-disposition'], url)]);
  return [...passed, ...own];
}

function ownHeaders(jobId: string, depotId: string): [string, string][] {
  return [...Object.entries(SAFETY_HEADERS), [HEADERS.depot, depotId], [HEADERS.job, jobId]];
}

/**
 * Whether an origin may give the client itself what it refuses to a depot. An address that has worked is never answered with a
 * redirect: browsers would drop the bytes they have.
 */
export function mayGiveClient({ statusCode }: AnswerHead, job: Job): boolean {
  return OF_WHO_ASKS.has(statusCode) && !job.hasWorked;
}

/**
 * Whether the client itself may follow a redirect that this depot does not. What begins further on may be the rest of what a depot gave
 * before it was started anew: that, too, is an address that has worked.
 */
export function mayFollowItself(
  failure: LonghaulError,
  { headers: { range = 'bytes=0-' } }: IncomingMessage,
  job: Job,
): boolean {
  return NOT_FOLLOWED.has(failure.code) && !job.hasWorked && range === 'bytes=0-';
}

/** The headers of an answer that leads the client to the origin itself, by `location`; `code` says why, where the depot has failed. */
export function directHeaders(
  location: string,
  jobId: string,
  depotId: string,
  code?: ErrorCode,
): readonly (readonly [string, string])[] {
  const failed = code === undefined ? [] : [[HEADERS.error, code] as const];
  return [...ownHeaders(jobId, depotId), ...failed, ['Location', location], ['Content-Length', '0']];
}

/**
 * Why an answer may not be passed on: a login is never carried, an address that worked once is never answered as if there
 * were nothing, and a part must be what was asked for. `undefined` when it may.
 */
export function whyUnusable(
  request: IncomingMessage,
  head: AnswerHead,
  isFirstBlock: boolean,
  job: Job,
): LonghaulError | undefined {
  const { statusCode } = head;
  if (statusCode === 401 || statusCode === 407) return new LonghaulError('origin-needs-login');
  if (job.hasWorked && !RESUME_ANSWERS.has(statusCode))
    return new LonghaulError('origin-unavailable', { detail: `it answered ${statusCode}` });
  const isForeign = statusCode === 206 && !isFirstBlock && !isPartOf(request, head);
  return isForeign || (statusCode === 200 && isCut(head))
    ? new LonghaulError('origin-bad-answer')
    : undefined;
}

/** Whether a 200 says of itself that it is a part: a client would take that for the file. */
function isCut({ headers }: AnswerHead): boolean {
  const part = readPart({ statusCode: 206, headers });
  return part !== undefined && part.endByte - part.startByte < part.sizeBytes;
}

/** Whether a 206 is something that the client's `Range` asked for. Several ranges come in a form that only it reads. */
function isPartOf({ headers: { range } }: IncomingMessage, head: AnswerHead): boolean {
  if (range === undefined) return false;
  if (head.headers['content-type']?.toLowerCase().startsWith('multipart/byteranges'))
    return range.includes(',');
  const part = readContentRange(head.headers);
  const from = /^bytes=([0-9]+)-[0-9]*$/.exec(range)?.[1];
  return part !== undefined && (from === undefined || part.startByte === Number(from));
}
