import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Chain, LonghaulError, originTarget } from '@longhaul/shared';
import type { LaneMemory } from '../lanes/lane-memory.ts';
import type { LanePlaces } from '../lanes/lane-places.ts';
import type { LanesConfig } from '../lanes/lanes-config.ts';
import type { AheadBook } from '../origin/ahead-book.ts';
import { joinedPart } from '../origin/joined-part.ts';
import { headersToOrigin } from '../origin/origin-headers.ts';
import { readPart } from '../origin/representation.ts';
import type { DataPlane } from '../plane/data-plane.ts';
import type { BreakReason } from '../plane/events.ts';
import type { BodyEnd } from '../relay/relay-plane.ts';
import type { FetchedAnswer, Fetcher, RequestFor } from '../routes/fetcher.ts';
import type { Route } from '../routes/route-book.ts';
import { upstreamLeg, type WatchedLeg } from '../sockets/leg-sampler.ts';
import type { Opening } from './open-download.ts';
import { Repairer, type RepairLimits, requestForPart } from './repair.ts';
import type { DownloadEnd, DownloadState, RunningDownload } from './running-download.ts';
import { sendOverLanes } from './send-over-lanes.ts';
import { sendPart } from './send-part.ts';
import { type SlowOptions, watchForSlowness } from './slow-watch.ts';

export interface DeliveryComponents {
  readonly plane: DataPlane;
  readonly fetcher: Fetcher;
  readonly failover: RepairLimits & { readonly slow: SlowOptions };
  readonly lanes: LanesConfig;
  readonly laneMemory: LaneMemory;
  readonly lanePlaces: LanePlaces;
  readonly aheadBook: AheadBook;
}

type StateOf<Is extends DownloadState['is']> = Extract<DownloadState, { readonly is: Is }>;

const REASONS: Readonly<Partial<Record<BodyEnd, BreakReason>>> = {
  'source-ended': 'ended',
  'source-broke': 'reset',
  'source-silent': 'silent',
};

/**
 * Sends what a client gets of a download, over as many ways as it takes. When a way breaks, goes silent or is far too slow,
 * the rest is asked for over another one and goes on at the exact next byte, of the same version of the file; where that
 * cannot be proved the client's connection is reset.
 */
export class Delivery {
  readonly #download: RunningDownload;
  readonly #components: DeliveryComponents;
  readonly #repairer: Repairer;
  readonly #requestFor: RequestFor;
  /** The client's connection; a client that has left has none. */
  readonly #clientLeg: WatchedLeg | undefined;
  /** Ways in a row that brought nothing: each gets twice the time of the one before. */
  #fruitless = 0;

  constructor(download: RunningDownload, request: IncomingMessage, components: DeliveryComponents) {
    const { plane, fetcher, failover } = components;
    this.#download = download;
    this.#components = components;
    this.#repairer = new Repairer(fetcher, download.book, failover);
    // Of the client's request, what does not depend on how far it has come.
    const { accept, 'user-agent': userAgent } = request.headers;
    const plain = { accept, 'user-agent': userAgent };
    this.#requestFor = (url) => ({
      method: 'GET',
      target: originTarget(url),
      headers: headersToOrigin(plain, url, plane.ownId),
    });
    this.#clientLeg = plane.watch(request.socket, { legClass: 'client' });
  }

  /** Delivers what an opening has begun. Never rejects. */
  async run({ answer, firstBlock }: Opening): Promise<DownloadEnd> {
    const download = this.#download;
    const { client, job } = download;
    const { plane } = this.#components;
    const { socket } = client;
    const leaveUplink = socket && plane.joinUplink?.(socket, { jobId: job.id, legClass: 'client' });
    download.state = firstBlock ? { is: 'laning', answer, firstBlock } : { is: 'sending', answer };
    for (;;) {
      const { state } = download;
      if (state.is === 'ended' || state.is === 'opening') break;
      if (state.is === 'laning') download.state = await this.#lane(state);
      else if (state.is === 'sending') download.state = await this.#send(state.answer);
      else if (state.is === 'asking-on') download.state = await this.#askOn(state.answer);
      else if (state.is === 'repairing') download.state = await this.#repair(state.broken, state.reason);
      else download.state = await this.#finish(state.chain);
    }
    leaveUplink?.();
    this.#clientLeg?.stop();
    const { state } = download;
    if (state.is !== 'ended') throw new Error('a delivery ended without an end');
    if (state.end.outcome !== 'complete') client.reset();
    return state.end;
  }

  async #send(answer: FetchedAnswer): Promise<DownloadState> {
    const { relay, timeouts } = this.#components.plane;
    const { chain } = answer.route;
    const { client, part, stop } = this.#download;
    const own = part && readPart(answer.head);
    const before = client.bytes;
    const slow = new AbortController();
    const leg = this.#watchLeg(answer.connection.stream, answer.route);
    const stopWatch = this.#watchForSlowness(answer, slow);
    const end = await sendPart(answer, client, {
      relay,
      signal: AbortSignal.any([stop, slow.signal]),
      silenceMs: this.#silenceMs(),
      stallMs: timeouts.stallMs,
      sizeBytes: own && own.endByte - own.startByte,
    });
    stopWatch();
    leg.stop();
    this.#fruitless = client.bytes > before ? 0 : this.#fruitless + 1;
    if (end === 'complete') return this.#isWhole ? { is: 'finishing', chain } : { is: 'asking-on', answer };
    if (end === 'sink-broke' || end === 'sink-stalled')
      return { is: 'ended', end: { outcome: 'client-left', chain } };
    if (end === 'cancelled' && stop.aborted) return broke(chain, stop.reason);
    return { is: 'repairing', broken: answer, reason: REASONS[end] ?? 'slow' };
  }

  async #lane({ answer, firstBlock }: StateOf<'laning'>): Promise<DownloadState> {
    const { chain } = answer.route;
    const download = this.#download;
    const { outcome } = await sendOverLanes(download, answer, firstBlock, {
      ...this.#components,
      requestFor: this.#requestFor,
      watchLeg: (stream, route) => this.#watchLeg(stream, route),
    });
    download.lanes = [];
    if (outcome === 'complete') return { is: 'finishing', chain };
    if (outcome === 'client-left') return { is: 'ended', end: { outcome: 'client-left', chain } };
    if (outcome === 'cancelled') return broke(chain, download.stop.reason);
    // What lanes could not do one connection may: also to find the version that was begun.
    return { is: 'repairing', broken: answer, reason: 'reset' };
  }

  async #askOn(answer: FetchedAnswer): Promise<DownloadState> {
    const { missing, representation, client, stop } = this.#download;
    const { fetcher } = this.#components;
    const { target, route } = answer;
    if (!missing || !representation) return { is: 'repairing', broken: answer, reason: 'ended' };
    const signal = AbortSignal.any([stop, client.left]);
    const requestFor = requestForPart(this.#requestFor, representation, missing);
    const next = await fetcher.overRoute(route, target, requestFor, signal).catch(() => undefined);
    if (next && joinedPart(next.head, representation, missing).ok) return { is: 'sending', answer: next };
    next?.connection.reset();
    return { is: 'repairing', broken: answer, reason: 'ended' };
  }

  async #repair(broken: FetchedAnswer, reason: BreakReason): Promise<DownloadState> {
    const { observe, nowMs } = this.#components.plane;
    const { chain } = broken.route;
    const { book, client, job, missing: part, representation, stop, target } = this.#download;
    const begunMs = nowMs();
    const tell = (to: Chain | undefined, atByte: number) => {
      const seconds = (nowMs() - begunMs) / 1000;
      observe({ type: 'failover', jobId: job.id, reason, from: chain, to, atByte, seconds });
    };
    if (!representation || !part) {
      tell(undefined, client.bytes);
      return broke(chain, new LonghaulError('origin-not-resumable', { detail: reason }));
    }
    // Everything was there but the end of the message.
    if (this.#isWhole) return { is: 'finishing', chain };
    book.noteFailure(chain);
    try {
      const answer = await this.#repairer.repair({
        target: broken.target,
        firstTarget: target,
        representation,
        part,
        requestFor: this.#requestFor,
        signal: AbortSignal.any([stop, client.left]),
      });
      tell(answer.route.chain, part.startByte);
      return { is: 'sending', answer };
    } catch (failure) {
      if (client.left.aborted) return { is: 'ended', end: { outcome: 'client-left', chain } };
      tell(undefined, part.startByte);
      return broke(chain, stop.aborted ? stop.reason : failure);
    }
  }

  async #finish(chain: Chain): Promise<DownloadState> {
    try {
      const { client, stop } = this.#download;
      const { state, sha256 } = await client.finish(stop);
      if (state === 'ready') return { is: 'ended', end: { outcome: 'complete', chain, sha256 } };
      if (stop.aborted) return broke(chain, stop.reason);
      return { is: 'ended', end: { outcome: 'client-left', chain } };
    } catch (failure) {
      return broke(chain, failure);
    }
  }

  /** Whether everything has come, as far as it is known where that ends. */
  get #isWhole(): boolean {
    const { missing } = this.#download;
    return missing === undefined || missing.startByte >= missing.endByte;
  }

  /** Whether the rest may come over another way. With no try left, a way that is slow or pauses is kept: it may go on. */
  get #mayLeave(): boolean {
    return this.#download.representation !== undefined && !this.#repairer.isSpent;
  }

  #silenceMs(): number {
    const failoverMs = this.#components.failover.silenceMs;
    const { silenceMs } = this.#components.plane.timeouts;
    return this.#mayLeave
      ? Math.min(Math.max(silenceMs, failoverMs), failoverMs * 2 ** this.#fruitless)
      : silenceMs;
  }

  #watchLeg(stream: Duplex, { chain }: Route): WatchedLeg {
    return this.#components.plane.watch(stream, upstreamLeg(chain, 0));
  }

  #watchForSlowness({ route }: FetchedAnswer, slow: AbortController): () => void {
    const { book, client, job, target } = this.#download;
    const { promise } = route;
    // A way that failed, or was as slow, promises nothing: an origin that is slow itself is not left again and again.
    const alternativeBps = book.bestOtherBps(route.chain);
    if (!this.#mayLeave || !promise || alternativeBps === 0) return () => undefined;
    return watchForSlowness({
      ...this.#components.failover.slow,
      promisedBps: promise.rateBps,
      alternativeBps,
      // A plan promises what all of its lanes bring together; so do the connections of a client that asks for parts.
      sharedBy: () => Math.max(target.ticket.claims.lanes, job.active),
      bytes: () => client.bytes,
      isClientBehind: () => this.#isClientBehind(),
      onSlow: () => slow.abort(),
    });
  }

  #isClientBehind(): boolean {
    const { socket } = this.#download.client;
    return (this.#clientLeg?.measure()?.unsentBytes ?? 0) > 0 || (socket?.writableLength ?? 0) > 0;
  }
}

function broke(chain: Chain, thrown: unknown): StateOf<'ended'> {
  const failure = thrown instanceof LonghaulError ? thrown : new LonghaulError('internal', { cause: thrown });
  return { is: 'ended', end: { outcome: 'upstream-broke', chain, failure } };
}
