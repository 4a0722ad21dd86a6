import type { IncomingMessage } from 'node:http';
import { type DepotRelayRequest, LonghaulError, type OriginUrl, type TicketClaims } from '@longhaul/shared';
import type { OriginAnswer } from '../origin/origin-connection.ts';
import type { DataPlane } from '../plane/data-plane.ts';
import type { OpenTicket } from '../tickets/ticket-gate.ts';
import { type AskPredecessorComponents, askPredecessor } from './ask-predecessor.ts';
import type { OriginMemory } from './origin-memory.ts';
import { wantedBy } from './waiting-transfers.ts';

export interface EnterComponents extends AskPredecessorComponents {
  readonly plane: DataPlane;
  readonly memory: OriginMemory;
  readonly isPortOf: (depot: string, port: number) => Promise<boolean>;
  readonly onHandoverFailed: (claims: TicketClaims, failure: LonghaulError) => void;
}

/** What the entry depot has of a stepwise download when it begins to serve. */
export interface Entered {
  readonly url: OriginUrl;
  /** The answer that the predecessor held; without it the file is fetched by cascade. */
  readonly first: OriginAnswer | undefined;
}

/**
 * The last step of a stepwise download, at the entry depot: takes what the predecessor holds and learns the origin's
 * URL. Where nothing is held any more and the URL is known, cascade does the rest; so the address serves as long as
 * the ticket lives. Rejects with a `LonghaulError`: `handover-missing` where nothing is known.
 */
export async function enterStepwise(
  components: EnterComponents,
  ticket: OpenTicket,
  asked: DepotRelayRequest,
  request: IncomingMessage,
  signal: AbortSignal,
): Promise<Entered> {
  const { memory, plane } = components;
  const { claims } = ticket;
  const chain = claims.chains[0] ?? [];
  if (claims.kind !== 'stepwise') throw new LonghaulError('ticket-wrong-kind');
  if (chain[0] !== plane.ownId || chain.length < 2) throw new LonghaulError('ticket-wrong-depot');
  if (asked.depot !== chain[1]) throw wrongPlace('depot= is not the predecessor in the ticket');
  const known = memory.recall(claims.urlHash);
  if (known && known.path !== asked.path) throw new LonghaulError('ticket-wrong-url');
  const wanted = wantedBy(request, asked.path);
  // A part of a file that has been here is a resume: nobody holds it.
  if (known && wanted.headers.range !== undefined) return { url: known, first: undefined };
  if (!(await components.isPortOf(asked.depot, asked.port))) {
    if (!known) throw wrongPlace('port= is not where that depot listens');
    return { url: known, first: undefined };
  }
  const held = await askPredecessor(components, { ticket, place: 0, wanted }, signal);
  if (held.url) memory.note(claims.urlHash, held.url);
  if (held.ok) return { url: held.url, first: held.answer };
  const url = held.url ?? known;
  if (!signal.aborted) components.onHandoverFailed(claims, held.error);
  if (url) return { url, first: undefined };
  const { code, depot } = held.error;
  throw new LonghaulError('handover-missing', {
    detail: code,
    ...(depot ? { depot } : {}),
    cause: held.error,
  });
}

function wrongPlace(detail: string): LonghaulError {
  return new LonghaulError('parameters-disagree', { detail });
}
