import type { IncomingMessage } from 'node:http';
import { LonghaulError, type OriginUrl } from '@longhaul/shared';
import { isFromBeginning, mayBeLed, onlyLooks } from '../../door/asked-part.ts';
import { headersToClient, ownHeaders } from '../../door/client-headers.ts';
import type { Job } from '../../jobs/job-memory.ts';
import { firstByteOf } from '../../origin/asked-range.ts';
import { isChallenge } from '../../origin/challenge.ts';
import { readRetryAfter } from '../../origin/joined-part.ts';
import { type AnswerHead, type Part, readContentRange, readPart } from '../../origin/representation.ts';
import { dispositionFor, isNamedAlike } from './download-name.ts';

/** What describes one part only, and not the file or the part that the client gets. */
const OF_THE_BLOCK = new Set([
  'content-length',
  'content-range',
  'content-md5',
  'content-digest',
  'transfer-encoding',
]);

/**
 * Refusals that may be of whoever asks: of a data centre's address, of a country, of another address than a
 * link was made for.
 */
const OF_WHO_ASKS = new Set([403, 451]);
/**
 * What it says to those who ask too often, or who look like a program, beside a challenge: of one depot's
 * address many clients ask. They wait with what they have.
 */
const OF_HOW_MANY_ASK = new Set([406, 429, 503]);
/** What an origin may answer to a client that goes on with a download. */
const RESUME_ANSWERS = new Set([200, 206, 304, 412, 416]);

/** Shorter text gains less by its compression than a redirect takes. */
const LEAST_COMPRESSED_BYTES = 1_000_000;
/** Types of text, which compression makes several times shorter. */
const TEXT_TYPE = /^(?:text\/|[^;]*[/+.-](?:json|ndjson|xml|csv|javascript|sql)\s*(?:;|$))/i;
/** A coding of `Accept-Encoding` that a client takes: one with a weight of 0 is refused. */
const COMPRESSION = /^\s*(?:gzip|br|zstd)\s*(?:;(?!\s*q=0(?:\.0*)?\s*$)|$)/i;

/**
 * The head with which the client gets all it asked for, `isWhole` or a part that goes to the end of the file,
 * made of the head of an answer with the first block of it.
 */
export function headOfAll(block: AnswerHead, { startByte, endByte }: Part, isWhole: boolean): AnswerHead {
  const kept: string[] = [];
  for (let index = 0; index + 1 < block.rawHeaders.length; index += 2) {
    const name = block.rawHeaders[index] ?? '';
    if (!OF_THE_BLOCK.has(name.toLowerCase())) kept.push(name, block.rawHeaders[index + 1] ?? '');
  }
  const headers = Object.fromEntries(
    Object.entries(block.headers).filter(([name]) => !OF_THE_BLOCK.has(name)),
  );
  const head = { statusCode: isWhole ? 200 : 206, headers, rawHeaders: kept };
  const ofAll = withHeader(head, 'Content-Length', String(endByte - startByte));
  if (isWhole) return sayingRanges(ofAll);
  return withHeader(ofAll, 'Content-Range', `bytes ${startByte}-${endByte - 1}/${endByte}`);
}

/**
 * The head of an answer, of an origin that has given a block. nginx, for one, says that with whole files
 * alone, and others nowhere; Firefox resumes nothing without it.
 */
export function sayingRanges(head: AnswerHead): AnswerHead {
  const isSaid = head.statusCode !== 200 || head.headers['accept-ranges'] !== undefined;
  return isSaid ? head : withHeader(head, 'Accept-Ranges', 'bytes');
}

function withHeader(
  { statusCode, headers, rawHeaders }: AnswerHead,
  name: string,
  value: string,
): AnswerHead {
  return {
    statusCode,
    headers: { ...headers, [name.toLowerCase()]: value },
    rawHeaders: [...rawHeaders, name, value],
  };
}

/** What says of a file what it is. There are programs that say it with the whole, and not with its parts. */
const OF_THE_FILE = ['content-type', 'content-disposition', 'repr-digest', 'digest'] as const;

/** Whether a block says of its file what the whole does. */
export function saysAsMuch(block: AnswerHead, whole: AnswerHead): boolean {
  return OF_THE_FILE.every((name) => block.headers[name] === whole.headers[name]);
}

/**
 * The headers of an answer as the client gets them: of what the origin gives at this URL, in this job at this
 * depot.
 */
export function answerHeaders(
  request: IncomingMessage,
  head: AnswerHead,
  url: OriginUrl,
  { jobId, depotId }: { readonly jobId: string; readonly depotId: string },
): readonly (readonly [string, string])[] {
  const { statusCode, headers, rawHeaders } = head;
  const isError = statusCode >= 400;
  // An origin's error page must not run under this depot's name, so it is shown as text. A 204 has no length at all.
  const left = isError ? /^content-type$/i : statusCode === 204 ? /^content-length$/i : undefined;
  const passed = headersToClient(rawHeaders).filter(([name]) => left?.test(name) !== true);
  // A part has a known length also where the origin frames it otherwise: its rest may come over another way,
  // framed by it.
  const isCounted = passed.some(([name]) => /^content-length$/i.test(name));
  const part = statusCode === 206 && !isCounted ? readPart(head) : undefined;
  if (part) passed.push(['Content-Length', String(part.endByte - part.startByte)]);
  const own = ownHeaders(jobId, depotId);
  const { 'content-disposition': given, 'content-type': type } = headers;
  if (isError) own.push(['Content-Type', 'text/plain; charset=utf-8']);
  else own.push(['Content-Disposition', dispositionFor(given, url, isNamedAlike(request, type, url))]);
  return [...passed, ...own];
}

/**
 * Whether an origin may give the client itself what it does not give this depot. An address that has worked
 * is never answered with a redirect: browsers would drop the bytes they have.
 */
export function mayGiveClient(request: IncomingMessage, head: AnswerHead, job: Job): boolean {
  if (job.hasWorked || onlyLooks(request)) return false;
  if (OF_WHO_ASKS.has(head.statusCode)) return true;
  if (isChallenge(head) || OF_HOW_MANY_ASK.has(head.statusCode)) return mayBeLed(request);
  return isFromBeginning(request) && (isPage(request, head) || isCompressedForClient(request, head));
}

/**
 * Whether an origin would give a client the file compressed, which it gives a depot as it is: depots ask for
 * no coding, so that parts can be joined whatever way they come over. Who compresses while it sends states no
 * length, also not of what it leaves as it is: that may be long.
 */
export function isCompressedForClient(
  { method, headers: asked }: Pick<IncomingMessage, 'method' | 'headers'>,
  head: AnswerHead,
): boolean {
  const isOfBody = method !== 'HEAD' && head.statusCode === 200;
  const { sizeBytes = Number.POSITIVE_INFINITY } = readPart(head) ?? {};
  const isLong = isOfBody && sizeBytes >= LEAST_COMPRESSED_BYTES;
  if (!isLong || head.headers['content-encoding'] !== undefined || !isByCoding(head)) return false;
  return (asked['accept-encoding'] ?? '').split(',').some((one) => COMPRESSION.test(one));
}

/**
 * Whether a file comes in a coding for who takes one: text that is said to depend on that, or what Google's
 * storage has in one and has taken out of it.
 */
function isByCoding({ headers }: AnswerHead): boolean {
  const { 'content-type': type = '', vary = '' } = headers;
  const isVaried = TEXT_TYPE.test(type) && /(?:^|,)\s*accept-encoding\s*(?:,|$)/i.test(vary);
  return isVaried || COMPRESSION.test(String(headers['x-goog-stored-content-encoding']));
}

/**
 * Whether somebody has gone to a page that the origin means to be read: a login, a mirror list, or that there
 * is nothing, for those without cookies at least. From a depot it could only be saved.
 */
export function isPage({ headers: asked }: IncomingMessage, { headers }: AnswerHead): boolean {
  const isGoing = asked['sec-fetch-mode'] === 'navigate' || asked['sec-fetch-mode'] === undefined;
  const isShown = /^(?:text\/html|application\/xhtml\+xml)\b/i.test(headers['content-type'] ?? '');
  const isSaved = /^\s*attachment\b/i.test(headers['content-disposition'] ?? '');
  return isShown && !isSaved && isGoing && asked.accept?.includes('text/html') === true;
}

/**
 * Why an answer may not be passed on: a login is never carried, an address that worked once is never answered
 * as if there were nothing, and a part must be what was asked for. `undefined` when it may.
 */
export function whyUnusable(
  request: Pick<IncomingMessage, 'headers'>,
  head: AnswerHead,
  isFirstBlock: boolean,
  job: Job,
): LonghaulError | undefined {
  const { statusCode } = head;
  if (statusCode === 401 || statusCode === 407) return new LonghaulError('origin-needs-login');
  if (job.hasWorked && !RESUME_ANSWERS.has(statusCode))
    return new LonghaulError('origin-unavailable', {
      detail: `it answered ${statusCode}`,
      retryAfterSeconds: readRetryAfter(head.headers),
    });
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
function isPartOf({ headers: { range } }: Pick<IncomingMessage, 'headers'>, head: AnswerHead): boolean {
  if (range === undefined) return false;
  if (head.headers['content-type']?.toLowerCase().startsWith('multipart/byteranges'))
    return range.includes(',');
  const part = readContentRange(head.headers);
  return part !== undefined && part.startByte === (firstByteOf(range) ?? part.startByte);
}
