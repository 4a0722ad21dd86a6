import type { IncomingHttpHeaders } from 'node:http';
import { firstByteOf, rangeOf } from './asked-range.ts';

/** One version of a file: enough to ask for a part of it again, over any way, and to see that it is still the same. */
export interface Representation {
  /** Length of the whole file. */
  readonly sizeBytes: number;
  /** A strong validator, as `If-Range` takes it: an entity tag, or a date (RFC 9110 section 13.1.5). */
  readonly validator: string;
  readonly validatedBy: 'etag' | 'last-modified';
  readonly contentEncoding: string;
}

/** A piece of a file. */
export interface Part {
  readonly startByte: number;
  /** The first byte that no longer belongs to it. */
  readonly endByte: number;
}

/** The head of an answer. */
export interface AnswerHead {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
}

/** What says of which file and version an answer is. */
export type VersionHead = Pick<AnswerHead, 'statusCode' | 'headers'>;

/** Two changes within this time may carry the same date (RFC 9110 section 8.8.2.2 asks for one second at least). */
const STRONG_DATE_AGE_MS = 60_000;
const STRONG_ETAG = /^"[\x21\x23-\x7e\x80-\xff]*"$/;
/** With blanks where none belong, and as some write it: `bytes: 0-9/10`, and `bytes=0-9/10`, as it is asked for. */
const CONTENT_RANGE = /^bytes ?[:= ] ?([0-9]{1,15}) ?- ?([0-9]{1,15}) ?\/ ?([0-9]{1,15}|\*)$/i;

/** The part of a file that an answer carries; `undefined` when its length or place is not stated, or it has no body. */
export function readPart({
  statusCode,
  headers,
}: VersionHead): (Part & { readonly sizeBytes: number }) | undefined {
  const lengthBytes = readLength(headers);
  if (statusCode === 200)
    return lengthBytes === undefined
      ? undefined
      : { startByte: 0, endByte: lengthBytes, sizeBytes: lengthBytes };
  const range = statusCode === 206 ? readContentRange(headers) : undefined;
  return range?.sizeBytes === undefined ? undefined : { ...range, sizeBytes: range.sizeBytes };
}

/**
 * The part of a file that `Content-Range` states, whose own length is `undefined` where that is not known
 * yet; `undefined` where it is none, or not as long as the body is stated to be.
 */
export function readContentRange(
  headers: IncomingHttpHeaders,
): (Part & { readonly sizeBytes: number | undefined }) | undefined {
  const found = CONTENT_RANGE.exec((headers['content-range'] ?? '').replace(/[\t ]+/g, ' ').trim());
  if (!found) return undefined;
  const startByte = Number(found[1]);
  const endByte = Number(found[2]) + 1;
  const sizeBytes = found[3] === '*' ? undefined : Number(found[3]);
  const isSound = startByte < endByte && endByte <= (sizeBytes ?? endByte);
  const lengthBytes = readLength(headers) ?? endByte - startByte;
  return isSound && lengthBytes === endByte - startByte ? { startByte, endByte, sizeBytes } : undefined;
}

/** What a part is said by, and what frames its body. */
const OF_THE_PART = new Set(['content-range', 'content-length', 'transfer-encoding']);

/**
 * The head of an answer to a request with this `Range`, if any, as it should have been: 200 with the file's
 * length where the whole of a file comes as a part that nobody asked for, which is another way to have no
 * ranges (RFC 9110 section 14.2). How its body is framed is for whoever reads that; how long it is to be is
 * known.
 */
export function asAsked(head: AnswerHead, range: string | undefined): AnswerHead {
  const part = head.statusCode === 206 ? readPart(head) : undefined;
  const isWhole = part?.startByte === 0 && part.endByte === part.sizeBytes;
  const isOther = range === undefined || (firstByteOf(range) ?? 0) > 0;
  if (!isWhole || !isOther) return head;
  const length = String(part.sizeBytes);
  const { 'content-range': _, 'transfer-encoding': __, ...headers } = head.headers;
  const rawHeaders: string[] = [];
  for (let index = 0; index + 1 < head.rawHeaders.length; index += 2) {
    const name = head.rawHeaders[index] ?? '';
    if (!OF_THE_PART.has(name.toLowerCase())) rawHeaders.push(name, head.rawHeaders[index + 1] ?? '');
  }
  rawHeaders.push('Content-Length', length);
  return { statusCode: 200, headers: { ...headers, 'content-length': length }, rawHeaders };
}

/**
 * The version of the file that an answer is a part of; `undefined` where parts of it must never be joined: no known
 * length, no strong validator, or an origin that says it has no ranges.
 */
export function readRepresentation(answer: VersionHead): Representation | undefined {
  const { headers } = answer;
  const part = readPart(answer);
  const strong = strongValidator(headers);
  if (!part || !strong || headers['accept-ranges']?.toLowerCase() === 'none') return undefined;
  return { sizeBytes: part.sizeBytes, contentEncoding: headers['content-encoding'] ?? '', ...strong };
}

/**
 * Whether an answer shows that its origin gives parts of files: it is one, or says so. Whoever has ranges
 * says so; who says nothing may pay no heed to `Range`.
 */
export function showsRanges({ statusCode, headers }: VersionHead): boolean {
  const said = headers['accept-ranges']?.toLowerCase();
  return statusCode === 206 || (said !== undefined && said !== 'none');
}

/** The headers that ask for a part of exactly this version. */
export function headersForPart({ validator }: Representation, part: Part) {
  return { range: rangeOf(part), 'if-range': validator };
}

/** The same, over a connection that goes on as a lane. */
export function headersForBlock(representation: Representation, block: Part) {
  return { ...headersForPart(representation, block), connection: 'keep-alive' };
}

/** What tells a version from all others, where these headers have something that does. */
export function strongValidator(
  headers: IncomingHttpHeaders,
): Pick<Representation, 'validator' | 'validatedBy'> | undefined {
  const { etag, 'last-modified': modified } = headers;
  // A weak tag says that the bytes may differ, whatever the dates say.
  if (etag !== undefined)
    return STRONG_ETAG.test(etag) ? { validator: etag, validatedBy: 'etag' } : undefined;
  if (modified === undefined) return undefined;
  return ageMs(headers) >= STRONG_DATE_AGE_MS
    ? { validator: modified, validatedBy: 'last-modified' }
    : undefined;
}

/**
 * A file that was changed within this time is likely to change again: a log, a recording, what is still being
 * uploaded.
 */
const BEING_WRITTEN_MS = 60_000;

/**
 * Whether a file seems to be written while it is answered: each later question would find it in another
 * version. Clocks of file servers differ from those of web servers, in both directions.
 */
export function isBeingWritten({ headers }: VersionHead): boolean {
  // A cache says with what it has kept when that was made, and how long ago that was (RFC 9111, section 5.1).
  const keptMs = 1000 * Number(headers.age ?? 0);
  return Math.abs(ageMs(headers) + keptMs) < BEING_WRITTEN_MS;
}

/** How long before its answer a file was changed; not a number where either is not said. */
function ageMs({ date, 'last-modified': modified }: IncomingHttpHeaders): number {
  return Date.parse(date ?? '') - Date.parse(modified ?? '');
}

function readLength(headers: IncomingHttpHeaders): number | undefined {
  const { 'content-length': length = '', 'transfer-encoding': coding } = headers;
  return coding === undefined && isLength(length) ? Number(length) : undefined;
}

/** Whether a text is a length in bytes that a number holds exactly. */
export function isLength(text: string): boolean {
  return /^[0-9]{1,15}$/.test(text);
}

/**
 * Whether a body of this answer to a request would end with its connection. Through a tunnel that end proves
 * nothing: the kernel of a depot that was killed ends its connections in the same way.
 */
export function endsWithConnection({ statusCode, headers }: VersionHead, method: 'GET' | 'HEAD'): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = headers;
  const hasBody = method === 'GET' && statusCode !== 204 && statusCode !== 304;
  return hasBody && length === undefined && coding === undefined;
}
