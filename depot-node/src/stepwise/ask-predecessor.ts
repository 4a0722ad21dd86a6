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
  parseOriginParts,
} from '@longhaul/shared';
import { sha256 } from '@longhaul/shared/service';
import { askOver, type OriginAnswer } from '../entry/origin-exchange.ts';
import { abandon } from '../entry/origin-fetch.ts';
import type { OpenTicket } from '../entry/target.ts';
import { resetConnection } from '../sockets/reset.ts';
import type { ProofMaker } from '../tunnel/caller-proof.ts';
import type { NextLegs } from '../tunnel/next-leg.ts';
import type { Wanted } from './conditions.ts';
import { type Held, heldFailure } from './held-answer.ts';

export interface AskPredecessorComponents {
  readonly overDepot: NextLegs['overDepot'];
  readonly proofs: ProofMaker;
  /** How long the origin may take to answer, milliseconds. */
  readonly answerTimeoutMs: number;
  readonly connectTimeoutMs: number;
}

interface HandoverQuestion {
  readonly ticket: OpenTicket;
  /** This depot's own place in the plan's chain; the predecessor has the next one. */
  readonly place: number;
  readonly wanted: Wanted;
}

/**
 * Asks the predecessor for the answer it holds: `GET <path>?<ticket>`, proved. One that breaks off is asked again: what it
 * held is gone then, but it still tells the URL. Never rejects.
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
    const answered = await components.overDepot(predecessor, signal, (connection) =>
      askOverConnection(components, question, connection, signal),
    );
    return readAnswer(answered, question);
  } catch (failure) {
    return heldFailure(asLonghaulError(failure, 'next-depot-unreachable'), undefined);
  }
}

async function askOverConnection(
  components: AskPredecessorComponents,
  question: HandoverQuestion,
  connection: Duplex,
  signal: AbortSignal,
): Promise<OriginAnswer> {
  const open = async (firstBytes: Buffer) => {
    connection.write(firstBytes);
    return connection;
  };
  try {
    return await askOver(open, requestFor(components, question), patienceOf(components, question), signal);
  } catch (failure) {
    resetConnection(connection);
    throw asChainFailure(failure);
  }
}

function requestFor({ proofs }: AskPredecessorComponents, { ticket, place, wanted }: HandoverQuestion) {
  const headers = {
    ...wanted.conditions,
    // Depots are known by their proofs; the name of the place would say nothing.
    host: 'longhaul',
    [HEADERS.proof]: formatProof(proofs.make(ticket.text, 0, place)),
    connection: 'close',
  };
  return { method: wanted.method, url: { path: wanted.path, query: ticket.text }, headers };
}

/** Every depot further on may need its own time to connect, and shall be the one that names the failure. */
function patienceOf(
  { answerTimeoutMs, connectTimeoutMs }: AskPredecessorComponents,
  { ticket, place }: HandoverQuestion,
): number {
  const chain = ticket.claims.chains[0] ?? [];
  return answerTimeoutMs + connectTimeoutMs * (chain.length - place);
}

/** What an exchange calls the origin's failure is the predecessor's here. */
function asChainFailure(failure: unknown): unknown {
  if (!(failure instanceof LonghaulError)) return failure;
  const code = failure.code === 'origin-timeout' ? 'next-depot-timeout' : 'next-depot-unreachable';
  return new LonghaulError(code, { cause: failure });
}

function readAnswer(answered: OriginAnswer, { ticket, place, wanted }: HandoverQuestion): Held {
  const { headers } = answered.answer;
  const url = readToldUrl(headers[HEADERS.origin], ticket, wanted.path);
  const code = headers[HEADERS.error];
  if (code === undefined && url) return { ok: true, url, answered };
  abandon(answered.answer);
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
  const match = /^(https?):\/\/(.*)$/.exec(typeof told === 'string' ? told : '');
  const url = match ? parseOriginParts(match[1] ?? '', match[2] ?? '') : undefined;
  if (!url?.ok || canonicalOriginUrl(url.value) !== told || url.value.path !== path) return undefined;
  return hashOriginUrl(url.value, sha256) === claims.urlHash ? url.value : undefined;
}
