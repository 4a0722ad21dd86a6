import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { upstreamLeg, type WatchedLeg } from '../../estimates/leg-sampler.ts';
import type { LanesWork } from '../../lanes/lane-transfer.ts';
import type { DataPlane } from '../../plane/data-plane.ts';
import type { FetchedAnswer } from '../../routes/fetcher.ts';
import type { Route } from '../../routes/route-book.ts';
import type { RunningDownload } from '../download/running-download.ts';
import { type SlowOptions, watchForSlowness } from './slow-watch.ts';

export interface WayLimits {
  /** Silence of a way after which the rest is asked for elsewhere. */
  readonly silenceMs: number;
  readonly slow: SlowOptions;
}

interface WayWatchInit {
  readonly download: RunningDownload;
  /** The client's connection. */
  readonly socket: Socket;
  readonly plane: DataPlane;
  readonly limits: WayLimits;
  /**
   * What asking beside a way costs that is slow or pauses: nothing, much (a part that may be given no second
   * time, or not alone), or the download: nothing but the whole could be asked for, which would be made again
   * for each who asks, perhaps of other bytes.
   */
  readonly leaving: () => 'free' | 'dear' | 'fatal';
}

/** Watches the ways of one download: how long each may be silent, and whether it stays far below its plan. */
export class WayWatch {
  readonly #init: WayWatchInit;
  /** The client's connection; a client that has left has none. */
  readonly #clientLeg: WatchedLeg | undefined;
  /** Silences in a row before which nothing came: each may be twice as long as the one before. */
  #fruitless = 0;

  constructor(init: WayWatchInit) {
    this.#init = init;
    this.#clientLeg = init.download.legs.watch(init.plane.watch(init.socket, { legClass: 'client' }));
  }

  /** Notes whether a way that has ended, or is silent, has brought anything since it was noted last. */
  noteEnd(hasBrought: boolean): void {
    this.#fruitless = hasBrought ? 0 : this.#fruitless + 1;
  }

  /**
   * How long a way may be silent from now on. Where nothing else brings the rest alone, as long as a client
   * may: what has died, or was cut off without a word, is told by the keep-alive probes of its legs. An
   * origin that pauses may do so again at the same byte.
   */
  silenceMs(): number {
    const { leaving, limits, plane } = this.#init;
    const { silenceMs, stallMs } = plane.timeouts;
    const cost = leaving();
    if (cost === 'fatal') return stallMs;
    const patience = 2 ** this.#fruitless;
    return cost === 'free'
      ? Math.min(Math.max(silenceMs, limits.silenceMs), limits.silenceMs * patience)
      : Math.min(stallMs, silenceMs * patience);
  }

  /** Measures a connection to the origin `host`, until it is stopped. */
  leg(stream: Duplex, { chain }: Route, host: string): WatchedLeg {
    const { download, plane } = this.#init;
    return download.legs.watch(plane.watch(stream, upstreamLeg(chain, 0, host)));
  }

  /** Tells when a way stays so slow that another one does better. Call the result to stop. */
  slowness({ route }: FetchedAnswer, onSlow: (meanBps: number) => void): () => void {
    const { client, job, target } = this.#init.download;
    return this.#watchFor(route, {
      // A plan promises what all of its lanes bring together; so do the connections of a client that asks for parts.
      sharedBy: () => Math.max(target.ticket.claims.lanes, job.active),
      bytes: () => client.bytes,
      isClientBehind: () => this.#isClientBehind(),
      onSlow,
    });
  }

  /**
   * The same of the way that all lanes go over. As many as are at work have to bring their part of the plan.
   * `knownBps`: what another way has brought, in bits per second.
   */
  lanesSlowness(
    route: Route,
    work: LanesWork,
    onSlow: (meanBps: number) => void,
    knownBps: number,
  ): () => void {
    const { job, target } = this.#init.download;
    const watched = {
      sharedBy: () => Math.max(target.ticket.claims.lanes / Math.max(1, work.lanes()), job.active),
      bytes: work.bytes,
      isClientBehind: () => work.isHeldUp() || this.#isClientBehind(),
      onSlow,
    };
    return this.#watchFor(route, watched, knownBps);
  }

  #watchFor(
    route: Route,
    watched: Omit<
      Parameters<typeof watchForSlowness>[0],
      'promisedBps' | 'alternativeBps' | keyof SlowOptions
    >,
    knownBps = 0,
  ): () => void {
    const { promise } = route;
    // A way that failed, or was as slow, promises nothing: an origin that is slow itself is not left again and again.
    const alternativeBps = Math.max(knownBps, this.#init.download.book.bestOtherBps(route.chain));
    if (this.#init.leaving() !== 'free' || !promise || alternativeBps === 0) return () => undefined;
    return watchForSlowness({
      ...this.#init.limits.slow,
      ...watched,
      promisedBps: promise.rateBps,
      alternativeBps,
    });
  }

  stop(): void {
    this.#clientLeg?.stop();
  }

  #isClientBehind(): boolean {
    const { socket } = this.#init.download.client;
    return (this.#clientLeg?.measure()?.unsentBytes ?? 0) > 0 || (socket?.writableLength ?? 0) > 0;
  }
}
