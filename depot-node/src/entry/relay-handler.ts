import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  asLonghaulError,
  type DepotRelayRequest,
  formatGetPath,
  isEntryDepot,
  isRelayTarget,
  LonghaulError,
  type OriginRelayRequest,
  type OriginUrl,
  ok,
  parseRelayTarget,
  type Result,
  refuse,
  refuseThrown,
  type TicketClaims,
} from '@longhaul/shared';
import type { Observe } from '../events.ts';
import { arrivalOf } from '../jobs/arrival-of.ts';
import type { Job, JobTable } from '../jobs/job-table.ts';
import type { Relay } from '../relay/relay-plane.ts';
import type { LegSampler } from '../sockets/leg-sampler.ts';
import { resetConnection } from '../sockets/reset.ts';
import type { Stepwise } from '../stepwise/stepwise.ts';
import type { TicketGate } from '../tickets/ticket-gate.ts';
import { checkTarget } from './check-target.ts';
import { headersToOrigin } from './headers.ts';
import { abandon, type FetchedAnswer, type RequestFor } from './origin-fetch.ts';
import { sendBackToMaster, sendRefusal } from './refusal.ts';
import { sendAnswer } from './send-answer.ts';
import type { OpenTicket } from './target.ts';

export interface RelayHandlerComponents {
  readonly ownId: string;
  readonly gate: TicketGate;
  readonly jobs: JobTable;
  readonly fetch: (
    ticket: OpenTicket,
    url: OriginUrl,
    requestFor: RequestFor,
    signal: AbortSignal,
  ) => Promise<FetchedAnswer>;
  /** The last step of stepwise signalling: what the predecessor holds. */
  readonly enterStepwise: Stepwise['enter'];
  /** Base URL of the master that plans anew; `undefined` before one has been heard. */
  readonly masterUrl: () => string | undefined;
  readonly noteSize: (urlHash: string, sizeBytes: number) => void;
  readonly observe: Observe;
  readonly relay: Relay;
  readonly watch: LegSampler['watch'];
  readonly silenceMs: number;
  readonly stallMs: number;
  readonly nowMs: () => number;
  /** Aborts when the depot gives up its running transfers. */
  readonly shutdown: AbortSignal;
}

/** Serves a relay request: this depot is the entry depot of the ticket's chain. */
export function createRelayHandler(components: RelayHandlerComponents) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { ownId, observe } = components;
    const opened = await openRequest(components, request).catch(refuseThrown);
    if (!opened.ok) {
      refuseRequest(components, request, response, opened.error, undefined, undefined);
      return;
    }
    const { ticket, asked } = opened.value;
    const url = asked.from === 'origin' ? asked.url : undefined;
    const admission = components.jobs.admit(ticket.claims, arrivalOf(request));
    if (!admission.ok) {
      refuseRequest(components, request, response, admission.error, ticket.claims, url);
      return;
    }
    try {
      const { job } = admission.value;
      if (asked.from === 'origin') await serve(components, request, response, ticket, asked.url, job);
      else await serveStepwise(components, request, response, ticket, asked, job);
    } catch (thrown) {
      const failure = asLonghaulError(thrown);
      observe({
        type: 'refusal',
        code: failure.code,
        jobId: admission.value.job.id,
        depot: failure.depot ?? ownId,
        detail: describeCause(failure),
      });
      if (response.headersSent) resetConnection(request.socket);
      else sendRefusal(request, response, failure, ownId);
    } finally {
      admission.value.release();
    }
  };
}

/** Reads and checks everything that can be checked before anything is dialled. */
async function openRequest(
  { ownId, gate }: RelayHandlerComponents,
  request: IncomingMessage,
): Promise<Result<{ ticket: OpenTicket; asked: OriginRelayRequest | DepotRelayRequest }>> {
  const target = request.url ?? '';
  if (!isRelayTarget(target)) return refuse('not-a-relay-request');
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse('method-not-allowed');
  if (request.headers['service-worker'] !== undefined) return refuse('worker-script-refused');
  const parsed = parseRelayTarget(target);
  if (!parsed.ok) return parsed;
  const opened = await gate.open(parsed.value.ticket, request.socket);
  if (!opened.ok) return opened;
  const claims = opened.value;
  const ticket = { text: parsed.value.ticket, claims };
  const asked = parsed.value;
  if (claims.kind === 'tunnel') return refuse('ticket-wrong-kind');
  if (!isEntryDepot(claims, ownId)) return refuse('ticket-wrong-depot');
  if (asked.from === 'origin') {
    const checked = checkTarget({ ticket, url: asked.url });
    return checked.ok ? ok({ ticket, asked }) : checked;
  }
  if (asked.from === 'successor' || claims.kind !== 'stepwise') return refuse('ticket-wrong-kind');
  return ok({ ticket, asked });
}

function refuseRequest(
  { ownId, observe, masterUrl }: RelayHandlerComponents,
  request: IncomingMessage,
  response: ServerResponse,
  error: LonghaulError,
  claims: TicketClaims | undefined,
  url: OriginUrl | undefined,
): void {
  observe({ type: 'refusal', code: error.code, jobId: claims?.jobId, depot: ownId, detail: error.detail });
  const master = masterUrl();
  const isResume = request.headers.range !== undefined;
  if (error.code === 'ticket-start-over' && !isResume && url && master !== undefined) {
    sendBackToMaster(response, `${master}${formatGetPath(url)}`, ownId);
  } else {
    sendRefusal(request, response, error, ownId);
  }
}

/** Serves what the predecessor holds as the first answer; everything after is as in cascade. */
async function serveStepwise(
  components: RelayHandlerComponents,
  request: IncomingMessage,
  response: ServerResponse,
  ticket: OpenTicket,
  asked: DepotRelayRequest,
  job: Job,
): Promise<void> {
  const left = new AbortController();
  const onClose = () => left.abort();
  response.once('close', onClose);
  const signal = AbortSignal.any([left.signal, components.shutdown]);
  const entered = await components.enterStepwise(ticket, asked, request, signal).catch((thrown) => {
    if (left.signal.aborted) return undefined;
    throw thrown;
  });
  response.off('close', onClose);
  if (!entered) return;
  let { first } = entered;
  if (left.signal.aborted) {
    if (first) abandon(first.answer);
    return;
  }
  const fetch: RelayHandlerComponents['fetch'] = async (...question) => {
    const answered = first;
    first = undefined;
    return answered
      ? { ...answered, url: entered.url, chain: ticket.claims.chains[0] ?? [] }
      : components.fetch(...question);
  };
  await serve({ ...components, fetch }, request, response, ticket, entered.url, job);
}

async function serve(
  components: RelayHandlerComponents,
  request: IncomingMessage,
  response: ServerResponse,
  ticket: OpenTicket,
  url: OriginUrl,
  job: Job,
): Promise<void> {
  const { ownId, nowMs, observe } = components;
  const started = nowMs();
  const left = new AbortController();
  const onClose = () => left.abort();
  response.once('close', onClose);
  const signal = AbortSignal.any([left.signal, components.shutdown]);
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
  const requestFor: RequestFor = (target) => ({
    method,
    url: target,
    headers: headersToOrigin(request.headers, target, ownId),
  });

  const fetched = await components.fetch(ticket, url, requestFor, signal).catch((thrown) => {
    // A client that has left needs no answer; what its leaving broke is not a failure.
    if (left.signal.aborted) return undefined;
    throw thrown;
  });
  if (!fetched) return;
  if (left.signal.aborted) {
    abandon(fetched.answer);
    return;
  }
  const status = fetched.answer.statusCode ?? 0;
  if (status === 401 || status === 407) {
    abandon(fetched.answer);
    throw new LonghaulError('origin-needs-login');
  }
  noteSize(components, ticket.claims, fetched);
  response.off('close', onClose);
  let bodyBytes = 0;
  const next = fetched.chain[1];
  const legs = [
    components.watch(request.socket, { legClass: 'client' }),
    components.watch(
      fetched.answer.socket,
      next === undefined ? { legClass: 'origin' } : { legClass: 'depot', depot: next },
    ),
  ];
  const outcome = await sendAnswer(fetched, response, {
    depotId: ownId,
    jobId: job.id,
    silenceMs: components.silenceMs,
    stallMs: components.stallMs,
    signal: components.shutdown,
    relay: components.relay,
    onBytes: (bytes) => {
      bodyBytes += bytes;
      job.bytes += bytes;
    },
  });
  for (const leg of legs) leg.stop();
  const seconds = (nowMs() - started) / 1000;
  const { chain } = fetched;
  observe({
    type: 'transfer',
    jobId: job.id,
    originHost: url.host,
    status,
    bodyBytes,
    seconds,
    chain,
    outcome,
  });
}

/** Tells the planner how large the object is, so that the next plan for it need not assume. */
function noteSize(
  { noteSize }: RelayHandlerComponents,
  claims: TicketClaims,
  { answer }: FetchedAnswer,
): void {
  const { 'content-range': contentRange = '', 'content-length': contentLength = '' } = answer.headers;
  const text = answer.statusCode === 200 ? contentLength : /\/([0-9]+)$/.exec(contentRange)?.[1];
  if (text !== undefined && /^[0-9]{1,15}$/.test(text)) noteSize(claims.urlHash, Number(text));
}

function describeCause(error: LonghaulError): string | undefined {
  const cause = error.cause instanceof Error ? error.cause.message : undefined;
  return error.detail ?? cause;
}
