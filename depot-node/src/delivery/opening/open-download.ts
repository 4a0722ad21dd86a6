import type { IncomingMessage } from 'node:http';
import { LonghaulError, originTarget, type TicketClaims } from '@longhaul/shared';
import { isFromBeginning, mayBeLed } from '../../door/asked-part.ts';
import { firstBlockBytes } from '../../lanes/block-sizes.ts';
import type { AskedBlock } from '../../lanes/lane-transfer.ts';
import type { LanesConfig } from '../../lanes/lanes-config.ts';
import { openEndedFrom, rangeOf } from '../../origin/asked-range.ts';
import type { BlockBook } from '../../origin/block-book.ts';
import { type AskedTimes, timesOf, waitedMs } from '../../origin/conversation.ts';
import type { OriginAnswer } from '../../origin/origin-connection.ts';
import { headersToOrigin, OF_CHANGE, OF_VERSION } from '../../origin/origin-headers.ts';
import {
  type AnswerHead,
  isBeingWritten,
  type Part,
  type Representation,
  readPart,
  readRepresentation,
  type VersionHead,
} from '../../origin/representation.ts';
import type { DataPlane } from '../../plane/data-plane.ts';
import type { FetchedAnswer, Fetcher, RequestFor, TimedAnswer } from '../../routes/fetcher.ts';
import { depotsBehind } from '../../routes/route-book.ts';
import type { LastTargets } from '../download/last-targets.ts';
import type { RunningDownload, RunningDownloads } from '../download/running-download.ts';
import { judgeVersion } from '../download/version-asked.ts';
import { headOfAll, isCompressedForClient, sayingRanges, saysAsMuch } from './answer-head.ts';
import { firstAnswer } from './first-answer.ts';
import { tryBlock, unhurried } from './try-block.ts';

interface OpenComponents {
  readonly plane: DataPlane;
  readonly fetcher: Fetcher;
  readonly lanes: LanesConfig;
  readonly blockBook: BlockBook;
  readonly lastTargets: LastTargets;
  readonly running: RunningDownloads;
}

/** The first answer to a client's request, and what the client gets of it. */
export interface Opening {
  readonly answer: FetchedAnswer;
  /** What was asked for: without its range and condition where the origin pays no heed to that. */
  readonly asked: ClientRequest['headers'];
  /** The head of what the client gets, as far as it is the origin's. */
  readonly head: AnswerHead;
  /** Of which version the client gets bytes, and which part; `undefined` where the origin does not say. */
  readonly representation: Representation | undefined;
  readonly part: Part | undefined;
  /** How long the answer was waited for, once the origin was asked; `undefined` where somebody else has asked. */
  readonly waitedMs: number | undefined;
  /** Where the answer is only the first block of that part, which lanes go on with. */
  readonly firstBlock: (AskedBlock & AskedTimes) | undefined;
  /**
   * The answer with the whole, of the same version and with nothing of it read, where that came before the
   * first block.
   */
  readonly whole?: FetchedAnswer | undefined;
}

/** Breaks off what an opening has begun. */
export function resetOpening({ answer, whole }: Opening): void {
  answer.connection.reset();
  whole?.connection.reset();
}

/** What a client asks for. */
type ClientRequest = Pick<IncomingMessage, 'method' | 'headers'>;

/**
 * Asks for what the client wants, unless that has been done: `first` is the answer then. Holds it to the
 * version that the client names, to which an origin may pay no heed. Rejects with `origin-changed` where it
 * is another one.
 */
export async function openDownload(
  components: OpenComponents,
  request: ClientRequest,
  download: RunningDownload,
  first: OriginAnswer | undefined,
  signal: AbortSignal,
  mayAskItself = !download.job.hasWorked && mayBeLed(request),
): Promise<Opening> {
  const { book, target } = download;
  const opening = first
    ? openingOf(request, { ...first, target, route: book.plan })
    : await openAnyVersion(components, { request, download, mayAskItself, signal });
  const verdict = judgeVersion(request.headers, opening.answer.head);
  if (verdict === 'asked') return opening;
  resetOpening(opening);
  if (verdict === 'other')
    throw new LonghaulError('origin-changed', { detail: 'the origin pays no heed to conditions' });
  const { range: _, 'if-range': __, ...headers } = request.headers;
  const whole = { method: request.method, headers };
  return openDownload(components, whole, download, undefined, signal, mayAskItself);
}

/** What is asked for a client, and for which download. */
interface Question {
  readonly request: ClientRequest;
  readonly download: RunningDownload;
  readonly mayAskItself: boolean;
  readonly signal: AbortSignal;
}

/** A first block, and the request for it. */
interface BlockQuestion {
  readonly part: Part;
  readonly requestFor: RequestFor;
}

/**
 * Asks for what the client wants; for its first block where the plan has lanes, the job has one connection,
 * and address and file last. An origin that is not known to give blocks is asked for the whole before, which
 * goes on where it gives none.
 */
async function openAnyVersion(components: OpenComponents, question: Question): Promise<Opening> {
  const { request, download } = question;
  const part = blockToAskFor(components, request, download);
  const block = part && {
    part,
    requestFor: requestWith(components, request, headersForFirstBlock(part)),
  };
  const opening =
    block && components.blockBook.isFit(download.target.url)
      ? await askForBlock(components, question, block)
      : 'useless';
  return opening === 'useless' ? await askForWhole(components, question, block) : opening;
}

/** Asks for a first block alone: the origin is known to give blocks. */
async function askForBlock(
  components: OpenComponents,
  { request, download, mayAskItself, signal }: Question,
  { part, requestFor }: BlockQuestion,
): Promise<Opening | 'useless'> {
  const { fetcher, blockBook } = components;
  const asked = { requestFor, isBlock: true, mayAskItself };
  const first = await firstAnswer(components, request, download, asked, signal);
  const answer = await unhurried(first, part, overWayOf(first, fetcher, requestFor), signal);
  if (signal.aborted) answer.connection.reset();
  signal.throwIfAborted();
  const opening = openingOfBlock(request, answer, part);
  if (opening === 'useless') answer.connection.reset();
  else if (opening.firstBlock) blockBook.noteFit(download.target.url);
  return opening;
}

/** Asks as the client did, and for a first block beside that where the origin is not known to give any. */
async function askForWhole(
  components: OpenComponents,
  question: Question,
  block: BlockQuestion | undefined,
): Promise<Opening> {
  const { request, download, mayAskItself, signal } = question;
  const asked = { requestFor: requestWith(components, request), isBlock: false, mayAskItself };
  const whole = await firstAnswer(components, request, download, asked, signal);
  // Parts of a file do not say that all of it would come compressed.
  const isLed = mayAskItself && isFromBeginning(request) && isCompressedForClient(request, whole.head);
  const isForBlocks = block && !isLed && !isBeingWritten(whole.head);
  return isForBlocks && !components.blockBook.isFit(download.target.url)
    ? await askBesideWhole(components, question, whole, block)
    : openingOf(request, whole);
}

/** Asks for a first block beside the answer with the whole, and goes on with what serves the client better. */
async function askBesideWhole(
  { fetcher, blockBook }: OpenComponents,
  { request, download, signal }: Question,
  whole: TimedAnswer,
  { part, requestFor }: BlockQuestion,
): Promise<Opening> {
  const { target } = download;
  const trial = await tryBlock(whole, part, overWayOf(whole, fetcher, requestFor), signal);
  const opening = typeof trial === 'string' ? 'useless' : openingOfBlock(request, trial, part, whole.head);
  // Not where redirects led to it, which lead to another address when that one gives no more, nor over other
  // depots, which would take in megabytes of it unread.
  const isKept = whole.target.url === target.url && whole.route.chain.length === 1;
  if (signal.aborted || (opening !== 'useless' && !isKept)) whole.connection.reset();
  if (typeof trial !== 'string' && (opening === 'useless' || signal.aborted)) trial.connection.reset();
  signal.throwIfAborted();
  const result = typeof trial === 'string' ? trial : 'answered';
  blockBook.noteTrial(result, target.url, target.client, depotsBehind(whole.route));
  if (opening === 'useless') return openingOf(request, whole);
  // Of files whose blocks say less the whole is asked for each time: who gets them by blocks alone would not
  // know their names.
  if (saysAsMuch(opening.answer.head, whole.head)) blockBook.noteFit(target.url);
  return isKept ? { ...opening, whole } : opening;
}

/** The client's request as the origin gets it, with these headers besides. */
function requestWith({ plane }: OpenComponents, request: ClientRequest, extra: object = {}): RequestFor {
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
  return (url) => ({
    method,
    target: originTarget(url),
    headers: { ...headersToOrigin(request.headers, url, plane.ownId), ...extra },
  });
}

/** Asks once more over the way of an answer. */
function overWayOf({ route, target }: FetchedAnswer, fetcher: Fetcher, requestFor: RequestFor) {
  return (signal: AbortSignal, onStands: () => void) =>
    fetcher.overRoute(route, target, requestFor, signal, onStands);
}

/**
 * An answer to the first block, as the beginning of what was asked for; `useless` where the client's own
 * request has to be made. `whole` is the head of the answer to that, of the same version, where it has been
 * made before: what is said with it alone the client gets, too.
 */
function openingOfBlock(
  request: ClientRequest,
  answer: TimedAnswer,
  asked: Part,
  whole?: AnswerHead,
): Opening | 'useless' {
  const verdict = judgeFirstBlock(answer.head, asked);
  if (verdict === 'as-is') return openingOf(request, answer);
  if (verdict === 'useless') return 'useless';
  const { representation, part } = verdict;
  const all = { startByte: part.startByte, endByte: representation.sizeBytes };
  const head = whole ? sayingRanges(whole) : headOfAll(answer.head, all, request.headers.range === undefined);
  return {
    answer,
    asked: request.headers,
    head,
    representation,
    part: all,
    waitedMs: waitedMs(answer),
    firstBlock: { part, ...timesOf(answer) },
  };
}

/** What asks for a first block, of whatever version, over a connection that goes on as the first lane. */
function headersForFirstBlock(block: Part) {
  return { range: rangeOf(block), connection: 'keep-alive' };
}

/** An answer to the client's own request. */
function openingOf({ method, headers: asked }: ClientRequest, answer: FetchedAnswer | TimedAnswer): Opening {
  const { head } = answer;
  const waited = 'answeredAtMs' in answer ? waitedMs(answer) : undefined;
  // The answer to a HEAD tells of a body that does not come.
  const part = method === 'HEAD' ? undefined : readPart(head);
  const representation = readRepresentation(head);
  return { answer, asked, head, representation, part, waitedMs: waited, firstBlock: undefined };
}

/**
 * The first block to ask the origin for; `undefined` where lanes may not fetch the file, or blocks would not
 * last: the address may lapse, the client has other connections for the same, or the origin gives no blocks.
 */
function blockToAskFor(
  { lanes, blockBook, running }: OpenComponents,
  request: ClientRequest,
  download: RunningDownload,
): Part | undefined {
  const { book, target, mayLapse } = download;
  const [best = book.plan] = book.routes();
  const block = firstBlock(request, target.ticket.claims, firstBlockBytes(best.promise, lanes));
  const isBeside = block !== undefined && running.connectionsBeside(download, block.startByte) > 0;
  const isForOne = mayLapse || isBeside || blockBook.isUnfit(target.url, target.client, depotsBehind(best));
  return isForOne ? undefined : block;
}

/**
 * The first block of what a client wants, where lanes may fetch it: the client wants all of it, or all
 * from a byte on. The answer to the block tells the file's size and version. `undefined` where the client's
 * request goes to the origin as it is: the plan has no lanes, or the client asks for parts itself.
 */
function firstBlock(
  { method, headers }: ClientRequest,
  { lanes }: TicketClaims,
  blockBytes: number,
): Part | undefined {
  const startByte = openEndedFrom(headers.range ?? 'bytes=0-');
  // A version would mean something else with a block of the whole than with the whole.
  const conditions = headers.range === undefined ? [...OF_CHANGE, ...OF_VERSION] : OF_CHANGE;
  const isConditional = conditions.some((name) => headers[name] !== undefined);
  if (method !== 'GET' || lanes <= 1 || startByte === undefined || isConditional) return undefined;
  return { startByte, endByte: startByte + blockBytes };
}

/**
 * How an answer to the first block serves the client: with its part and version, as the beginning of what was
 * asked for; `as-is`: the origin has not cut it; `useless`: the request must be made again as the client made
 * it.
 */
function judgeFirstBlock(
  head: VersionHead,
  asked: Part,
): { readonly part: Part; readonly representation: Representation } | 'as-is' | 'useless' {
  if (head.statusCode !== 206) return mayBeOfPart(head, asked) ? 'useless' : 'as-is';
  const part = readPart(head);
  const representation = readRepresentation(head);
  const isAsked =
    part?.startByte === asked.startByte && part.endByte === Math.min(asked.endByte, part.sizeBytes);
  // Some name the end of what they give as that of the file. Where it is true one request more does no harm.
  const isEndDoubtful = part?.sizeBytes === asked.endByte;
  const isOne = isAsked && !isEndDoubtful && !isBeingWritten(head);
  return isOne && representation ? { part, representation } : 'useless';
}

/** Refusals that do not depend on how much was asked for, or that ask for patience. */
const REFUSALS_OF_ALL = new Set([401, 404, 407, 410, 429, 503]);

/**
 * Whether an answer may be to the part that was asked for and not to what the client wants: there are origins
 * that forget the 206, and some that refuse whoever asks for a part.
 */
function mayBeOfPart({ statusCode, headers }: VersionHead, { startByte, endByte }: Part): boolean {
  if (statusCode >= 400) return !REFUSALS_OF_ALL.has(statusCode);
  const isGiven = statusCode >= 200 && statusCode < 300;
  const isOfItsLength = headers['content-length'] === String(endByte - startByte);
  return isGiven && (headers['content-range'] !== undefined || isOfItsLength);
}
