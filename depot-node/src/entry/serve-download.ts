import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { TicketClaims } from '@longhaul/shared';
import type { Observe } from '../events.ts';
import type { UplinkPacer } from '../fairness/uplink-pacer.ts';
import type { Admission, Job } from '../jobs/job-table.ts';
import type { LanesConfig } from '../lanes/lanes-config.ts';
import type { ChoosingRelay } from '../relay/relay-plane.ts';
import { type LegSampler, upstreamLeg } from '../sockets/leg-sampler.ts';
import { answerHeaders } from './answer-headers.ts';
import { ClientBody } from './client-body.ts';
import { watchLeaving } from './client-leaving.ts';
import { headersToOrigin } from './headers.ts';
import { digestOf, refuseUnusable } from './judge-answer.ts';
import { type FirstBlockOf, type Opening, openDownload, openingOf } from './open-download.ts';
import type { OriginAnswer } from './origin-exchange.ts';
import { abandon, type FetchedAnswer, type OriginFetchComponents, type RequestFor } from './origin-fetch.ts';
import { refusalEvent } from './refusal-event.ts';
import { Repairer, type RepairLimits } from './repair.ts';
import { type Choice, RouteBook } from './route-book.ts';
import { sendOverLanes } from './send-over-lanes.ts';
import type { SlowOptions } from './slow-watch.ts';
import type { Target } from './target.ts';
import { Transfer, type TransferEnd } from './transfer.ts';

export interface ServeComponents {
  readonly ownId: string;
  readonly fetch: OriginFetchComponents;
  readonly noteSize: (urlHash: string, sizeBytes: number) => void;
  readonly observe: Observe;
  readonly relay: ChoosingRelay;
  readonly watch: LegSampler['watch'];
  /** Where the depot has an uplink to share. */
  readonly joinUplink: UplinkPacer['join'] | undefined;
  readonly failover: RepairLimits & { readonly slow: SlowOptions };
  readonly lanes: LanesConfig;
  /** Whether every whole body passes this process to be digested, even where the kernel could move it. */
  readonly digestsAll: boolean;
  readonly silenceMs: number;
  readonly stallMs: number;
  readonly nowMs: () => number;
  /** Aborts when the depot gives up its running transfers. */
  readonly shutdown: AbortSignal;
}

/** Serves an admitted download: asks the origin, sends the answer's head, then the body over as many ways as it takes. */
export async function serveDownload(
  components: ServeComponents,
  request: IncomingMessage,
  response: ServerResponse,
  target: Target,
  { job, note }: Admission,
  first: OriginAnswer | undefined,
): Promise<void> {
  const { nowMs, ownId } = components;
  const startedMs = nowMs();
  const { left, stop } = watchLeaving(response);
  const signal = AbortSignal.any([left, components.shutdown]);
  const book = new RouteBook(ownId, target.ticket);
  const begin = first
    ? Promise.resolve(openingOf(request, { ...first, target, choice: book.plan }))
    : openDownload(components, request, target, book, job.active, signal);
  const opening = await begin.catch((thrown) => {
    // A client that has left needs no answer; what its leaving broke is not a failure.
    if (left.aborted) return undefined;
    throw thrown;
  });
  if (!opening) return;
  const { fetched } = opening;
  if (left.aborted) {
    abandon(fetched.answer);
    return;
  }
  refuseUnusable(request, opening, job);
  noteSize(components, target.ticket.claims, fetched);
  stop();
  const client = new ClientBody(response, {
    stallMs: components.stallMs,
    ...digestOf(components.digestsAll, request, opening),
    onBytes: note,
  });
  response.writeHead(opening.head.statusCode, answerHeaders(opening.head, fetched, ownId, job.id).flat());
  const end = await transfer(components, request, target, book, opening, client, job);
  report(components, target.url.host, opening, client, job.id, (nowMs() - startedMs) / 1000, end);
}

/** Sends the body, and what follows when its way breaks. */
async function transfer(
  components: ServeComponents,
  request: IncomingMessage,
  target: Target,
  book: RouteBook,
  { fetched, content, block }: Opening,
  client: ClientBody,
  job: Job,
): Promise<TransferEnd> {
  const jobId = job.id;
  const { ownId, watch, joinUplink, observe, failover, relay, silenceMs, stallMs, nowMs, shutdown } =
    components;
  const { socket } = request;
  const clientLeg = watch(socket, { legClass: 'client' });
  const watchLeg = (way: Duplex, { chain }: Choice) => watch(way, upstreamLeg(chain, 0));
  const requestFor: RequestFor = (url) => ({
    method: 'GET',
    url,
    headers: headersToOrigin(plain(request), url, ownId),
  });
  const overLanes = (first: FetchedAnswer, of: FirstBlockOf) =>
    sendOverLanes(first, {
      ...components,
      ...of,
      laneCount: target.ticket.claims.lanes,
      otherConnections: () => job.active - 1,
      config: components.lanes,
      book,
      client,
      requestFor,
      watchLeg,
      onLaneEvent: (event) => observe({ ...event, jobId }),
    });
  const running = new Transfer(content, client, {
    lanes: block && ((first) => overLanes(first, block)),
    relay,
    repairer: new Repairer(components.fetch, book, failover),
    book,
    firstTarget: target,
    requestFor,
    failoverSilenceMs: failover.silenceMs,
    silenceMs,
    stallMs,
    slow: failover.slow,
    signal: shutdown,
    watchLeg: ({ answer, choice }) => watchLeg(answer.socket, choice),
    isClientBehind: () => (clientLeg.measure()?.unsentBytes ?? 0) > 0 || socket.writableLength > 0,
    onFailover: (event) => observe({ type: 'failover', jobId, ...event }),
    nowMs,
  });
  const leaveUplink = joinUplink?.(socket, { jobId, legClass: 'client' });
  const end = await running.run(fetched);
  leaveUplink?.();
  clientLeg.stop();
  return end;
}

/** Of the client's request, what does not depend on how far it has come. */
function plain({ headers }: IncomingMessage) {
  const { accept, 'user-agent': userAgent } = headers;
  return { accept, 'user-agent': userAgent };
}

function report(
  { observe, ownId }: ServeComponents,
  originHost: string,
  { head: { statusCode } }: Opening,
  client: ClientBody,
  jobId: string,
  seconds: number,
  end: TransferEnd,
): void {
  observe({
    type: 'transfer',
    jobId,
    originHost,
    status: statusCode,
    bodyBytes: client.bytes,
    seconds,
    chain: end.chain,
    outcome: end.outcome,
    sha256: end.outcome === 'complete' ? end.sha256 : undefined,
  });
  if (end.outcome === 'upstream-broke') observe(refusalEvent(end.failure, jobId, ownId));
}

/** Tells the planner how large the object is, so that the next plan for it need not assume. */
function noteSize({ noteSize }: ServeComponents, claims: TicketClaims, { answer }: FetchedAnswer): void {
  const { 'content-range': contentRange = '', 'content-length': contentLength = '' } = answer.headers;
  const text = answer.statusCode === 200 ? contentLength : /\/([0-9]+)$/.exec(contentRange)?.[1];
  if (text !== undefined && /^[0-9]{1,15}$/.test(text)) noteSize(claims.urlHash, Number(text));
}
