import type { Duplex } from 'node:stream';
import {
  type Chain,
  ERRORS,
  type ErrorCode,
  formatAuthority,
  isSameChain,
  isWayFailure,
  LonghaulError,
  originHref,
} from '@longhaul/shared';
import type { WatchedLeg } from '../estimates/leg-sampler.ts';
import type { NewConnection } from '../lanes/lane.ts';
import { carryHere } from '../lanes/lane-carrier.ts';
import type { LaneMemory } from '../lanes/lane-memory.ts';
import type { LanePlaces } from '../lanes/lane-places.ts';
import {
  type AskedBlock,
  type LanesEnd,
  type LanesWork,
  type LaneView,
  runLanes,
} from '../lanes/lane-transfer.ts';
import type { LanesConfig } from '../lanes/lanes-config.ts';
import type { AheadBook } from '../origin/ahead-book.ts';
import { AheadConnection } from '../origin/ahead-connection.ts';
import type { BlockBook } from '../origin/block-book.ts';
import { type AskedTimes, type Conversation, thinks } from '../origin/conversation.ts';
import type { TakenBody } from '../origin/exchange.ts';
import { AddressRefused } from '../origin/joined-part.ts';
import { type OpenStream, OriginConnection } from '../origin/origin-connection.ts';
import type { Part } from '../origin/representation.ts';
import type { DataPlane } from '../plane/data-plane.ts';
import { tryInTurn } from '../racing/try-in-turn.ts';
import type { ReadAnswers } from '../relay/answer-reader.ts';
import type { HeldCounters } from '../relay/held-count.ts';
import type { FetchedAnswer, Fetcher, RequestFor } from '../routes/fetcher.ts';
import { between, type Route, type RouteBook } from '../routes/route-book.ts';
import { resetConnection } from '../sockets/reset.ts';
import { carryByThread } from './carry-by-thread.ts';
import type { KeptWhole } from './kept-whole.ts';
import type { RunningDownload } from './running-download.ts';

interface LanesComponents {
  readonly plane: DataPlane;
  readonly fetcher: Fetcher;
  readonly lanes: LanesConfig;
  readonly laneMemory: LaneMemory;
  readonly lanePlaces: LanePlaces;
  readonly aheadBook: AheadBook;
  readonly blockBook: BlockBook;
  readonly requestFor: RequestFor;
  /** The answer with all of the file, where that came before the first block. */
  readonly whole: KeptWhole | undefined;
  /** Watches a connection to the origin, until it is stopped. */
  readonly watchLeg: (stream: Duplex, route: Route) => WatchedLeg;
  /** Watches what all lanes bring over one way; gives what ends that. */
  readonly watchLanes: (work: LanesWork) => () => void;
}

/** It may think so many times longer before the next answer than it did before the first one. */
const THINKS_TIMES = 3;

/** Of the plan's rate: a chain that promises less would only be one more that is slow. */
const LEAST_SHARE_OF_PLAN = 0.5;

/** What an origin answers to a block that it would not have answered to the whole. */
const OF_BLOCKS: ReadonlySet<ErrorCode> = new Set(['origin-changed', 'origin-bad-answer', 'origin-busy']);

/** Whether lanes have ended with what the origin would not have answered to the whole. */
export function isRefusedToBlocks({ failure }: LanesEnd): boolean {
  return failure !== undefined && OF_BLOCKS.has(failure.code);
}

/**
 * Whether lanes have brought bytes over this chain since then: where a new connection over it comes to
 * nothing meanwhile, its origin takes no more of them.
 */
function carries(chain: Chain, lanes: readonly LaneView[], sinceMs: number): boolean {
  return lanes.some((lane) => lane.chain && isSameChain(lane.chain, chain) && lane.broughtAtMs > sinceMs);
}

/** Sends a download over several lanes; the first block has been asked for, and its answer begun. */
export async function sendOverLanes(
  download: RunningDownload,
  first: FetchedAnswer,
  firstBlock: AskedBlock & AskedTimes,
  components: LanesComponents,
): Promise<LanesEnd> {
  const { plane, lanes: config, requestFor, whole } = components;
  const { book, client, job, missing: part, representation, stop, target } = download;
  if (!part || !representation) throw new Error('lanes need a file of known version and size');
  const { chain, promise } = first.route;
  const leg = components.watchLeg(first.connection.stream, first.route);
  const isThinking = thinks(firstBlock);
  const answeredMs = firstBlock.answeredAtMs - firstBlock.stoodAtMs;
  const silenceMs = config.silenceSeconds * 1000;
  const answerMs = Math.max(silenceMs, Math.min(plane.timeouts.answerMs, THINKS_TIMES * answeredMs));
  const leaveBlocks = (over: readonly string[]) =>
    components.blockBook.noteUnfit(target.url, target.client, over);
  // A depot may have kept the answer back; it cannot have given another one over TLS.
  if (isThinking) leaveBlocks(between(first.route));
  const leaveAnswered = () =>
    leaveBlocks(
      target.url.scheme === 'https'
        ? []
        : download.lanes.flatMap((lane) => (lane.chain ? between({ chain: lane.chain }) : [])),
    );
  const wanted = isThinking ? 1 : Math.min(target.ticket.claims.lanes, config.perOrigin);
  const asking = new Asking(first, download, components, THINKS_TIMES * answeredMs);
  const places = components.lanePlaces.enter(target.client, wanted);
  const memory = components.laneMemory.join(target.client);
  try {
    const taken = await asking.takeFirst();
    // Where the origin is asked singly its answers are read by Node's own client, here.
    const byThread = taken && (await asking.carry(taken.source, part, memory.counters));
    if (places.count < wanted || isThinking)
      plane.observe({ type: 'lanes-fewer', lanes: places.count, jobId: job.id });
    const end = await runLanes({
      part,
      laneCount: places.count,
      // Other connections of the same download count among those that an origin is bothered with.
      mostLanes: () => {
        const left = config.perOrigin - (job.active - 1);
        if (left < 2) whole?.leave();
        return left - Number(whole?.isThere === true);
      },
      promise,
      open: (lane) => openLane(lane, download, first, asking, components),
      mostQuestions: () => asking.mostQuestions,
      request: {
        asked: requestFor(first.target.url),
        representation,
        silenceMs,
        answerMs,
      },
      first: {
        connection: asking.goOn(taken),
        route: Promise.resolve({ chain, promise }),
        ...firstBlock,
      },
      carry:
        byThread?.carry ??
        carryHere({
          write: (chunk) => client.write(chunk),
          drained: async () => {
            const state = await client.roomy(stop);
            if (state !== 'ready') throw new LonghaulError('internal', { detail: `the client is ${state}` });
          },
        }),
      config,
      memory,
      signal: stop,
      left: client.left,
      nowMs: plane.steadyMs,
      // Lanes that are spread go over several ways, and an origin that thinks would think again.
      watch: config.spread || isThinking ? undefined : components.watchLanes,
      onLanes: (lanes) => {
        download.lanes = lanes;
      },
      observe: (event) => {
        if (event.type === 'lane-broke' && ERRORS[event.code].blame !== 'origin') {
          const { chain, openedAtMs = 0, broughtAtMs = 0 } = download.lanes[event.lane] ?? {};
          const isNew = broughtAtMs < openedAtMs;
          if (chain && !(isNew && carries(chain, download.lanes, openedAtMs))) book.noteFailure(chain);
        }
        plane.observe({ ...event, jobId: job.id });
      },
      onBlock: () => whole?.noteBlock(),
      onBlockFailed: (failure, isProved) => whole?.noteFailure(failure, isProved) === true,
      onCounted: leaveAnswered,
    });
    // An address that a redirect led to may just have lapsed; the next redirect leads to another.
    const mayHaveLapsed =
      end.failure instanceof AddressRefused && originHref(first.target.url) !== originHref(target.url);
    if (isRefusedToBlocks(end) && !mayHaveLapsed) leaveAnswered();
    return end;
  } finally {
    places.leave();
    memory.leave();
    leg.stop();
  }
}

/**
 * How the origin of a download is asked over lanes: several questions ahead, or one at a time where it cannot
 * be asked so.
 */
class Asking {
  readonly #first: FetchedAnswer;
  readonly #download: RunningDownload;
  readonly #plane: DataPlane;
  readonly #book: AheadBook;
  readonly #authority: string;
  readonly #thinksMs: number;
  /** This download has met that the origin, or the way to it, cannot be asked ahead. */
  #isSingly = false;
  /** Reads answers in the relay thread that carries them. */
  #readAnswers: ReadAnswers | undefined;

  constructor(
    first: FetchedAnswer,
    download: RunningDownload,
    { aheadBook, plane }: LanesComponents,
    thinksMs: number,
  ) {
    const { host, port } = first.target.url;
    this.#first = first;
    this.#download = download;
    this.#plane = plane;
    this.#book = aheadBook;
    this.#thinksMs = thinksMs;
    this.#authority = formatAuthority(host, port);
  }

  get mostQuestions(): number {
    const isSingly = this.#isSingly || this.#book.isUnfit(this.#authority, between(this.#first.route));
    return isSingly ? 1 : AheadConnection.MOST_QUESTIONS;
  }

  /** The body of the first answer, taken from Node's client, where its connection can be asked ahead. */
  async takeFirst(): Promise<TakenBody | undefined> {
    const { connection, head, route } = this.#first;
    if (!connection.isKept) this.#noteUnfit(route, 'answer');
    if (this.mostQuestions === 1) return undefined;
    const body = await connection.takeBody(() => true);
    // One whose length is stated may be so short that it has come with its head.
    if (!body && head.headers['content-length'] === undefined) this.#noteUnfit(route, 'answer');
    return body;
  }

  /** Has a relay thread carry the download, where it can read what comes over connections like this one. */
  async carry(source: Duplex, part: Part, held: HeldCounters | undefined) {
    const { client, stop: signal } = this.#download;
    const { relay, timeouts } = this.#plane;
    const sizeBytes = part.endByte - part.startByte;
    if (!client.socket || !relay.splices(source, client.socket, sizeBytes)) return undefined;
    const byThread = await carryByThread(client, part, { relay, held, stallMs: timeouts.stallMs, signal });
    this.#readAnswers = byThread?.readAnswers;
    return byThread;
  }

  /** The connection of the first answer, with its body unread, as a lane has it. */
  goOn(taken: TakenBody | undefined): Conversation {
    const { connection, route } = this.#first;
    return taken
      ? AheadConnection.goingOn(
          taken,
          this.#over(() => route),
        )
      : connection;
  }

  /** A new connection; `route` gives what it was made over, once it stands. */
  open(open: OpenStream, route: () => Route): Conversation {
    return this.mostQuestions === 1
      ? new OriginConnection(open)
      : new AheadConnection(open, this.#over(route));
  }

  #over(route: () => Route) {
    return {
      isFit: () => this.#book.isFit(this.#authority),
      noteFit: () => this.#book.noteFit(this.#authority),
      noteUnfit: (by: 'answer' | 'connection') => this.#noteUnfit(route(), by),
      noteBreak: () => {
        if (this.#book.noteBreak(this.#authority, between(route()))) this.#askSingly();
      },
      thinksMs: this.#thinksMs,
      readAnswers: this.#readAnswers,
    };
  }

  #noteUnfit(route: Route, by: 'answer' | 'connection'): void {
    // What comes by TLS no depot between can have said.
    const isOwnWord = by === 'answer' && this.#first.target.url.scheme === 'https';
    this.#askSingly();
    this.#book.noteUnfit(this.#authority, isOwnWord ? [] : between(route));
  }

  /** Over whatever way: one that breaks again and again would be asked ahead again and again. */
  #askSingly(): void {
    if (!this.#isSingly) this.#plane.observe({ type: 'lanes-asked-singly', jobId: this.#download.job.id });
    this.#isSingly = true;
  }
}

/** A connection for a lane over the best route for it; where that fails, over the next. */
function openLane(
  lane: number,
  { book, lanes: others }: RunningDownload,
  { target, route: firstRoute }: FetchedAnswer,
  asking: Asking,
  { fetcher, lanes, plane, watchLeg }: LanesComponents,
): NewConnection {
  const { promise: taken, resolve: take } = Promise.withResolvers<Route>();
  let newest = firstRoute;
  const beganAtMs = plane.steadyMs();
  const connect: OpenStream = (firstBytes, signal) =>
    tryInTurn(inOrderFor(lane, book, lanes.spread), {
      attempt: async (route, own, onStands) => {
        const over = { ...fetcher.chainTarget(route, target), isFurther: true };
        const stream = await fetcher.openStream(over, target.url, firstBytes, own);
        onStands();
        return { stream, route };
      },
      patienceMs: fetcher.patienceMs,
      signal,
      isFinal: (failure, route) => {
        if (!isWayFailure(failure)) return true;
        fetcher.noteFailure(book, route, failure);
        return false;
      },
      onOvertaken: ({ chain }) => {
        if (!carries(chain, others, beganAtMs)) book.noteFailure(chain);
      },
      discard: ({ stream }) => resetConnection(stream),
    }).then(({ stream, route }) => {
      const leg = watchLeg(stream, route);
      stream.once('close', () => leg.stop());
      newest = route;
      take(route);
      return stream;
    });
  const connection = asking.open(connect, () => newest);
  const asksAlong = target.url.scheme === 'http';
  return { connection, asksAlong, route: connection.stands.then(() => taken) };
}

/**
 * The plan's chain for every lane; where lanes are spread, another one of the good chains for each. Then all
 * others, the best first.
 */
function inOrderFor(lane: number, book: RouteBook, isSpread: boolean): Route[] {
  const all = book.routes();
  const planned = all.reduce((most, { promise }) => Math.max(most, promise?.rateBps ?? 0), 0);
  const good = all.filter(
    ({ chain, promise }) =>
      book.failures(chain) === 0 && promise !== undefined && promise.rateBps >= planned * LEAST_SHARE_OF_PLAN,
  );
  const own = isSpread ? good[lane % Math.max(1, good.length)] : undefined;
  return own ? [own, ...all.filter((route) => route !== own)] : all;
}
