import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  clientPrefix,
  type DepotEntry,
  LonghaulError,
  type OriginRelayRequest,
  type Result,
  refuse,
} from '@longhaul/shared';
import { checkTarget } from '../entry/check-target.ts';
import { headersToOrigin } from '../entry/headers.ts';
import { abandon, isRedirect, type OriginFetchComponents } from '../entry/origin-fetch.ts';
import type { OpenTicket } from '../entry/target.ts';
import { arrivalOf } from '../jobs/arrival-of.ts';
import type { JobTable } from '../jobs/job-table.ts';
import { type AskPredecessorComponents, askPredecessor } from './ask-predecessor.ts';
import { type Wanted, wantedBy } from './conditions.ts';
import { type Held, heldFailure } from './held-answer.ts';
import type { OriginMemory } from './origin-memory.ts';
import { type RedirectStatus, sendOn } from './send-on.ts';
import type { Step } from './step-of.ts';
import type { WaitingTransfers } from './waiting-transfers.ts';

export interface BeginComponents extends AskPredecessorComponents {
  readonly ownId: string;
  readonly jobs: JobTable;
  readonly waiting: WaitingTransfers;
  readonly memory: OriginMemory;
  /** A registered depot, from a fresh directory if need be. */
  readonly findDepot: (id: string) => Promise<DepotEntry | undefined>;
  /** The port under which this depot is registered. */
  readonly ownPort: () => number;
  readonly ask: OriginFetchComponents['ask'];
  readonly redirectStatus: RedirectStatus;
  readonly shutdown: AbortSignal;
}

type Begun = Exclude<Step, { readonly role: 'giver' }>;

/**
 * Begins a transfer for the successor, at the exit depot or at one between, and sends the client on without waiting for
 * what comes of it. Gives why not, where nothing was begun.
 */
export async function beginTransfer(
  components: BeginComponents,
  step: Begun,
  ticket: OpenTicket,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Result<void>> {
  const { findDepot, waiting, jobs, ownId } = components;
  const { claims } = ticket;
  const path = step.role === 'exit' ? step.asked.url.path : step.asked.path;
  const checked = await checkStep(components, step, ticket);
  if (!checked.ok) return checked;
  const successorId = claims.chains[0]?.[step.place - 1] ?? '';
  const successor = await findDepot(successorId);
  if (!successor) return unknownDepot(successorId);
  if (!waiting.hasRoom()) return refuse('depot-full', 'too many transfers wait for their successors');
  const admission = jobs.admit(claims, arrivalOf(request));
  if (!admission.ok) return admission;
  const ended = new AbortController();
  const signal = AbortSignal.any([ended.signal, components.shutdown]);
  const wanted = wantedBy(request, path);
  const held =
    step.role === 'exit'
      ? fetchAtExit(components, step.asked, ticket, request, wanted, signal)
      : fetchBetween(components, step.place, ticket, wanted, signal);
  waiting.add({
    jobId: claims.jobId,
    role: step.role,
    place: step.place,
    wanted,
    admission: admission.value,
    abort: () => ended.abort(),
    held,
  });
  const here = { depotId: ownId, port: components.ownPort() };
  const stop = { successor, ticket: ticket.text, path, jobId: claims.jobId, ...here };
  sendOn(response, stop, components.redirectStatus);
  return { ok: true, value: undefined };
}

async function checkStep(
  { findDepot }: BeginComponents,
  step: Begun,
  ticket: OpenTicket,
): Promise<Result<unknown>> {
  if (step.role === 'exit') {
    const { url } = step.asked;
    if (url.scheme !== 'http') return refuse('ticket-wrong-kind', 'stepwise signalling is for http origins');
    return checkTarget({ ticket, url });
  }
  const { depot, port } = step.asked;
  const predecessor = await findDepot(depot);
  if (!predecessor) return unknownDepot(depot);
  if (predecessor.port !== port)
    return refuse('parameters-disagree', 'port= is not where that depot listens');
  return { ok: true, value: undefined };
}

function unknownDepot(depot: string): Result<never> {
  return { ok: false, error: new LonghaulError('next-depot-unknown', { depot }) };
}

async function fetchAtExit(
  { ownId, ask, memory }: BeginComponents,
  { url }: OriginRelayRequest,
  ticket: OpenTicket,
  request: IncomingMessage,
  { method }: Wanted,
  signal: AbortSignal,
): Promise<Held> {
  memory.note(ticket.claims.urlHash, url);
  const authority = { host: url.host, port: url.port };
  const client = clientPrefix(request.socket.remoteAddress ?? '');
  const route = { ticket: ticket.text, chainIndex: 0, chain: [ownId], authority, client };
  const headers = headersToOrigin(request.headers, url, ownId);
  try {
    const answered = await ask(route, { method, url, headers }, signal, () => undefined);
    if (!isRedirect(answered.answer)) return { ok: true, url, answered };
    abandon(answered.answer);
    // Follow-up tickets are the entry depot's.
    return heldFailure(new LonghaulError('handover-missing', { detail: 'the origin redirects' }), url);
  } catch (failure) {
    return heldFailure(failure, url);
  }
}

async function fetchBetween(
  components: BeginComponents,
  place: number,
  ticket: OpenTicket,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<Held> {
  const held = await askPredecessor(components, { ticket, place, wanted }, signal);
  if (held.url) components.memory.note(ticket.claims.urlHash, held.url);
  return held;
}
