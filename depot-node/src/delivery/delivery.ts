import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { asLonghaulError, type Chain, LonghaulError, originTarget } from '@longhaul/shared';
import { SkippedPrefix } from '../digests/running-digest.ts';
import type { LaneMemory } from '../lanes/lane-memory.ts';
import type { LanePlaces } from '../lanes/lane-places.ts';
import type { LanesConfig } from '../lanes/lanes-config.ts';
import type { AheadBook } from '../origin/ahead-book.ts';
import type { BlockBook } from '../origin/block-book.ts';
import { AddressRefused, joinedPart } from '../origin/joined-part.ts';
import { headersOfVariant, headersToOrigin } from '../origin/origin-headers.ts';
import { type AnswerHead, endsWithConnection } from '../origin/representation.ts';
import type { UnframedBook } from '../origin/unframed-book.ts';
import type { DataPlane } from '../plane/data-plane.ts';
import type { BreakReason } from '../plane/events.ts';
import type { FetchedAnswer, Fetcher, RequestFor } from '../routes/fetcher.ts';
import type { LastTargets } from './download/last-targets.ts';
import type { DownloadEnd, DownloadState, RunningDownload } from './download/running-download.ts';
import type { PartEnd } from './one-way/send-part.ts';
import { WaySender } from './one-way/way-sender.ts';
import { type WayLimits, WayWatch } from './one-way/way-watch.ts';
import type { Opening } from './opening/open-download.ts';
import { KeptWhole } from './over-lanes/kept-whole.ts';
import { LanesAgain } from './over-lanes/lanes-again.ts';
import { leaveSlowLanes } from './over-lanes/leave-slow-lanes.ts';
import { isRefusedToBlocks, sendOverLanes } from './over-lanes/send-over-lanes.ts';
import { beginFailover } from './repairing/begin-failover.ts';
import { type Repaired, Repairer, type RepairLimits } from './repairing/repair.ts';
import { type AgainLimits, RestPlan, requestForPart } from './repairing/rest-plan.ts';

export interface DeliveryComponents {
  readonly plane: DataPlane;
  readonly fetcher: Fetcher;
  readonly failover: RepairLimits & WayLimits & { readonly again: AgainLimits };
  readonly lanes: LanesConfig;
  readonly laneMemory: LaneMemory;
  readonly lanePlaces: LanePlaces;
  readonly aheadBook: AheadBook;
  readonly blockBook: BlockBook;
  readonly unframedBook: UnframedBook;
  readonly lastTargets: LastTargets;
}

type StateOf<Is extends DownloadState['is']> = Extract<DownloadState, { readonly is: Is }>;

const REASONS = {
  'source-ended': 'ended',
  'source-broke': 'reset',
  'source-silent': 'silent',
  'other-bytes': 'other-bytes',
} as const satisfies Partial<Record<PartEnd, BreakReason>>;

/**
 * Sends what a client gets of a download, over as many ways as it takes. When a way breaks, goes silent or is
 * far too slow, the rest is asked for over another one and goes on at the exact next byte, of the same
 * version of the file; or the whole is, and what the client has of it is compared and left out. Where it
 * cannot be proved the client's connection is reset.
 */
export class Delivery {
  readonly #download: RunningDownload;
  readonly #components: DeliveryComponents;
  readonly #repairer: Repairer;
  readonly #requestFor: RequestFor;
  readonly #rest: RestPlan;
  readonly #lanesAgain: LanesAgain;
  readonly #watch: WayWatch;
  readonly #sender: WaySender;
  readonly #isHeadOnly: boolean;
  /** What the client is told. */
  readonly #head: AnswerHead;

  constructor(
    download: RunningDownload,
    request: IncomingMessage,
    { head, asked }: Opening,
    components: DeliveryComponents,
  ) {
    const { plane, fetcher, failover, lanes } = components;
    this.#download = download;
    this.#head = head;
    this.#isHeadOnly = request.method === 'HEAD';
    this.#components = components;
    const requestWith =
      (headers: IncomingHttpHeaders): RequestFor =>
      (url) => ({
        method: 'GET',
        target: originTarget(url),
        headers: headersToOrigin(headers, url, plane.ownId),
      });
    this.#requestFor = requestWith(headersOfVariant(request.headers));
    this.#lanesAgain = new LanesAgain(download, lanes);
    this.#rest = new RestPlan({
      download,
      head,
      plainRequest: this.#requestFor,
      ownRequest: requestWith(asked),
      blockAt: (url) => this.#lanesAgain.blockAt(url),
      limits: failover.again,
    });
    this.#repairer = new Repairer(fetcher, download, this.#rest, failover, plane.steadyMs);
    this.#watch = new WayWatch({
      download,
      socket: request.socket,
      plane,
      limits: failover,
      leaving: () => {
        if (failover.maxTries === 0 || !this.#rest.mayComeAlone) return 'fatal';
        return this.#isCheapToLeave ? 'free' : 'dear';
      },
    });
    this.#sender = new WaySender({
      download,
      plane,
      limits: failover,
      watch: this.#watch,
      rest: this.#rest,
      repairer: this.#repairer,
    });
  }

  /** Delivers what an opening has begun. Never rejects. */
  async run({ answer, firstBlock, whole }: Opening): Promise<DownloadEnd> {
    const download = this.#download;
    const { client, job } = download;
    const { plane } = this.#components;
    const { socket } = client;
    if (!this.#isHeadOnly) client.guard(plane.resetOnClose);
    const leaveUplink = socket && plane.joinUplink?.(socket, { jobId: job.id, legClass: 'client' });
    if (firstBlock) this.#rest.noteRanges();
    download.state = firstBlock
      ? { is: 'laning', answer, firstBlock }
      : { is: 'sending', answer, prefix: undefined };
    if (this.#isHeadOnly) {
      // Whatever comes behind the head is for nobody.
      answer.connection.close();
      download.state = { is: 'finishing', chain: answer.route.chain };
    }
    const kept = whole && new KeptWhole(whole);
    for (;;) {
      const { state } = download;
      if (state.is === 'ended' || state.is === 'opening') break;
      if (state.is === 'laning') download.state = await this.#lane(state, kept);
      else if (state.is === 'sending') download.state = await this.#send(state);
      else if (state.is === 'asking-on') download.state = await this.#askOn(state.answer);
      else if (state.is === 'repairing') download.state = await this.#repair(state.broken, state.reason);
      else download.state = await this.#finish(state.chain);
    }
    leaveUplink?.();
    this.#watch.stop();
    const { state } = download;
    if (state.is !== 'ended') throw new Error('a delivery ended without an end');
    const { end } = state;
    // What has come is right: only this depot goes.
    if (end.outcome === 'upstream-broke' && end.failure.code === 'shutting-down') client.cut();
    else if (end.outcome !== 'complete') client.reset();
    return end;
  }

  async #send({ answer, prefix }: StateOf<'sending'>): Promise<DownloadState> {
    const { chain } = answer.route;
    const { client, stop } = this.#download;
    const { bytes } = client;
    const { end, repaired } = await this.#sender.send(answer, prefix);
    if (repaired) return this.#goOnWith(repaired);
    if (end === 'complete')
      return this.#download.isWhole ? { is: 'finishing', chain } : { is: 'asking-on', answer };
    if (end === 'sink-broke' || end === 'sink-stalled')
      return { is: 'ended', end: { outcome: 'client-left', chain } };
    if (end === 'cancelled')
      return this.#download.hasAll ? { is: 'finishing', chain } : broke(chain, stop.reason);
    const isSameEnd = end === 'source-broke' && prefix?.restBytes === 0 && client.bytes === bytes;
    if (isSameEnd && this.#mayLackGoodbye(answer)) {
      this.#rest.noteUnsureEnd();
      this.#noteNoGoodbye();
    }
    return { is: 'repairing', broken: answer, reason: REASONS[end] };
  }

  /**
   * Whether an answer that broke may have been whole. Over TLS a body without length or chunks breaks where
   * its server says no goodbye: each time, and nobody can prove that it is whole.
   */
  #mayLackGoodbye({ head, target: { url } }: FetchedAnswer): boolean {
    return !this.#download.missing && url.scheme === 'https' && endsWithConnection(head, 'GET');
  }

  #noteNoGoodbye(): void {
    const { target } = this.#download;
    this.#components.unframedBook.noteNoGoodbye(target.url, target.client);
  }

  async #lane(laning: StateOf<'laning'>, whole: KeptWhole | undefined): Promise<DownloadState> {
    const { answer, firstBlock } = laning;
    const download = this.#download;
    const leave = { plane: this.#components.plane, watch: this.#watch };
    this.#lanesAgain.noteBegin(firstBlock);
    const end = await sendOverLanes(download, answer, firstBlock, {
      ...this.#components,
      requestFor: this.#requestFor,
      whole,
      watchLeg: (stream, route) => this.#watch.leg(stream, route, answer.target.url.host),
      watchLanes: (work) => leaveSlowLanes(download, laning, work, leave),
    });
    download.lanes = [];
    const { outcome } = end;
    const { bytes } = download.client;
    const isRefused = isRefusedToBlocks(end);
    if (isRefused) this.#lanesAgain.noteRefusal(answer.target.url);
    const mayGoOn = isRefused && (bytes === 0 || this.#rest.mayComeAgain(bytes));
    const kept = mayGoOn ? whole?.take() : undefined;
    whole?.leave();
    const last = download.state.is === 'laning' ? download.state.answer : answer;
    const { chain } = last.route;
    if (kept) return this.#goOnWithWhole(kept, chain);
    if (outcome === 'complete') return { is: 'finishing', chain };
    if (outcome === 'client-left') return { is: 'ended', end: { outcome: 'client-left', chain } };
    if (outcome === 'cancelled')
      return download.hasAll ? { is: 'finishing', chain } : broke(chain, download.stop.reason);
    // What these lanes could not do one connection may, or others at another address: also to find the
    // version that was begun. An origin that is busy, or has another version, may be so for one exit alone:
    // then the chain is left.
    const isOfAddress = end.failure instanceof AddressRefused;
    return { is: 'repairing', broken: last, reason: isOfAddress ? 'refused' : 'reset' };
  }

  /** Goes on with the answer that has been there since before the first block, whose version the blocks had. */
  #goOnWithWhole(answer: FetchedAnswer, from: Chain): StateOf<'sending'> {
    const { bytes } = this.#download.client;
    const prefix = bytes > 0 ? new SkippedPrefix(bytes) : undefined;
    // What was refused would be so again.
    this.#rest.noteRefusal();
    beginFailover(this.#download, this.#components.plane, from, 'reset')({ answer, prefix });
    return { is: 'sending', answer, prefix };
  }

  async #askOn(answer: FetchedAnswer): Promise<DownloadState> {
    const { missing, representation, client, stop } = this.#download;
    const { fetcher } = this.#components;
    const { target, route } = answer;
    if (!missing || !representation) return { is: 'repairing', broken: answer, reason: 'ended' };
    const signal = AbortSignal.any([stop, client.left]);
    const requestFor = requestForPart(this.#requestFor, representation, missing);
    const next = await fetcher.overRoute(route, target, requestFor, signal).catch(() => undefined);
    if (next && joinedPart(next.head, representation, missing).ok)
      return { is: 'sending', answer: next, prefix: undefined };
    next?.connection.reset();
    return { is: 'repairing', broken: answer, reason: 'ended' };
  }

  async #repair(broken: FetchedAnswer, reason: BreakReason): Promise<DownloadState> {
    const { chain } = broken.route;
    const { book, client, stop } = this.#download;
    const rest = this.#rest;
    const tell = beginFailover(this.#download, this.#components.plane, chain, reason);
    // Everything was there but the end of the message.
    if (this.#download.hasAll) return { is: 'finishing', chain };
    try {
      if (reason === 'other-bytes') rest.noteOther();
      if (rest.hasUnsureEnd) throw new LonghaulError('origin-end-unsure');
      if (!rest.isPossible) throw new LonghaulError('origin-not-resumable', { detail: reason });
      if (reason !== 'refused') book.noteFailure(chain);
      const repaired = await this.#repairer.repair({
        target: broken.target,
        signal: AbortSignal.any([stop, client.left]),
      });
      tell(repaired);
      return this.#goOnWith(repaired);
    } catch (failure) {
      if (client.left.aborted) return { is: 'ended', end: { outcome: 'client-left', chain } };
      if (leavesUntold(reason, failure) && this.#mayLackGoodbye(broken)) this.#noteNoGoodbye();
      tell();
      return broke(chain, stop.aborted ? stop.reason : failure);
    }
  }

  /**
   * Has the rest come over another way, or over lanes again, and what is asked for later asked for at the
   * same server.
   */
  #goOnWith({ answer, prefix }: Repaired): StateOf<'sending' | 'laning'> {
    const { job, target } = this.#download;
    this.#components.lastTargets.note(job, target, answer.target);
    const firstBlock = prefix ? undefined : this.#lanesAgain.firstBlock(answer);
    return firstBlock ? { is: 'laning', answer, firstBlock } : { is: 'sending', answer, prefix };
  }

  /** A ticket that is used up meanwhile is nothing to a client that everything is on its way to. */
  async #finish(chain: Chain): Promise<DownloadState> {
    try {
      const { shutdown } = this.#components.plane;
      const { state, sha256 } = await this.#download.client.finish(shutdown);
      if (state === 'ready') this.#noteGiven(false);
      if (state === 'ready') return { is: 'ended', end: { outcome: 'complete', chain, sha256 } };
      if (shutdown.aborted) return broke(chain, shutdown.reason);
      return { is: 'ended', end: { outcome: 'client-left', chain } };
    } catch (failure) {
      if (failure instanceof LonghaulError && failure.code === 'origin-digest-wrong') this.#noteGiven(true);
      return broke(chain, failure);
    }
  }

  /** Takes note of a whole file that has come. */
  #noteGiven(isWrong: boolean): void {
    const { client, noteGiven } = this.#download;
    const { statusCode, headers } = this.#head;
    if (statusCode !== 200 || this.#isHeadOnly) return;
    const validators = { etag: headers.etag, 'last-modified': headers['last-modified'] };
    noteGiven({ validators, sizeBytes: client.bytes }, isWrong);
  }

  /** Whether another way would bring the rest and nothing else, as far as is known. */
  get #isCheapToLeave(): boolean {
    // Tries are there again when this way has brought some MiB.
    return this.#rest.isCheap && !this.#download.mayLapse && !this.#repairer.isSpent;
  }
}

function broke(chain: Chain, thrown: unknown): StateOf<'ended'> {
  return { is: 'ended', end: { outcome: 'upstream-broke', chain, failure: asLonghaulError(thrown) } };
}

/**
 * Whether nothing told if an answer was cut, or had come to its end: it came again as another one, or cannot
 * come again.
 */
function leavesUntold(reason: BreakReason, failure: unknown): boolean {
  if (reason !== 'reset' && reason !== 'other-bytes') return false;
  const code = failure instanceof LonghaulError ? failure.code : undefined;
  return code === 'origin-changed' || code === 'origin-not-resumable';
}
