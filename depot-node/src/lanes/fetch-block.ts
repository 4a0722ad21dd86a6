import { type ErrorCode, LonghaulError } from '@longhaul/shared';
import type { Conversation, OriginRequest } from '../origin/conversation.ts';
import type { BodyRead, BodyTaker } from '../origin/exchange.ts';
import { joinedPart } from '../origin/joined-part.ts';
import { headersForBlock, type Part, type Representation } from '../origin/representation.ts';

/** Takes a block's bytes in order, as they come, or is told of them. */
export type BlockTaker = BodyTaker;

/** What all blocks of a transfer have in common. */
export interface BlockRequest {
  /** A GET of the file, without conditions. */
  readonly asked: OriginRequest;
  /** What the blocks are parts of. */
  readonly representation: Representation;
  /** Silence, while bytes are wanted, after which a connection has broken. */
  readonly silenceMs: number;
  /** The same before an answer begins, where an origin thinks before each; left out, no longer. */
  readonly answerMs?: number;
}

/**
 * Asks for a block and reads it, in as many parts as the origin makes of it. Rejects with a `LonghaulError`:
 * `origin-changed`, `origin-bad-answer`, `origin-unreachable`, `origin-timeout`, `origin-busy` (an
 * `OriginBusy`), or what kept the connection from being made. The connection is over then.
 */
export async function fetchBlock(
  connection: Conversation,
  { asked, representation, silenceMs, answerMs = silenceMs }: BlockRequest,
  part: Part,
  taker: BlockTaker,
): Promise<void> {
  for (let rest = part; rest.startByte < rest.endByte; ) {
    const headers = { ...asked.headers, ...headersForBlock(representation, rest) };
    const head = await connection.ask({ ...asked, headers }, { answerMs });
    const given = joinedPart(head, representation, rest);
    if (!given.ok) {
      connection.reset(given.error);
      throw given.error;
    }
    await readBlock(connection, silenceMs, given.value, taker);
    rest = { ...rest, startByte: given.value.endByte };
  }
}

const FAILURES: Readonly<Record<Exclude<BodyRead, 'complete'>, { code: ErrorCode; detail?: string }>> = {
  'too-long': { code: 'origin-bad-answer', detail: 'more bytes than were asked for' },
  'source-ended': { code: 'origin-unreachable', detail: 'fewer bytes than were asked for' },
  'source-broke': { code: 'origin-unreachable' },
  'source-silent': { code: 'origin-timeout' },
};

/** Reads a block whose answer has begun; rejects as `fetchBlock` does. */
export async function readBlock(
  connection: Conversation,
  silenceMs: number,
  { startByte, endByte }: Part,
  taker: BlockTaker,
): Promise<void> {
  const end = await connection.read({ sizeBytes: endByte - startByte, silenceMs, startByte, ...taker });
  if (end === 'complete') return;
  const { code, ...context } = FAILURES[end];
  throw new LonghaulError(code, context);
}
