import type { IncomingMessage } from 'node:http';
import type { LanesConfig } from '../lanes/lanes-config.ts';
import type { OriginHead } from './answer-headers.ts';
import { headersToOrigin } from './headers.ts';
import { firstBlock, headersForBlock, headOfAll, judgeFirstBlock } from './opening.ts';
import {
  abandon,
  type FetchedAnswer,
  fetchFromOrigin,
  type OriginFetchComponents,
  type RequestFor,
} from './origin-fetch.ts';
import { type Part, type Representation, readPart, readRepresentation } from './representation.ts';
import type { RouteBook } from './route-book.ts';
import type { Target } from './target.ts';
import type { TransferContent } from './transfer.ts';

interface OpenComponents {
  readonly ownId: string;
  readonly fetch: OriginFetchComponents;
  readonly lanes: LanesConfig;
  readonly nowMs: () => number;
}

/** The first block of a file that lanes fetch. */
export interface FirstBlockOf {
  readonly block: Part;
  readonly askedAtMs: number;
  /** What the client gets in all, of which version. */
  readonly all: Part;
  readonly representation: Representation;
}

/** The first answer to a client's request, and what the client gets of it. */
export interface Opening {
  readonly fetched: FetchedAnswer;
  readonly head: OriginHead;
  readonly content: TransferContent;
  /** The answer is only the first block; lanes fetch the rest. */
  readonly block: FirstBlockOf | undefined;
}

/** Asks for what the client wants; for its first block where the plan has lanes and it has one connection. */
export async function openDownload(
  components: OpenComponents,
  request: IncomingMessage,
  target: Target,
  book: RouteBook,
  connections: number,
  signal: AbortSignal,
): Promise<Opening> {
  const { ownId, lanes, fetch, nowMs } = components;
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
  const requestWith =
    (extra: object): RequestFor =>
    (url) => ({ method, url, headers: { ...headersToOrigin(request.headers, url, ownId), ...extra } });
  const asked = firstBlock(request, target.ticket.claims, connections, lanes.firstBlockBytes);
  const askedAtMs = nowMs();
  const first = requestWith(asked ? headersForBlock(asked) : {});
  const fetched = await fetchFromOrigin(fetch, book, target, first, signal);
  const verdict = asked ? judgeFirstBlock(fetched.answer, asked) : 'as-is';
  if (verdict === 'as-is') return openingOf(request, fetched);
  if (verdict === 'useless') {
    abandon(fetched.answer);
    return openingOf(request, await fetchFromOrigin(fetch, book, target, requestWith({}), signal));
  }
  const { representation, part } = verdict;
  const all = { startByte: part.startByte, endByte: representation.sizeBytes };
  const head = headOfAll(fetched.answer, all, request.headers.range === undefined);
  const block = { block: part, askedAtMs, all, representation };
  return { fetched, head, content: { representation, part: all }, block };
}

/** An answer to the client's own request. */
export function openingOf({ method }: IncomingMessage, fetched: FetchedAnswer): Opening {
  const { statusCode = 502, rawHeaders } = fetched.answer;
  const content = {
    representation: readRepresentation(fetched.answer),
    // The answer to a HEAD tells of a body that does not come.
    part: method === 'HEAD' ? undefined : readPart(fetched.answer),
  };
  return { fetched, head: { statusCode, rawHeaders }, content, block: undefined };
}
