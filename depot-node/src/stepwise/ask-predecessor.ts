import type { Duplex } from 'node:stream';
import {
  asLonghaulError,
  canonicalOriginUrl,
  formatProof,
  HEADERS,
  hashOriginUrl,
  isWireErrorCode,
  LonghaulError,
  type OriginUrl,
  parseHref,
} from '@longhaul/shared';
import { sha256 } from '@longhaul/shared/service';
import type { ProofMaker } from '../legs/caller-proof.ts';
import type { NextLegs } from '../legs/next-leg.ts';
import type { OriginRequest } from '../origin/conversation.ts';
import { type OriginAnswer, OriginConnection } from '../origin/origin-connection.ts';
import type { DataPlane } from '../plane/data-plane.ts';
import { resetConnection } from '../sockets/reset.ts';
import type { OpenTicket } from '../tickets/ticket-gate.ts';
import { type Held, heldFailure, type Wanted } from './waiting-transfers.ts';

export interface AskPredecessorComponents {
  readonly plane: Pick<DataPlane, 'timeouts'>;
  readonly overDepot: NextLegs['overDepot'];
  readonly proofs: ProofMaker;
}

interface HandoverQuestion {
  readonly ticket: OpenTicket;
  /** This depot's own place in the plan's chain; the predecessor has the next one. */
  readonly place: number;
  readonly wanted: Wanted;
}

/**
 * Asks the predecessor for the answer it holds: `GET <path>?<ticket>`, proved. One that breaks off is asked
 * again: what it held is gone then, but it still tells the URL. Never rejects.
 */
export async function askPredecessor(
  components: AskPredecessorComponents,
  question: HandoverQuestion,
  signal: AbortSignal,
): Promise<Held> {
  const held = await askOnce(components, question, signal);
  const hasBroken = !held.ok && !held.url && held.error.code === 'next-depot-unreachable';
  return hasBroken && !signal.aborted ? askOnce(components, question, signal) : held;
}

async function askOnce(
  components: AskPredecessorComponents,
  question: HandoverQuestion,
  signal: AbortSignal,
): Promise<Held> {
  const { ticket, place } = question;
  const predecessor = ticket.claims.chains[0]?.[place + 1] ?? '';
  try {
    const answer = await components.overDepot(predecessor, signal, (stream) =>
      askOverConnection(components, question, stream, signal),
    );
    return readAnswer(answer, question);
  } catch (failure) {
    return heldFailure(asLonghaulError(failure, 'next-depot-unreachable'), undefined);
  }
}

async function askOverConnection(
  components: AskPredecessorComponents,
  question: HandoverQuestion,
  stream: Duplex,
  signal: AbortSignal,
): Promise<OriginAnswer> {
  const connection = new OriginConnection(async (firstBytes) => {
    stream.write(firstBytes);
    return stream;
  });
  const options = { answerMs: patienceOf(components, question), signal };
  try {
    return { head: await connection.ask(requestFor(components, question), options), connection };
  } catch (failure) {
    resetConnection(stream);
    throw asChainFailure(failure);
  }
}

function requestFor(
  { proofs }: AskPredecessorComponents,
  { ticket, place, wanted: { headers: wanted, method, path } }: HandoverQuestion,
): OriginRequest {
  const headers = {
    ...wanted,
    // Depots are known by their proofs; the name of the place would say nothing.
    host: 'longhaul',
    [HEADERS.proof]: formatProof(proofs.make(ticket.text, 0, place)),
    connection: 'close',
  };
  return { method, target: `${path}?${ticket.text}`, headers };
}

/** Every depot further on may need its own time to connect, and shall be the one that names the failure. */
function patienceOf(
  { plane: { timeouts } }: AskPredecessorComponents,
  { ticket, place }: HandoverQuestion,
): number {
  const chain = ticket.claims.chains[0] ?? [];
  return timeouts.answerMs + timeouts.connectMs * (chain.length - place);
}

/** What an exchange calls the origin's failure is the predecessor's here. */
function asChainFailure(failure: unknown): unknown {
  if (!(failure instanceof LonghaulError)) return failure;
  const code = failure.code === 'origin-timeout' ? 'next-depot-timeout' : 'next-depot-unreachable';
  return new LonghaulError(code, { cause: failure });
}

function readAnswer(answer: OriginAnswer, { ticket, place, wanted }: HandoverQuestion): Held {
  const { headers } = answer.head;
  const url = readToldUrl(headers[HEADERS.origin], ticket, wanted.path);
  const code = headers[HEADERS.error];
  if (code === undefined && url) return { ok: true, url, answer };
  answer.connection.reset();
  const chain = ticket.claims.chains[0] ?? [];
  const named = String(headers[HEADERS.depot] ?? '');
  // Only the predecessor, or a depot before that, can have failed.
  const depot = (chain.indexOf(named) > place ? named : chain[place + 1]) ?? '';
  const isKnown = typeof code === 'string' && isWireErrorCode(code);
  return heldFailure(new LonghaulError(isKnown ? code : 'next-depot-unreachable', { depot }), url);
}

/** The URL that a predecessor tells; `undefined` unless it is the ticket's, at the path that the client asked for. */
function readToldUrl(
  told: string | string[] | undefined,
  { claims }: OpenTicket,
  path: string,
): OriginUrl | undefined {
  const url = parseHref(typeof told === 'string' ? told : '');
  if (!url.ok || canonicalOriginUrl(url.value) !== told || url.value.path !== path) return undefined;
  return hashOriginUrl(url.value, sha256) === claims.urlHash ? url.value : undefined;
}
