import type { IncomingMessage } from 'node:http';
import { asLonghaulError, type Chain, LonghaulError } from '@longhaul/shared';
import { isFromBeginning } from '../door/asked-part.ts';
import { directAnswer, isBetterDirect } from '../door/direct-answer.ts';
import { refusalEvent } from '../door/refusal.ts';
import type { OriginAnswer } from '../origin/origin-connection.ts';
import type { AnswerHead } from '../origin/representation.ts';
import { LinkedAbort } from '../racing/linked-abort.ts';
import { Delivery, type DeliveryComponents } from './delivery.ts';
import { careFor, type DigestChoice, isWholeOnly, NO_CARE } from './download/body-digest.ts';
import type { DownloadEnd, RunningDownload, RunningDownloads } from './download/running-download.ts';
import { answerHeaders, isPage, mayGiveClient, whyUnusable } from './opening/answer-head.ts';
import { type Opening, openDownload, resetOpening } from './opening/open-download.ts';

/** What programs ask for to see whether parts can be asked for: downloaders one byte, Safari and its kin two. */
const MOST_TRIED_BYTES = 2;

export interface ServeComponents extends DeliveryComponents {
  readonly running: RunningDownloads;
  readonly digests: DigestChoice;
  /** Told of the file's size, and whether no part of it can be asked for. */
  readonly noteSize: (urlHash: string, host: string, sizeBytes: number, isWholeOnly: boolean) => void;
  /** Told whether an origin has given a part of a file that was asked for. */
  readonly noteRanges: (host: string, takesRanges: boolean) => void;
}

/**
 * Serves an admitted download: asks the origin, sends the answer's head, then the body over as many ways as it takes.
 * `first` is the answer where somebody else has asked already. Rejects with a `LonghaulError` before the head is sent.
 */
export async function serveDownload(
  components: ServeComponents,
  request: IncomingMessage,
  download: RunningDownload,
  first: OriginAnswer | undefined,
): Promise<void> {
  const forget = components.running.add(download);
  const leave = components.plane.legs.add(download.job.id, download.legs);
  try {
    await serve(components, request, download, first);
  } finally {
    leave();
    forget();
  }
}

async function serve(
  components: ServeComponents,
  request: IncomingMessage,
  download: RunningDownload,
  first: OriginAnswer | undefined,
): Promise<void> {
  const { plane } = components;
  const { client, job, stop, target } = download;
  const over = new LinkedAbort(client.left, stop);
  const opening = await openUsable(components, request, download, first, over.signal)
    .catch((thrown) => {
      const failure = asLonghaulError(thrown);
      // What has no sure end cannot be gone on with: who has something of it and asks for all has dropped that.
      const isBegunAgain = failure.code === 'origin-end-unsure' && isFromBeginning(request);
      const keepsHere = job.hasWorked && !isBegunAgain;
      // A client that has left needs no answer; what its leaving broke is not a failure.
      if (!client.left.aborted && (keepsHere || !isBetterDirect(failure, request))) throw failure;
      return failure;
    })
    .finally(() => over.leave());
  if (opening instanceof LonghaulError) {
    if (!client.left.aborted) await leadToOrigin(components, request, download, [], opening);
    return;
  }
  const { answer, head, firstBlock } = opening;
  const isLed = mayGiveClient(request, head, job);
  const cut = cutByBudget(request, opening, download);
  if (isLed || cut || client.left.aborted) resetOpening(opening);
  if (client.left.aborted) return;
  if (isLed) {
    // What is no success here may be a file elsewhere.
    const isToPage = head.statusCode < 300 && isPage(request, head);
    await leadToOrigin(components, request, download, answer.route.chain, undefined, isToPage);
    return;
  }
  download.part = opening.part;
  download.representation = opening.representation;
  download.waitedMs = opening.waitedMs;
  const body = {
    statusCode: head.statusCode,
    headers: head.headers,
    isBlock: firstBlock !== undefined,
    hasVersion: opening.representation !== undefined,
    sizeBytes: opening.part && opening.part.endByte - opening.part.startByte,
  };
  noteSize(components, target, answer.head, isWholeOnly(body));
  const saysOfRanges = answer.head.headers['accept-ranges'];
  if (answer.head.statusCode === 206 || saysOfRanges === 'bytes')
    components.noteRanges(answer.target.url.host, true);
  else if (saysOfRanges === 'none') components.noteRanges(answer.target.url.host, false);
  if (cut) {
    await leadToOrigin(components, request, download, [], cut);
    return;
  }
  // The answer to a HEAD has given nothing that a client would drop for a redirect, nor has a trial.
  const hasBody = answer.head.statusCode === 200 || answer.head.statusCode === 206;
  const isTrial =
    request.method === 'HEAD' || (body.sizeBytes ?? Number.POSITIVE_INFINITY) <= MOST_TRIED_BYTES;
  if (hasBody && !isTrial) {
    job.hasWorked = true;
    components.lastTargets.note(job, target, answer.target);
  }
  client.begin(
    head.statusCode,
    answerHeaders(request, head, answer.target.url, { jobId: job.id, depotId: plane.ownId }),
    request.method === 'HEAD' ? NO_CARE : careFor(body, components.digests, plane.relay.openDigest),
  );
  const end = await new Delivery(download, request, opening, components).run(opening);
  report(components, download, head.statusCode, end);
}

/** Asks for what the client wants. Rejects with a `LonghaulError` where that is not for it, too. */
async function openUsable(
  components: ServeComponents,
  request: IncomingMessage,
  download: RunningDownload,
  first: OriginAnswer | undefined,
  signal: AbortSignal,
): Promise<Opening> {
  const opening = await openDownload(components, request, download, first, signal);
  const { answer, firstBlock } = opening;
  const unusable = whyUnusable(request, answer.head, firstBlock !== undefined, download.job);
  if (!unusable) return opening;
  resetOpening(opening);
  throw unusable;
}

/**
 * Why a client that begins would get only the beginning of what it asks for: that is longer than what the
 * ticket's budget has left, as where nobody knew the size when it was planned. `undefined` where it is not,
 * or where the client has something that it would drop for a redirect.
 */
function cutByBudget(
  request: IncomingMessage,
  { part }: Opening,
  { job, target }: RunningDownload,
): LonghaulError | undefined {
  if (!part || job.hasWorked || !isFromBeginning(request)) return undefined;
  const leftBytes = target.ticket.claims.budgetBytes - job.bytes;
  const isCut = part.endByte - part.startByte > leftBytes;
  return isCut ? new LonghaulError('budget-used-up', { detail: 'the file is longer' }) : undefined;
}

/**
 * Leads the client to where the download began, and tells of the failure that it is led for, if any: what
 * that redirects to may be another place for it.
 */
async function leadToOrigin(
  components: ServeComponents,
  request: IncomingMessage,
  download: RunningDownload,
  chain: Chain,
  failure?: LonghaulError,
  isToPage = false,
): Promise<void> {
  const { client, job, target, stop } = download;
  const { ownId, observe } = components.plane;
  if (failure) observe(refusalEvent(failure, job.id, ownId));
  const { status, headers } = directAnswer(request, target.url, { jobId: job.id, ownId, failure, isToPage });
  client.begin(status, headers);
  const { state } = await client.finish(stop);
  if (failure) return;
  const end: DownloadEnd =
    state === 'ready' ? { outcome: 'complete', chain, sha256: undefined } : { outcome: 'client-left', chain };
  report(components, download, status, end);
}

function report(
  { plane: { observe, ownId, steadyMs } }: ServeComponents,
  { client, job, left, legs, ownShare, startedMs, target, waitedMs }: RunningDownload,
  status: number,
  end: DownloadEnd,
): void {
  observe({
    type: 'transfer',
    jobId: job.id,
    originHost: target.url.host,
    status,
    bodyBytes: client.bytes,
    seconds: (steadyMs() - startedMs) / 1000,
    waitedMs,
    ownShare: ownShare(),
    chain: end.chain,
    outcome: end.outcome,
    left,
    sha256: end.outcome === 'complete' ? end.sha256 : undefined,
    legs: legs.end(),
  });
  if (end.outcome === 'upstream-broke') observe(refusalEvent(end.failure, job.id, ownId));
}

/** Tells the planner how large the object is, so that the next plan for it need not assume. */
function noteSize(
  { noteSize }: ServeComponents,
  { ticket, url }: RunningDownload['target'],
  { statusCode, headers }: AnswerHead,
  isWholeOnly: boolean,
): void {
  const { 'content-range': contentRange = '', 'content-length': contentLength = '' } = headers;
  const text = statusCode === 200 ? contentLength : /\/([0-9]+)$/.exec(contentRange)?.[1];
  if (text !== undefined && /^[0-9]{1,15}$/.test(text))
    noteSize(ticket.claims.urlHash, url.host, Number(text), isWholeOnly);
}
