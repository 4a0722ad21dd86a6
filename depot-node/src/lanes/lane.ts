import {
  asLonghaulError,
  bpsOf,
  type Chain,
  type ChainPromise,
  isSameChain,
  type LonghaulError,
} from '@longhaul/shared';
import type { AskedTimes, Conversation } from '../origin/conversation.ts';
import { TOLD_WITHIN_MS } from '../relay/answer-reader.ts';
import type { Block } from './block-queue.ts';
import { type LaneRecord, PROVING_BLOCKS } from './degraded-lane.ts';
import { type BlockRequest, type BlockTaker, fetchBlock, readBlock } from './fetch-block.ts';
import type { LaneFetch } from './lane-fetch.ts';
import { type LaneExpectations, LaneForecast } from './lane-forecast.ts';
import { LaneMeter } from './lane-meter.ts';
import type { LanesConfig } from './lanes-config.ts';
import { Stopwatch } from './stopwatch.ts';

/** A connection to the origin for one lane, and over which chain it goes. */
export interface LaneConnection {
  readonly connection: Conversation;
  /**
   * Resolves when the connection stands. Rejects when it could not be made; then the first fetch fails for
   * the same reason.
   */
  readonly route: Promise<{
    /** This depot first. */
    readonly chain: Chain;
    /** What the planner promises of it. */
    readonly promise: ChainPromise | undefined;
  }>;
}

export interface NewConnection extends LaneConnection {
  /** Its first question goes along with its making; else only when it stands, behind a handshake. */
  readonly asksAlong: boolean;
}

/** Opens a connection for a lane, over a chain that has not failed lately. Does not throw. */
export type OpenLane = (lane: number) => NewConnection;

/** A client that keeps a lane waiting for less does not hold it up: a tenth of the time in which it is told of. */
const LEAST_HELD_UP_MS = 5;

/**
 * Half of the time that a lane has ready beyond its delay: then half of what it was asked for lasts until
 * more comes.
 */
const SHORT_DELAY_MS = 25;
/** Fewer and larger blocks cost less: each has a request, a head and its messages. */
const QUESTIONS_WHERE_SHORT = 2;

interface LaneComponents extends LaneExpectations {
  readonly open: OpenLane;
  readonly request: BlockRequest;
  readonly config: LanesConfig;
  /** Blocks that a new connection may be asked for at once. */
  readonly mostQuestions: () => number;
  readonly nowMs: () => number;
  readonly onOpened: (lane: Lane, chain: Chain) => void;
  readonly onChunk: (fetch: LaneFetch, chunk: Buffer) => void;
  /** Bytes of it have come that went past this thread; `isHeldUp`: it waited for the client alone. */
  readonly onMoved: (fetch: LaneFetch, bytes: number, isHeldUp: boolean) => void;
  readonly onWhole: (fetch: LaneFetch, lane: Lane) => void;
  /** `wasGivenBack`: the origin left blocks unanswered that were asked for ahead; that is no failure of the lane. */
  readonly onFailed: (failure: LonghaulError, lane: Lane, wasGivenBack: boolean) => void;
}

/** A lane: its connection, which comes and goes, what it is fetching, and what is known of it. */
export class Lane {
  readonly index: number;
  readonly forecast: LaneForecast;
  readonly #components: LaneComponents;
  #opened: LaneConnection | undefined;
  #chain: Chain | undefined;
  #fetches: LaneFetch[] = [];
  #isPaused = false;
  #promise: ChainPromise | undefined;
  #openedAtMs = Number.NEGATIVE_INFINITY;
  #broughtAtMs = Number.NEGATIVE_INFINITY;
  meter: LaneMeter;
  /** What the law has it fetch at once, in one block or in several. */
  loadBytes: number;
  /** It takes no block before this time. */
  notBeforeMs = Number.NEGATIVE_INFINITY;
  /** One after the other. */
  failures = 0;
  /** It has brought a block since it was last put in service. */
  isProved = false;
  /** Out of service until `notBeforeMs`. */
  isRemoved = false;
  /** How long the next removal lasts. */
  retryMs: number;

  constructor(index: number, loadBytes: number, components: LaneComponents) {
    this.index = index;
    this.loadBytes = loadBytes;
    this.#components = components;
    this.forecast = new LaneForecast(this, components);
    this.meter = new LaneMeter(components.config.smoothing);
    this.retryMs = components.config.retrySeconds * 1000;
  }

  /** What it was asked for, in order: the first one comes now. */
  get fetches(): readonly LaneFetch[] {
    return this.#fetches;
  }

  /** What comes now, or next. */
  get fetch(): LaneFetch | undefined {
    return this.#fetches[0];
  }

  /** Its work on a block, be it asked for ahead. */
  fetchOf(block: Block): LaneFetch | undefined {
    return this.#fetches.find((fetch) => fetch.block === block);
  }

  /** Whether it fetches something, and is not stopped. */
  get isAtWork(): boolean {
    return this.#fetches.length > 0 && !this.#isPaused;
  }

  /** Whether it was told to stop for now. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Of its next block. */
  get sizeBytes(): number {
    const { leastBlockBytes } = this.#components.config;
    const { mostQuestions } = this;
    const most = this.#opened?.connection.mostQuestions ?? mostQuestions;
    return Math.max((leastBlockBytes * most) / mostQuestions, Math.floor(this.loadBytes / mostQuestions));
  }

  /** Blocks that it may be asked for at once. */
  get mostQuestions(): number {
    const most = this.#opened?.connection.mostQuestions ?? this.#components.mostQuestions();
    const { leastDelayMs = Number.POSITIVE_INFINITY } = this.meter;
    return leastDelayMs <= SHORT_DELAY_MS ? Math.min(most, QUESTIONS_WHERE_SHORT) : most;
  }

  /** Whether it can be asked for one more block while it fetches another. */
  get mayAskAhead(): boolean {
    return this.isOpen && this.#fetches.length > 0 && this.#fetches.length < this.mostQuestions;
  }

  /** The depots that its connection goes over, or did last, this one first; `undefined` before one has stood. */
  get chain(): Chain | undefined {
    return this.#chain;
  }

  /** When its connection began to be made, or was taken over. */
  get openedAtMs(): number {
    return this.#openedAtMs;
  }

  /** When bytes last came over its chain. */
  get broughtAtMs(): number {
    return this.#broughtAtMs;
  }

  /** What is known of it, to compare it with others. */
  get record(): LaneRecord {
    const { bytesPerMs, leastDelayMs = 0, blocks } = this.meter;
    const rateBps = bytesPerMs === undefined ? undefined : bpsOf(bytesPerMs);
    return { rateBps, blocks, leastDelayMs, promise: this.#promise };
  }

  /** Whether its blocks have told its rate. */
  get isMeasured(): boolean {
    return this.meter.blocks >= PROVING_BLOCKS;
  }

  /** Whether its connection can serve the next block. */
  get isOpen(): boolean {
    return this.#opened?.connection.isOpen === true;
  }

  /** Fetches what the block misses, after what it was asked for before; over a new connection where there is none. */
  start(block: Block): void {
    if (!this.isOpen) this.drop();
    if (this.#opened) {
      this.#ask(this.#opened, block);
      return;
    }
    const made = this.#components.open(this.index);
    const fetch = this.#ask(made, block);
    fetch.isOpening = true;
    if (made.asksAlong) return;
    made.connection.stands.then(
      () => {
        fetch.askedMs = fetch.watch.elapsedMs;
      },
      // The fetch tells it.
      () => {},
    );
  }

  #ask(opened: LaneConnection, block: Block): LaneFetch {
    const part = { startByte: block.nextByte, endByte: block.endByte };
    const { request, nowMs } = this.#components;
    return this.#run(opened, block, new Stopwatch(nowMs), (taker) =>
      fetchBlock(opened.connection, request, part, taker),
    );
  }

  /** Takes over a connection whose answer with a block has begun. */
  adopt(
    opened: LaneConnection,
    block: Block,
    { openedAtMs, askedAtMs }: Pick<AskedTimes, 'openedAtMs' | 'askedAtMs'>,
  ): void {
    const { nowMs, request } = this.#components;
    this.meter.noteDelay(nowMs() - askedAtMs);
    this.meter.noteStart(nowMs() - openedAtMs);
    this.#run(opened, block, new Stopwatch(nowMs, askedAtMs), (taker) =>
      readBlock(opened.connection, request.silenceMs, block, taker),
    );
  }

  /** Ends the connection, and gives back all that it was asked for: running fetches report nothing any more. */
  drop(): void {
    const opened = this.#opened;
    this.#opened = undefined;
    for (const { block } of this.#fetches.splice(0)) block.fetches -= 1;
    this.#isPaused = false;
    opened?.connection.close();
  }

  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    for (const fetch of this.#fetches) fetch.hasRested ||= fetch.firstByteMs === undefined;
    this.fetch?.watch.stop();
    this.#opened?.connection.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.fetch?.watch.start();
    this.#opened?.connection.resume();
  }

  /**
   * Gives up a block that another lane has brought; what came of it shows how slow this lane is. Gives
   * whether that has ended a new connection which never answered, although others have brought a block in
   * such a time.
   */
  lose(fetch: LaneFetch): boolean {
    fetch.isLost = true;
    // What comes before it is wanted: the connection ends when it would be this one's turn.
    if (fetch !== this.fetch || this.forecast.isSoonRead(fetch)) return false;
    const isUnanswered = this.forecast.isUnanswered(fetch);
    this.#giveUp(fetch);
    return isUnanswered;
  }

  #giveUp({ block, fromByte, atByte, watch, askedMs }: LaneFetch): void {
    // With no byte of it there, not even the whole block would have come faster than this.
    const sizeBytes = atByte > fromByte ? atByte - fromByte : block.endByte - fromByte;
    this.meter.noteBlock(sizeBytes, watch.elapsedMs - askedMs);
    this.drop();
  }

  /**
   * Counts a block that came whole. Asked for singly, one much shorter than the lane's own would show its
   * delay for its rate.
   */
  noteBlock(fetch: LaneFetch): void {
    const { block, fromByte, watch, askedMs, isAhead } = fetch;
    const sizeBytes = block.endByte - fromByte;
    const wholeMs = watch.elapsedMs;
    this.failures = 0;
    this.isProved = true;
    const firstByteMs = fetch.firstByteMs ?? wholeMs;
    if (!isAhead && !fetch.hasRested) {
      this.meter.noteDelay(firstByteMs - askedMs);
      if (fetch.isOpening) this.meter.noteStart(firstByteMs);
    }
    // Where the next block is on the way already nothing rests between them: the wait for a first one is no
    // part of the rate.
    const waitedMs = !isAhead && this.fetch ? firstByteMs : askedMs;
    if (this.meter.blocks === 0 || isAhead || sizeBytes >= this.sizeBytes / 2)
      this.meter.noteBlock(sizeBytes, wholeMs - waitedMs, Math.max(sizeBytes, this.loadBytes));
    // It has earned a first chance again.
    if (this.meter.blocks === PROVING_BLOCKS) this.retryMs = this.#components.config.retrySeconds * 1000;
  }

  /** Begins anew, with small blocks: what it showed is not held against it when it is tried again. */
  forget(): void {
    const { smoothing, leastBlockBytes } = this.#components.config;
    this.meter = new LaneMeter(smoothing);
    this.loadBytes = leastBlockBytes;
    this.#promise = undefined;
  }

  /** Until it is free. */
  get busyMs(): number {
    return this.forecast.busyMs;
  }

  #run(
    opened: LaneConnection,
    block: Block,
    watch: Stopwatch,
    read: (taker: BlockTaker) => Promise<void>,
  ): LaneFetch {
    const { config, onWhole, onFailed } = this.#components;
    if (opened !== this.#opened) this.#greet(opened);
    this.#opened = opened;
    const isAhead = this.#fetches.length > 0;
    const fetch: LaneFetch = {
      block,
      fromByte: block.nextByte,
      atByte: block.nextByte,
      watch,
      isOpening: false,
      isAhead,
      askedMs: 0,
      firstByteMs: undefined,
      lastByteMs: 0,
      hasRested: this.#isPaused,
      isLost: false,
      isHeldUp: false,
      toldWithinMs: 0,
    };
    if (isAhead || this.#isPaused) watch.stop();
    this.#fetches.push(fetch);
    block.fetches += 1;
    read(this.#takerOf(fetch)).then(
      () => {
        if (!this.#fetches.includes(fetch)) return;
        this.#end(fetch);
        const behind = this.fetch;
        const isInTheWay = behind?.isLost === true && !this.forecast.isSoonRead(behind);
        if (isInTheWay || (!opened.connection.isOpen && !behind)) this.drop();
        onWhole(fetch, this);
      },
      (thrown) => {
        if (!this.#fetches.includes(fetch)) return;
        // What brought this much was a working way.
        if (fetch.atByte - fetch.fromByte >= config.leastBlockBytes) this.failures = 0;
        this.drop();
        onFailed(asLonghaulError(thrown), this, opened.connection.gaveBack);
      },
    );
    return fetch;
  }

  /** Takes what comes of a block, and leaves it once the lane is no longer asked for it. */
  #takerOf(fetch: LaneFetch): BlockTaker {
    const { nowMs, onChunk, onMoved } = this.#components;
    const isHere = () => {
      const isAsked = this.#fetches.includes(fetch);
      if (isAsked) fetch.firstByteMs ??= fetch.watch.elapsedMs;
      return isAsked;
    };
    return {
      onChunk: (chunk) => {
        if (!isHere()) return;
        fetch.lastByteMs = fetch.watch.elapsedMs;
        this.#broughtAtMs = nowMs();
        onChunk(fetch, chunk);
      },
      onMoved: (bytes, heldUpMs, isHeldUp) => {
        if (!isHere()) return;
        const { watch } = fetch;
        fetch.toldWithinMs = TOLD_WITHIN_MS;
        watch.skip(heldUpMs);
        if (isHeldUp) watch.stop();
        else if (fetch === this.fetch && !this.#isPaused) watch.start();
        fetch.lastByteMs = watch.elapsedMs;
        this.#broughtAtMs = nowMs();
        const wasHeldUp = isHeldUp || fetch.isHeldUp || heldUpMs >= LEAST_HELD_UP_MS;
        fetch.isHeldUp = isHeldUp;
        onMoved(fetch, bytes, wasHeldUp);
      },
    };
  }

  #end(fetch: LaneFetch): void {
    fetch.block.fetches -= 1;
    this.#fetches.splice(this.#fetches.indexOf(fetch), 1);
    if (!this.#isPaused) this.fetch?.watch.start();
  }

  #greet(opened: LaneConnection): void {
    this.#promise = undefined;
    this.#openedAtMs = this.#components.nowMs();
    opened.route.then(
      ({ chain, promise }) => {
        if (this.#opened !== opened) return;
        if (!this.#chain || !isSameChain(chain, this.#chain)) this.#broughtAtMs = Number.NEGATIVE_INFINITY;
        this.#chain = chain;
        this.#promise = promise;
        this.#components.onOpened(this, chain);
      },
      // The fetch tells it.
      () => {},
    );
  }
}
