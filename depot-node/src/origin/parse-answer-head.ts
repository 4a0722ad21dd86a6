import type { IncomingHttpHeaders } from 'node:http';
import { MOST_HEAD_BYTES } from '../relay/answer-reader.ts';
import { type AnswerHead, isLength } from './representation.ts';

const STATUS_LINE = /^HTTP\/1\.1 ([1-5][0-9]{2})(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** What would frame or name the body in two ways, were it there twice with different values. */
const SINGLE = new Set([
  'content-length',
  'content-range',
  'content-encoding',
  'etag',
  'last-modified',
  'retry-after',
  'date',
]);

export interface ParsedHead {
  readonly head: AnswerHead;
  /** Length of the head itself. */
  readonly sizeBytes: number;
  /** Length of the body; `undefined` where it is framed by chunks or by the end of the connection. */
  readonly bodyBytes: number | undefined;
  /** Whether the connection ends after this answer. */
  readonly isLast: boolean;
}

/**
 * Reads the head of an answer to a GET over HTTP/1.1 (RFC 9112), as strictly as answers have to be told apart
 * that follow each other on one connection: no folded lines, no bare line ends, no two framings, no length
 * stated twice with different values. `incomplete`: more of it has to come.
 */
export function parseAnswerHead(bytes: Buffer): ParsedHead | 'incomplete' | 'malformed' {
  const end = bytes.indexOf('\r\n\r\n');
  const sizeBytes = end + 4;
  if (end < 0) return bytes.length < MOST_HEAD_BYTES ? 'incomplete' : 'malformed';
  if (sizeBytes > MOST_HEAD_BYTES) return 'malformed';
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const statusCode = Number(STATUS_LINE.exec(statusLine)?.[1]);
  const fields = statusCode > 0 ? readFields(lines) : undefined;
  if (!fields) return 'malformed';
  const { headers } = fields;
  const { 'content-length': length, 'transfer-encoding': coding, connection = '' } = headers;
  if (length !== undefined && (coding !== undefined || !isLength(length))) return 'malformed';
  const hasNoBody = statusCode < 200 || statusCode === 204 || statusCode === 304;
  const known = length === undefined ? undefined : Number(length);
  return {
    head: { statusCode, ...fields },
    sizeBytes,
    bodyBytes: hasNoBody ? 0 : known,
    isLast: /(?:^|[\t ,])close(?:$|[\t ,])/i.test(connection),
  };
}

function readFields(lines: readonly string[]): Pick<AnswerHead, 'headers' | 'rawHeaders'> | undefined {
  const headers: IncomingHttpHeaders & Record<string, string> = {};
  const rawHeaders: string[] = [];
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon));
    const value = withoutBlanks(line.slice(colon + 1));
    if (!NAME.test(name) || !VALUE.test(value)) return undefined;
    rawHeaders.push(name, value);
    const key = name.toLowerCase();
    const known = Object.hasOwn(headers, key) ? headers[key] : undefined;
    if (known !== undefined && known !== value && SINGLE.has(key)) return undefined;
    // One list may stand in several fields (RFC 9110 section 5.3).
    headers[key] = known === undefined || SINGLE.has(key) ? value : `${known}, ${value}`;
  }
  return { headers, rawHeaders };
}

/**
 * Without the spaces and tabs at both ends. By hand: a pattern that tries where each run of them ends takes
 * the square of its length.
 */
function withoutBlanks(text: string): string {
  const isBlank = (at: number) => text[at] === ' ' || text[at] === '\t';
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(start)) start += 1;
  while (end > start && isBlank(end - 1)) end -= 1;
  return text.slice(start, end);
}
