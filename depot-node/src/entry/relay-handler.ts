import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  asLonghaulError,
  formatGetPath,
  hashAuthority,
  hashOriginUrl,
  isEntryDepot,
  isRelayTarget,
  LonghaulError,
  type OriginUrl,
  ok,
  parseRelayTarget,
  type Result,
  refuse,
  refuseThrown,
  type TicketClaims,
} from '@longhaul/shared';
import type { Observe } from '../events.ts';
import type { UplinkPacer } from '../fairness/uplink-pacer.ts';
import { sha256 } from '../identity.ts';
import { arrivalOf } from '../jobs/arrival-of.ts';
import type { Admission, JobTable } from '../jobs/job-table.ts';
import type { Relay } from '../relay/relay-plane.ts';
import type { LegSampler } from '../sockets/leg-sampler.ts';
import { resetConnection } from '../sockets/reset.ts';
import type { TicketGate } from '../tickets/ticket-gate.ts';
import { headersToOrigin } from './headers.ts';
import { abandon, type FetchedAnswer, type OpenTicket, type RequestFor } from './origin-fetch.ts';
import { sendBackToMaster, sendRefusal } from './refusal.ts';
import { sendAnswer } from './send-answer.ts';

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
  /** Base URL of the master that plans anew; `undefined` before one has been heard. */
  readonly masterUrl: () => string | undefined;
  readonly noteSize: (urlHash: string, sizeBytes: number) => void;
  readonly observe: Observe;
  readonly relay: Relay;
  readonly watch: LegSampler['watch'];
  /** Where the depot has an uplink to share. */
  readonly joinUplink: UplinkPacer['join'] | undefined;
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
    const { ticket, url } = opened.value;
    const admission = components.jobs.admit(ticket.claims, arrivalOf(request));
    if (!admission.ok) {
      refuseRequest(components, request, response, admission.error, ticket.claims, url);
      return;
    }
    try {
      await serve(components, request, response, ticket, url, admission.value);
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
): Promise<Result<{ ticket: OpenTicket; url: OriginUrl }>> {
  const target = request.url ?? '';
  if (!isRelayTarget(target)) return refuse('not-a-relay-request');
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse('method-not-allowed');
  if (request.headers['service-worker'] !== undefined) return refuse('worker-script-refused');
  const parsed = parseRelayTarget(target);
  if (!parsed.ok) return parsed;
  const opened = await gate.open(parsed.value.ticket, request.socket);
  if (!opened.ok) return opened;
  const claims = opened.value;
  if (claims.kind !== 'get') return refuse('ticket-wrong-kind');
  if (!isEntryDepot(claims, ownId)) return refuse('ticket-wrong-depot');
  if (parsed.value.from === 'depot')
    return refuse('ticket-wrong-kind', 'stepwise signalling is not served here');
  const { url } = parsed.value;
  if (claims.authorityHash !== hashAuthority(url.host, url.port, sha256))
    return refuse('ticket-wrong-authority');
  if (claims.urlHash !== hashOriginUrl(url, sha256)) return refuse('ticket-wrong-url');
  return ok({ ticket: { text: parsed.value.ticket, claims }, url });
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

async function serve(
  components: RelayHandlerComponents,
  request: IncomingMessage,
  response: ServerResponse,
  ticket: OpenTicket,
  url: OriginUrl,
  { job, note }: Admission,
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
  const leaveUplink = components.joinUplink?.(request.socket, { jobId: job.id, legClass: 'client' });
  const outcome = await sendAnswer(fetched, response, {
    depotId: ownId,
    jobId: job.id,
    silenceMs: components.silenceMs,
    stallMs: components.stallMs,
    signal: components.shutdown,
    relay: components.relay,
    onBytes: (bytes) => {
      bodyBytes += bytes;
      note(bytes);
    },
  });
  leaveUplink?.();
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
