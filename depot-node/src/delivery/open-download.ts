import type { IncomingMessage } from 'node:http';
import { LonghaulError, originTarget, type TicketClaims } from '@longhaul/shared';
import { firstBlockBytes } from '../lanes/block-sizes.ts';
import type { LanesConfig } from '../lanes/lanes-config.ts';
import { headersToOrigin } from '../origin/origin-headers.ts';
import {
  type AnswerHead,
  type Part,
  type Representation,
  readPart,
  readRepresentation,
  type VersionHead,
} from '../origin/representation.ts';
import type { DataPlane } from '../plane/data-plane.ts';
import type { FetchedAnswer, Fetcher, RequestFor } from '../routes/fetcher.ts';
import { headOfAll } from './answer-head.ts';
import type { RunningDownload } from './running-download.ts';

interface OpenComponents {
  readonly plane: DataPlane;
  readonly fetcher: Fetcher;
  readonly lanes: LanesConfig;
}

/** The first answer to a client's request, and what the client gets of it. */
export interface Opening {
  readonly answer: FetchedAnswer;
  /** The head of what the client gets, as far as it is the origin's. */
  readonly head: AnswerHead;
  /** Of which version the client gets bytes, and which part; `undefined` where the origin does not say. */
  readonly representation: Representation | undefined;
  readonly part: Part | undefined;
  /** Where the answer is only the first block of that part, which lanes go on with. */
  readonly firstBlock: { readonly part: Part; readonly askedAtMs: number } | undefined;
}

/**
 * Asks for what the client wants, and holds the answer to the version that he names: an origin may pay no heed to `If-Match`.
 * Rejects with `origin-changed` where it is another one.
 */
export async function openDownload(
  ...[components, request, download, signal]: Parameters<typeof openAnyVersion>
): Promise<Opening> {
  const opening = await openAnyVersion(components, request, download, signal);
  if (isVersionAsked(request.headers['if-match'], opening.answer.head)) return opening;
  opening.answer.connection.reset();
  throw new LonghaulError('origin-changed', { detail: 'the origin pays no heed to If-Match' });
}

/** Asks for what the client wants; for its first block where the plan has lanes and the job has one connection. */
async function openAnyVersion(
  { plane, fetcher, lanes }: OpenComponents,
  request: IncomingMessage,
  { book, target, job }: RunningDownload,
  signal: AbortSignal,
): Promise<Opening> {
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
  const requestWith =
    (extra: object): RequestFor =>
    (url) => ({
      method,
      target: originTarget(url),
      headers: { ...headersToOrigin(request.headers, url, plane.ownId), ...extra },
    });
  const blockBytes = firstBlockBytes(book.routes()[0]?.promise, lanes);
  const asked = firstBlock(request, target.ticket.claims, job.active, blockBytes);
  const askedAtMs = plane.nowMs();
  const first = requestWith(asked ? headersForBlock(asked) : {});
  const answer = await fetcher.firstAnswer(book, target, first, signal);
  const verdict = asked ? judgeFirstBlock(answer.head, asked) : 'as-is';
  if (verdict === 'as-is') return openingOf(request, answer);
  if (verdict === 'useless') {
    answer.connection.reset();
    return openingOf(request, await fetcher.firstAnswer(book, target, requestWith({}), signal));
  }
  const { representation, part } = verdict;
  const all = { startByte: part.startByte, endByte: representation.sizeBytes };
  const head = headOfAll(answer.head, all, request.headers.range === undefined);
  return { answer, head, representation, part: all, firstBlock: { part, askedAtMs } };
}

/** What asks for a first block, over a connection that goes on as the first lane. */
function headersForBlock({ startByte, endByte }: Part) {
  return { range: `bytes=${startByte}-${endByte - 1}`, connection: 'keep-alive' };
}

/** An answer to the client's own request. */
export function openingOf({ method }: IncomingMessage, answer: FetchedAnswer): Opening {
  const { head } = answer;
  // The answer to a HEAD tells of a body that does not come.
  const part = method === 'HEAD' ? undefined : readPart(head);
  return { answer, head, representation: readRepresentation(head), part, firstBlock: undefined };
}

/**
 * The first block to ask the origin for, where lanes may fetch the file: the client wants all of it, or all from a byte on.
 * The answer to the block tells the file's size and version. `undefined` where the client's request goes to the origin as it
 * is: the plan has no lanes, or the client asks for parts itself or has several connections.
 */
function firstBlock(
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

/**
 * How an answer to the first block serves the client: with its part and version, as the beginning of what was asked for;
 * `as-is`: the origin has not cut it; `useless`: the request must be made again as the client made it.
 */
function judgeFirstBlock(
  head: VersionHead,
  asked: Part,
): { readonly part: Part; readonly representation: Representation } | 'as-is' | 'useless' {
  if (head.statusCode === 416) return 'useless';
  if (head.statusCode !== 206) return 'as-is';
  const part = readPart(head);
  const representation = readRepresentation(head);
  const isAsked =
    part?.startByte === asked.startByte && part.endByte === Math.min(asked.endByte, part.sizeBytes);
  return isAsked && representation ? { part, representation } : 'useless';
}

/**
 * Whether an answer with a body is of one of the versions that `If-Match` lists. Tags are compared as if they were strong: browsers
 * resume with weak ones, too. A part that names no version is left to the client, who asked for it and knows the others.
 */
function isVersionAsked(ifMatch: string | undefined, { statusCode, headers }: VersionHead): boolean {
  if (ifMatch === undefined || ifMatch.trim() === '*' || ![200, 206].includes(statusCode)) return true;
  const { etag } = headers;
  if (etag === undefined) return statusCode === 206;
  const listed: readonly string[] = ifMatch.match(/"[^"]*"/g) ?? [];
  return listed.includes(etag.trim().replace(/^W\//, ''));
}
