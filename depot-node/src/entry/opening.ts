import type { IncomingMessage } from 'node:http';
import type { TicketClaims } from '@longhaul/shared';
import {
  type AnswerHead,
  type Part,
  type Representation,
  readPart,
  readRepresentation,
} from './representation.ts';

/**
 * The first block of a download that may use lanes: the client asks for a whole file or for all from a byte on, and is
 * asked for a block of it, whose answer tells the file's size and version. `undefined` where the request must go to the
 * origin as it is: no lanes in the plan, a client that asks for parts itself, or one with several connections.
 */
export function firstBlock(
  { method, headers }: IncomingMessage,
  { lanes }: TicketClaims,
  connections: number,
  blockBytes: number,
): Part | undefined {
  const from = /^bytes=([0-9]{1,15})-$/.exec(headers.range ?? 'bytes=0-')?.[1];
  const isConditional = headers['if-none-match'] ?? headers['if-modified-since'];
  if (method !== 'GET' || lanes <= 1 || connections > 1 || from === undefined || isConditional !== undefined)
    return undefined;
  return { startByte: Number(from), endByte: Number(from) + blockBytes };
}

/** Headers that ask for a block beside those of the client's own request. */
export function headersForBlock({ startByte, endByte }: Part): { readonly range: string } {
  return { range: `bytes=${startByte}-${endByte - 1}` };
}

/**
 * How an answer to the first block serves the client: with its part and version, as the beginning of what was asked for;
 * `as-is`: the origin has not cut it; `useless`: the request must be made again as the client made it.
 */
export function judgeFirstBlock(
  answer: AnswerHead,
  asked: Part,
): { readonly part: Part; readonly representation: Representation } | 'as-is' | 'useless' {
  if (answer.statusCode === 416) return 'useless';
  if (answer.statusCode !== 206) return 'as-is';
  const part = readPart(answer);
  const representation = readRepresentation(answer);
  const isAsked =
    part?.startByte === asked.startByte && part.endByte === Math.min(asked.endByte, part.sizeBytes);
  return isAsked && representation ? { part, representation } : 'useless';
}

/** What describes one part only, and not the file or the part that the client gets. */
const OF_THE_BLOCK = new Set(['content-length', 'content-range', 'content-md5', 'content-digest']);

/**
 * The head with which the client gets all it asked for, `isWhole` or a part that goes to the end of the file, made of the
 * head of an answer with the first block of it.
 */
export function headOfAll(block: IncomingMessage, all: Part, isWhole: boolean) {
  const { startByte, endByte } = all;
  const kept: string[] = [];
  for (let index = 0; index + 1 < block.rawHeaders.length; index += 2) {
    const name = block.rawHeaders[index] ?? '';
    if (!OF_THE_BLOCK.has(name.toLowerCase())) kept.push(name, block.rawHeaders[index + 1] ?? '');
  }
  // nginx, for one, says it with whole files alone; Firefox resumes nothing without it. This answer proves it.
  if (isWhole && block.headers['accept-ranges'] === undefined) kept.push('Accept-Ranges', 'bytes');
  kept.push('Content-Length', String(endByte - startByte));
  if (!isWhole) kept.push('Content-Range', `bytes ${startByte}-${endByte - 1}/${endByte}`);
  return { statusCode: isWhole ? 200 : 206, rawHeaders: kept };
}
