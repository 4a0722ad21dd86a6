import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type DepotEntry,
  depotBaseUrl,
  formatDepotRelayTarget,
  HEADERS,
  LonghaulError,
  type OriginRelayRequest,
  originTarget,
  type Result,
  refuse,
} from '@longhaul/shared';
import { LEADING_HEADERS } from '../door/client-headers.ts';
import { arrivalOf } from '../jobs/arrival.ts';
import type { JobTable } from '../jobs/job-table.ts';
import { headersToOrigin } from '../origin/origin-headers.ts';
import type { DataPlane } from '../plane/data-plane.ts';
import { type Fetcher, isRedirect } from '../routes/fetcher.ts';
import { checkTarget } from '../tickets/target.ts';
import type { OpenTicket } from '../tickets/ticket-gate.ts';
import { type AskPredecessorComponents, askPredecessor } from './ask-predecessor.ts';
import type { OriginMemory } from './origin-memory.ts';
import type { Step } from './step-of.ts';
import { type Held, heldFailure, type WaitingTransfers, type Wanted, wantedBy } from './waiting-transfers.ts';

/** The paper has 301; browsers keep that, and replay it with a ticket that is over. */
export type RedirectStatus = 301 | 302;

export interface BeginComponents extends AskPredecessorComponents {
  readonly plane: DataPlane;
  readonly fetcher: Fetcher;
  readonly jobs: JobTable;
  readonly waiting: WaitingTransfers;
  readonly memory: OriginMemory;
  /** A registered depot, from a fresh directory if need be. */
  readonly findDepot: (id: string) => Promise<DepotEntry | undefined>;
  /** The port under which this depot is registered. */
  readonly ownPort: () => number;
  readonly redirectStatus: RedirectStatus;
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
  const { findDepot, waiting, jobs } = components;
  const { claims } = ticket;
  const path = step.role === 'exit' ? step.asked.url.path : step.asked.path;
  const checked = await checkStep(components, step, ticket);
  if (!checked.ok) return checked;
  const successorId = claims.chains[0]?.[step.place - 1] ?? '';
  const successor = await findDepot(successorId);
  if (!successor) return unknownDepot(successorId);
  const arrival = arrivalOf(request);
  const full = waiting.refusalFor(arrival.network);
  if (full) return refuse(full, 'too many transfers wait for their successors');
  const admission = jobs.admit(claims, arrival);
  if (!admission.ok) return admission;
  const ended = new AbortController();
  const signal = AbortSignal.any([ended.signal, components.plane.shutdown]);
  const wanted = wantedBy(request, path);
  const held =
    step.role === 'exit'
      ? fetchAtExit(components, step.asked, ticket, request, wanted, signal)
      : fetchBetween(components, step.place, ticket, wanted, signal);
  waiting.add({
    jobId: claims.jobId,
    network: arrival.network,
    role: step.role,
    place: step.place,
    wanted,
    admission: admission.value,
    abort: () => ended.abort(),
    held,
  });
  sendOn(components, response, successor, ticket, path);
  return { ok: true, value: undefined };
}

/** Sends the client on to the next depot towards it, which will ask this one for what it holds. */
function sendOn(
  { plane: { ownId }, ownPort, redirectStatus }: BeginComponents,
  response: ServerResponse,
  successor: DepotEntry,
  ticket: OpenTicket,
  path: string,
): void {
  response.writeHead(redirectStatus, {
    ...LEADING_HEADERS,
    'Cache-Control': 'no-store',
    Location: depotBaseUrl(successor) + formatDepotRelayTarget(ticket.text, path, ownId, ownPort()),
    'Content-Length': 0,
    [HEADERS.depot]: ownId,
    [HEADERS.job]: ticket.claims.jobId,
  });
  response.end();
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
  { fetcher, memory, plane: { ownId } }: BeginComponents,
  { url }: OriginRelayRequest,
  ticket: OpenTicket,
  request: IncomingMessage,
  { method }: Wanted,
  signal: AbortSignal,
): Promise<Held> {
  memory.note(ticket.claims.urlHash, url);
  const authority = { host: url.host, port: url.port };
  const { network: client } = arrivalOf(request);
  const alone = { ticket: ticket.text, chainIndex: 0, chain: [ownId], authority, client };
  const asked = {
    method,
    target: originTarget(url),
    headers: headersToOrigin(request.headers, url, ownId),
  };
  try {
    const answer = await fetcher.ask(alone, url, asked, signal);
    if (!isRedirect(answer.head)) return { ok: true, url, answer };
    answer.connection.reset();
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
