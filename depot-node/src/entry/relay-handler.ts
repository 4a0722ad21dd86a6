import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  asLonghaulError,
  formatGetPath,
  LonghaulError,
  type OriginUrl,
  refuseThrown,
  type TicketClaims,
} from '@longhaul/shared';
import type { Observe } from '../events.ts';
import type { UplinkPacer } from '../fairness/uplink-pacer.ts';
import { arrivalOf } from '../jobs/arrival-of.ts';
import type { Admission, Job, JobTable } from '../jobs/job-table.ts';
import type { LanesConfig } from '../lanes/lanes-config.ts';
import type { ChoosingRelay } from '../relay/relay-plane.ts';
import type { LegSampler } from '../sockets/leg-sampler.ts';
import { resetConnection } from '../sockets/reset.ts';
import type { Entered } from '../stepwise/enter-stepwise.ts';
import type { Stepwise } from '../stepwise/stepwise.ts';
import type { TicketGate } from '../tickets/ticket-gate.ts';
import { answerHeaders, type OriginHead } from './answer-headers.ts';
import { BodyDigest, statedDigest } from './body-digest.ts';
import { ClientBody } from './client-body.ts';
import { headersToOrigin } from './headers.ts';
import { type OpenedRequest, openRequest } from './open-request.ts';
import { firstBlock, headersForBlock, headOfAll, judgeFirstBlock } from './opening.ts';
import type { OriginAnswer } from './origin-exchange.ts';
import {
  abandon,
  type FetchedAnswer,
  fetchFromOrigin,
  type OriginFetchComponents,
  type RequestFor,
} from './origin-fetch.ts';
import { sendBackToMaster, sendRefusal } from './refusal.ts';
import { Repairer, type RepairLimits } from './repair.ts';
import { type Part, readPart, readRepresentation } from './representation.ts';
import { type Choice, RouteBook } from './route-book.ts';
import { sendOverLanes } from './send-over-lanes.ts';
import type { SlowOptions } from './slow-watch.ts';
import type { Target } from './target.ts';
import { type SendOverLanes, Transfer, type TransferContent, type TransferEnd } from './transfer.ts';

export interface RelayHandlerComponents {
  readonly ownId: string;
  readonly gate: TicketGate;
  readonly jobs: JobTable;
  readonly fetch: OriginFetchComponents;
  /** The last step of stepwise signalling: what the predecessor holds. */
  readonly enterStepwise: Stepwise['enter'];
  /** Base URL of the master that plans anew; `undefined` before one has been heard. */
  readonly masterUrl: () => string | undefined;
  readonly noteSize: (urlHash: string, sizeBytes: number) => void;
  readonly observe: Observe;
  readonly relay: ChoosingRelay;
  readonly watch: LegSampler['watch'];
  /** Where the depot has an uplink to share. */
  readonly joinUplink: UplinkPacer['join'] | undefined;
  readonly failover: RepairLimits & { readonly silenceMs: number; readonly slow: SlowOptions };
  readonly lanes: LanesConfig;
  /** Whether every whole body passes this process to be digested, even where the kernel could move it. */
  readonly digestsAll: boolean;
  readonly silenceMs: number;
  readonly stallMs: number;
  readonly nowMs: () => number;
  /** Aborts when the depot gives up its running transfers. */
  readonly shutdown: AbortSignal;
}

/** What an origin may answer to a client that goes on with a download. */
const RESUME_ANSWERS = new Set([200, 206, 304, 412, 416]);

/** Serves a relay request: this depot is the entry depot of the ticket's chain. */
export function createRelayHandler(components: RelayHandlerComponents) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { ownId, observe } = components;
    const opened = await openRequest(components, request).catch(refuseThrown);
    if (!opened.ok) {
      refuseRequest(components, request, response, opened.error);
      return;
    }
    const { ticket, asked } = opened.value;
    const url = asked.from === 'origin' ? asked.url : undefined;
    const admission = components.jobs.admit(ticket.claims, arrivalOf(request));
    if (!admission.ok) {
      refuseRequest(components, request, response, admission.error, ticket.claims, url);
      return;
    }
    const { job } = admission.value;
    try {
      const entered = await enter(components, opened.value, request, response);
      if (entered)
        await serve(
          components,
          request,
          response,
          { ticket, url: entered.url },
          admission.value,
          entered.first,
        );
    } catch (thrown) {
      const failure = asLonghaulError(thrown);
      observe({
        type: 'refusal',
        code: failure.code,
        jobId: job.id,
        depot: failure.depot ?? ownId,
        detail: describeCause(failure),
      });
      if (response.headersSent) resetConnection(request.socket);
      else sendRefusal(request, response, failure, ownId, job.hasWorked);
    } finally {
      admission.value.release();
    }
  };
}

function refuseRequest(
  { ownId, observe, masterUrl }: RelayHandlerComponents,
  request: IncomingMessage,
  response: ServerResponse,
  error: LonghaulError,
  claims?: TicketClaims,
  url?: OriginUrl,
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

/** Learns the origin's URL, and takes the first answer where a predecessor holds one; `undefined`: the client has left. */
async function enter(
  components: RelayHandlerComponents,
  { ticket, asked }: OpenedRequest,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Entered | undefined> {
  if (asked.from === 'origin') return { url: asked.url, first: undefined };
  const left = new AbortController();
  const onClose = () => left.abort();
  response.once('close', onClose);
  const signal = AbortSignal.any([left.signal, components.shutdown]);
  const entered = await components.enterStepwise(ticket, asked, request, signal).catch((thrown) => {
    if (left.signal.aborted) return undefined;
    throw thrown;
  });
  response.off('close', onClose);
  if (!left.signal.aborted) return entered;
  if (entered?.first) abandon(entered.first.answer);
  return undefined;
}

async function serve(
  components: RelayHandlerComponents,
  request: IncomingMessage,
  response: ServerResponse,
  target: Target,
  { job, note }: Admission,
  first: OriginAnswer | undefined,
): Promise<void> {
  const { nowMs, ownId } = components;
  const startedMs = nowMs();
  const left = new AbortController();
  const onClose = () => left.abort();
  response.once('close', onClose);
  const signal = AbortSignal.any([left.signal, components.shutdown]);
  const book = new RouteBook(ownId, target.ticket);
  const begin = first
    ? Promise.resolve(openingOf(request, { ...first, target, choice: book.plan }))
    : open(components, request, target, book, job, signal);
  const opening = await begin.catch((thrown) => {
    // A client that has left needs no answer; what its leaving broke is not a failure.
    if (left.signal.aborted) return undefined;
    throw thrown;
  });
  if (!opening) return;
  const { fetched } = opening;
  if (left.signal.aborted) {
    abandon(fetched.answer);
    return;
  }
  refuseUnusable(request, opening, job);
  noteSize(components, target.ticket.claims, fetched);
  response.off('close', onClose);
  const client = new ClientBody(response, {
    stallMs: components.stallMs,
    ...digestOf(components, request, opening),
    onBytes: note,
  });
  response.writeHead(opening.head.statusCode, answerHeaders(opening.head, fetched, ownId, job.id).flat());
  const end = await transfer(components, request, target, book, opening, client, job.id);
  report(components, target.url.host, opening, client, job.id, (nowMs() - startedMs) / 1000, end);
}

/** The first answer to a client's request, and what the client gets of it. */
interface Opening {
  readonly fetched: FetchedAnswer;
  readonly head: OriginHead;
  readonly content: TransferContent;
  /** The answer is only the first block, asked for at this time; lanes fetch the rest. */
  readonly block: { readonly part: Part; readonly askedAtMs: number } | undefined;
}

/** Asks for what the client wants; for its first block where the plan has lanes. */
async function open(
  components: RelayHandlerComponents,
  request: IncomingMessage,
  target: Target,
  book: RouteBook,
  job: Job,
  signal: AbortSignal,
): Promise<Opening> {
  const { ownId, lanes, fetch, nowMs } = components;
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
  const requestWith =
    (extra: object): RequestFor =>
    (url) => ({ method, url, headers: { ...headersToOrigin(request.headers, url, ownId), ...extra } });
  const asked = firstBlock(request, target.ticket.claims, job.active, lanes.firstBlockBytes);
  const askedAtMs = nowMs();
  const first = requestWith(asked ? headersForBlock(asked) : {});
  const fetched = await fetchFromOrigin(fetch, book, target, first, signal);
  const verdict = asked ? judgeFirstBlock(fetched.answer, asked) : 'as-is';
  if (verdict === 'as-is') return openingOf(request, fetched);
  if (verdict === 'useless') {
    abandon(fetched.answer);
    return openingOf(request, await fetchFromOrigin(fetch, book, target, requestWith({}), signal));
  }
  const part = readPart(fetched.answer);
  const { part: all, ...head } = headOfAll(fetched.answer, request.headers.range === undefined);
  const content = { representation: readRepresentation(fetched.answer), part: all };
  return { fetched, head, content, block: part && { part, askedAtMs } };
}

function openingOf({ method }: IncomingMessage, fetched: FetchedAnswer): Opening {
  const { statusCode = 502, rawHeaders } = fetched.answer;
  const content = {
    representation: readRepresentation(fetched.answer),
    // The answer to a HEAD tells of a body that does not come.
    part: method === 'HEAD' ? undefined : readPart(fetched.answer),
  };
  return { fetched, head: { statusCode, rawHeaders }, content, block: undefined };
}

/** Sends the body, and what follows when its way breaks. */
async function transfer(
  components: RelayHandlerComponents,
  request: IncomingMessage,
  target: Target,
  book: RouteBook,
  { fetched, content, block }: Opening,
  client: ClientBody,
  jobId: string,
): Promise<TransferEnd> {
  const { ownId, watch, joinUplink, observe, failover, relay, silenceMs, stallMs, nowMs, shutdown } =
    components;
  const { socket } = request;
  const clientLeg = watch(socket, { legClass: 'client' });
  const watchLeg = (way: Duplex, { chain: [, next] }: Choice) =>
    watch(way, next === undefined ? { legClass: 'origin' } : { legClass: 'depot', depot: next });
  const requestFor: RequestFor = (url) => ({
    method: 'GET',
    url,
    headers: headersToOrigin(plain(request), url, ownId),
  });
  const lanes: SendOverLanes = (first, { representation, part }) =>
    sendOverLanes(first, {
      ...components,
      block: block ?? { part, askedAtMs: nowMs() },
      content: { representation, part },
      laneCount: target.ticket.claims.lanes,
      config: components.lanes,
      book,
      client,
      requestFor,
      watchLeg,
      onLaneEvent: (event) => observe({ ...event, jobId }),
    });
  const running = new Transfer(content, client, {
    lanes: block && lanes,
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

/** A login is never carried, and an address that worked once is never answered as if there were nothing. */
function refuseUnusable(request: IncomingMessage, { fetched: { answer }, block }: Opening, job: Job): void {
  const status = answer.statusCode ?? 0;
  const refuseWith = (failure: LonghaulError) => {
    abandon(answer);
    throw failure;
  };
  if (status === 401 || status === 407) refuseWith(new LonghaulError('origin-needs-login'));
  if (job.hasWorked && !RESUME_ANSWERS.has(status))
    refuseWith(new LonghaulError('origin-unavailable', { detail: `it answered ${status}` }));
  if (status === 206 && !block && !isPartOf(request, answer))
    refuseWith(new LonghaulError('origin-bad-answer'));
  if (status === 200 || status === 206) job.hasWorked = true;
}

/** Whether a 206 is something that the client's `Range` asked for. Several ranges come in a form that only it reads. */
function isPartOf({ headers: { range } }: IncomingMessage, answer: IncomingMessage): boolean {
  if (range === undefined) return false;
  if (answer.headers['content-type']?.startsWith('multipart/byteranges')) return range.includes(',');
  const part = readPart(answer);
  const from = /^bytes=([0-9]+)-[0-9]*$/.exec(range)?.[1];
  return part !== undefined && (from === undefined || part.startByte === Number(from));
}

/** What is known of the whole body's digest, and whether its end must wait for it. */
function digestOf(
  { digestsAll }: RelayHandlerComponents,
  request: IncomingMessage,
  { fetched: { answer }, head: { statusCode }, block }: Opening,
): { readonly digest: BodyDigest | undefined; readonly mustPass: boolean; readonly holdsBack: boolean } {
  if (request.method === 'HEAD' || statusCode !== 200)
    return { digest: undefined, mustPass: false, holdsBack: false };
  const stated = statedDigest(answer, block !== undefined);
  const holdsBack = stated !== undefined;
  return { digest: new BodyDigest(stated), mustPass: digestsAll || holdsBack, holdsBack };
}

function report(
  { observe, ownId }: RelayHandlerComponents,
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
  if (end.outcome !== 'upstream-broke') return;
  const { failure } = end;
  observe({
    type: 'refusal',
    code: failure.code,
    jobId,
    depot: failure.depot ?? ownId,
    detail: describeCause(failure),
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
