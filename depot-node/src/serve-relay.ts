import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import {
  asLonghaulError,
  type DepotRelayRequest,
  formatGetPath,
  isEntryDepot,
  LonghaulError,
  type OriginRelayRequest,
  ok,
  type Result,
  refuse,
  refuseThrown,
  type TicketClaims,
} from '@longhaul/shared';
import { ClientBody } from './delivery/download/client-body.ts';
import { RunningDownload } from './delivery/download/running-download.ts';
import type { GivenFile, WrongFiles } from './delivery/download/wrong-files.ts';
import { type ServeComponents, serveDownload } from './delivery/serve-download.ts';
import { isLaterPart, namesVersion } from './door/asked-part.ts';
import { directAnswer, isBetterDirect } from './door/direct-answer.ts';
import { type OpenedRequest, openRequest } from './door/open-request.ts';
import { refusalEvent, sendBackToMaster, sendRefusal } from './door/refusal.ts';
import { arrivalOf } from './jobs/arrival.ts';
import type { JobTable } from './jobs/job-table.ts';
import { isReserve } from './routes/route-book.ts';
import { resetConnection } from './sockets/reset.ts';
import type { Entered } from './stepwise/enter-stepwise.ts';
import { stepOf } from './stepwise/step-of.ts';
import type { Stepwise } from './stepwise/stepwise.ts';
import { checkTarget } from './tickets/target.ts';
import type { OpenTicket, TicketGate } from './tickets/ticket-gate.ts';

interface ServeRelayComponents extends ServeComponents {
  readonly gate: TicketGate;
  readonly jobs: JobTable;
  readonly stepwise: Stepwise;
  readonly wrongFiles: WrongFiles;
  /** Base URL of the master that plans anew; `undefined` before one has been heard. */
  readonly masterUrl: () => string | undefined;
}

/** How long a client waits for a chain from here: as long as a repair waits for one. */
const PLAN_PATIENCE_MS = 1_500;

/** What a relay request asks of the entry depot: its URL is known, or is told by the depot that holds the file. */
interface EntryRequest {
  readonly ticket: OpenTicket;
  readonly asked: OriginRelayRequest | DepotRelayRequest;
}

/**
 * Serves relay requests: as entry depot of the ticket's chain, or as one of the other depots of stepwise
 * signalling.
 */
export function createServeRelay(components: ServeRelayComponents) {
  const { gate, plane, stepwise } = components;
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const opened = await openRequest(gate, request).catch(refuseThrown);
    if (!opened.ok) {
      refuseRelay(components, request, response, opened.error);
      return;
    }
    const { ticket, asked } = opened.value;
    const isStepwise = ticket.claims.kind === 'stepwise';
    const step = isStepwise ? stepOf(ticket.claims, plane.ownId, asked) : ok(undefined);
    const entry = step.ok && !step.value ? entryRequest(plane.ownId, opened.value) : undefined;
    const served = entry?.ok
      ? await enter(components, entry.value, request, response)
      : step.ok && step.value
        ? await stepwise.play(step.value, ticket, request, response).catch(refuseThrown)
        : (entry ?? step);
    if (!served.ok) refuseRelay(components, request, response, served.error, opened.value);
  };
}

/** Checks everything that can be checked of a request for the entry depot before anything is dialled. */
function entryRequest(ownId: string, { ticket, asked }: OpenedRequest): Result<EntryRequest> {
  if (!isEntryDepot(ticket.claims, ownId)) return refuse('ticket-wrong-depot');
  if (asked.from === 'origin') {
    const checked = checkTarget({ ticket, url: asked.url });
    return checked.ok ? ok({ ticket, asked }) : checked;
  }
  const isHeld = asked.from === 'depot' && ticket.claims.kind === 'stepwise';
  return isHeld ? ok({ ticket, asked }) : refuse('ticket-wrong-kind');
}

/** Serves a download as its entry depot. Gives why it was not admitted; what fails later is answered here. */
async function enter(
  components: ServeRelayComponents,
  { ticket, asked }: EntryRequest,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<Result<void>> {
  const { jobs, plane, wrongFiles } = components;
  const { observe, ownId, steadyMs, timeouts } = plane;
  const startedMs = steadyMs();
  const arrival = arrivalOf(request);
  const admission = jobs.admit(ticket.claims, arrival);
  if (!admission.ok) return admission;
  const { job, note, ownShare, release, stop } = admission.value;
  job.hasWorked ||= hasWorkedElsewhere(request, ticket.claims);
  const file = { claims: ticket.claims, client: arrival };
  const wrong = wrongFiles.find(file, request.headers);
  try {
    if (wrong) holdToWhole(request, wrong);
    const client = new ClientBody(response, { stallMs: timeouts.stallMs, onBytes: note });
    const entered = await learnUrl(components, { ticket, asked }, request, client, stop);
    if (entered) {
      const target = { ticket, url: entered.url, client: arrival.network };
      const download = new RunningDownload({
        ownId,
        job,
        target,
        client,
        startedMs,
        stop,
        ownShare,
        noteGiven: (given, isWrong) =>
          isWrong ? wrongFiles.note(file, given) : wrongFiles.noteWhole(file, given),
      });
      await planFromHere(components, download);
      await serveDownload(components, request, download, entered.first);
    }
  } catch (thrown) {
    const failure = asLonghaulError(thrown);
    observe(refusalEvent(failure, job.id, ownId));
    // Browsers give up what is on disk after some refusals, and after no connection that ends.
    const goesOn = failure.code === 'shutting-down' && arrival.hasRange;
    if (response.headersSent || goesOn) resetConnection(request.socket);
    else {
      const target = asked.from === 'origin' ? asked.url : undefined;
      const leadingOn = { masterUrl: components.masterUrl(), target };
      const hasWorked = job.hasWorked || wrong !== undefined;
      sendRefusal(request, response, failure, { ownId, hasWorked, leadingOn });
    }
  } finally {
    release();
  }
  return ok(undefined);
}

/**
 * Whether a client shows that its address has given a body of which nothing is known here: at another depot
 * of the group, or before this one restarted or forgot the job. Programs that ask for a file in parts from
 * the start name no version of it.
 */
function hasWorkedElsewhere({ headers }: IncomingMessage, { group }: TicketClaims): boolean {
  return isLaterPart(headers) && (group !== undefined || namesVersion(headers));
}

/**
 * Has a client whose beginning of a file is wrong get nothing behind that. Throws `origin-digest-wrong` for
 * what it asks for; who begins anew gets the whole, which is checked, also where he asks for a part that is
 * all of it.
 */
function holdToWhole({ headers }: IncomingMessage, { sizeBytes }: GivenFile): void {
  if (isLaterPart(headers)) throw new LonghaulError('origin-digest-wrong');
  const toByte = /^bytes=0+-([0-9]*)$/.exec(headers.range ?? '')?.[1];
  if (toByte === undefined || (toByte !== '' && Number(toByte) < sizeBytes - 1)) return;
  delete headers.range;
  delete headers['if-range'];
}

/**
 * Asks the master for chains from here, where a ticket of this depot's group has none; without them the depot
 * fetches alone.
 */
async function planFromHere(
  { fetcher }: ServeRelayComponents,
  { book, target }: RunningDownload,
): Promise<void> {
  if (target.ticket.claims.group === undefined || !isReserve(book.plan)) return;
  const planned = fetcher.followUp(target.ticket, target.url, []).catch(() => undefined);
  const ticket = await Promise.race([planned, delay(PLAN_PATIENCE_MS, undefined, { ref: false })]);
  if (ticket) book.add(ticket);
}

/**
 * Learns the origin's URL, and takes the first answer where a predecessor holds one; `undefined`: the client
 * has left.
 */
async function learnUrl(
  { stepwise }: ServeRelayComponents,
  { ticket, asked }: EntryRequest,
  request: IncomingMessage,
  { left }: ClientBody,
  stop: AbortSignal,
): Promise<Entered | undefined> {
  if (asked.from === 'origin') return { url: asked.url, first: undefined };
  const signal = AbortSignal.any([left, stop]);
  const entered = await stepwise.enter(ticket, asked, request, signal).catch((thrown) => {
    if (left.aborted) return undefined;
    throw thrown;
  });
  if (!left.aborted) return entered;
  entered?.first?.connection.reset();
  return undefined;
}

function refuseRelay(
  { jobs, masterUrl, plane: { observe, ownId } }: ServeRelayComponents,
  request: IncomingMessage,
  response: ServerResponse,
  error: LonghaulError,
  opened?: OpenedRequest,
): void {
  observe(refusalEvent(error, opened?.ticket.claims.jobId, ownId));
  const master = masterUrl();
  const isResume = request.headers.range !== undefined;
  const url = opened?.asked.from === 'origin' ? opened.asked.url : undefined;
  if (response.headersSent) resetConnection(request.socket);
  else if (error.code === 'ticket-start-over' && !isResume && url && master !== undefined) {
    const options = opened?.ticket.claims.kind === 'stepwise' ? { signalling: 'stepwise' as const } : {};
    sendBackToMaster(request, response, master + formatGetPath(url, options), ownId);
  } else {
    // Only what a ticket was given for is shown: anybody can write an address behind it.
    const target = opened && url && checkTarget({ ticket: opened.ticket, url }).ok ? url : undefined;
    const jobId = opened?.ticket.claims.jobId ?? '';
    const hasWorked = opened && (jobs.knows(jobId) || hasWorkedElsewhere(request, opened.ticket.claims));
    if (target && isBetterDirect(error, request) && !hasWorked) {
      const { status, headers } = directAnswer(request, target, { jobId, ownId, failure: error });
      response.writeHead(status, headers.flat()).end();
    } else sendRefusal(request, response, error, { ownId, leadingOn: { masterUrl: master, target } });
  }
}
