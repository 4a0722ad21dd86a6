import { asLonghaulError, type Chain, type ChainPromise, type LonghaulError } from '@longhaul/shared';
import type { Conversation } from '../origin/conversation.ts';
import type { Part } from '../origin/representation.ts';
import { TOLD_WITHIN_MS } from '../relay/answer-reader.ts';
import type { Block } from './block-queue.ts';
import { type LaneRecord, PROVING_BLOCKS } from './degraded-lane.ts';
import { type BlockRequest, type BlockTaker, fetchBlock, readBlock } from './fetch-block.ts';
import { LaneMeter } from './lane-meter.ts';
import type { LanesConfig } from './lanes-config.ts';
import { Stopwatch } from './stopwatch.ts';

const BPS_PER_BYTE_PER_MS = 8000;

/** A connection to the origin for one lane, and over which chain it goes. */
export interface LaneConnection {
  readonly connection: Conversation;
  /** Resolves when the connection stands. Rejects when it could not be made; then the first fetch fails for the same reason. */
  readonly route: Promise<{
    /** This depot first. */
    readonly chain: Chain;
    /** What the planner promises of it. */
    readonly promise: ChainPromise | undefined;
  }>;
}

/** Opens a connection for a lane, over a chain that has not failed lately. Does not throw. */
export type OpenLane = (lane: number) => LaneConnection;

/** A client that keeps a lane waiting for less does not hold it up: a tenth of the time in which it is told of. */
const LEAST_HELD_UP_MS = 5;

/** A rate needs this much time to show in bytes that come in bursts. */
const TELLING_MS = 100;

/** One lane's work on one block. */
export interface LaneFetch {
  readonly block: Block;
  readonly fromByte: number;
  /** The next byte that comes. */
  atByte: number;
  /** Runs from when the lane had nothing else to fetch. */
  readonly watch: Stopwatch;
  /** Asked for while another block was fetched: its first byte waited for that. */
  readonly isAhead: boolean;
  firstByteMs: number | undefined;
  /** When its latest bytes came, as `watch` counts. */
  lastByteMs: number;
  /** It rested before its first byte, which then comes sooner or later than the origin sent it. */
  hasRested: boolean;
  /** Another lane has brought it. */
  isLost: boolean;
  /** It waits for the client alone. */
  isHeldUp: boolean;
  /** How much later than they come its bytes are told of, at most. */
  toldWithinMs: number;
}

interface LaneComponents {
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
  readonly #components: LaneComponents;
  #opened: LaneConnection | undefined;
  #chain: Chain | undefined;
  /** What it was asked for, in order: the first one comes now. */
  #fetches: LaneFetch[] = [];
  #isPaused = false;
  #promise: ChainPromise | undefined;
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
    this.meter = new LaneMeter(components.config.smoothing);
    this.retryMs = components.config.retrySeconds * 1000;
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

  /** Blocks that it was asked for. */
  get asked(): number {
    return this.#fetches.length;
  }

  /** Of its next block. */
  get sizeBytes(): number {
    const { leastBlockBytes } = this.#components.config;
    return Math.max(leastBlockBytes, Math.floor(this.loadBytes / this.mostQuestions));
  }

  /** Blocks that it may be asked for at once. */
  get mostQuestions(): number {
    return this.#opened?.connection.mostQuestions ?? this.#components.mostQuestions();
  }

  /** Whether it can be asked for one more block while it fetches another. */
  get mayAskAhead(): boolean {
    const { mostQuestions = 1, isOpen = false } = this.#opened?.connection ?? {};
    return isOpen && this.#fetches.length > 0 && this.#fetches.length < mostQuestions;
  }

  /** The depots that its connection goes over, or did last, this one first; `undefined` before one has stood. */
  get chain(): Chain | undefined {
    return this.#chain;
  }

  /** What is known of it, to compare it with others. */
  get record(): LaneRecord {
    const { bytesPerMs, leastDelayMs = 0, blocks } = this.meter;
    const rateBps = bytesPerMs === undefined ? undefined : bytesPerMs * BPS_PER_BYTE_PER_MS;
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
    const part = { startByte: block.nextByte, endByte: block.endByte };
    if (!this.isOpen) this.drop();
    const { open, request, nowMs } = this.#components;
    const opened = this.#opened ?? open(this.index);
    this.#run(opened, block, new Stopwatch(nowMs), (taker) =>
      fetchBlock(opened.connection, request, part, taker),
    );
  }

  /** Takes over a connection whose answer with a block has begun; it was asked for at `askedAtMs`. */
  adopt(opened: LaneConnection, block: Block, askedAtMs: number): void {
    const { nowMs, request } = this.#components;
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
    this.#isPaused = true;
    for (const fetch of this.#fetches) fetch.hasRested ||= fetch.firstByteMs === undefined;
    this.fetch?.watch.stop();
    this.#opened?.connection.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.fetch?.watch.start();
    this.#opened?.connection.resume();
  }

  /** Gives up a block that another lane has brought; what came of it shows how slow this lane is. */
  lose(fetch: LaneFetch): void {
    fetch.isLost = true;
    // What comes before it is wanted: the connection ends when it would be this one's turn.
    if (fetch !== this.fetch) return;
    const { block, fromByte, atByte, watch } = fetch;
    // With no byte of it there, not even the whole block would have come faster than this.
    const sizeBytes = atByte > fromByte ? atByte - fromByte : block.endByte - fromByte;
    this.meter.noteBlock(sizeBytes, watch.elapsedMs);
    this.drop();
  }

  /** Counts a block that came whole. One much shorter than the lane's own would show its delay for its rate. */
  noteBlock({ block, fromByte, watch, firstByteMs, isAhead, hasRested }: LaneFetch): void {
    const sizeBytes = block.endByte - fromByte;
    const wholeMs = watch.elapsedMs;
    this.failures = 0;
    this.isProved = true;
    if (!isAhead && !hasRested) this.meter.noteDelay(firstByteMs ?? wholeMs);
    // Where the next block is on the way already nothing rests between them: the wait for a first one is no part of the rate.
    const waitedMs = !isAhead && this.fetch ? (firstByteMs ?? 0) : 0;
    if (this.meter.blocks === 0 || sizeBytes >= this.sizeBytes / 2)
      this.meter.noteBlock(sizeBytes, wholeMs - waitedMs);
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

  /** How long a fetch will still take, as far as it and those before it show. */
  remainingMs(fetch: LaneFetch): number {
    let remainingMs = 0;
    for (const asked of this.#fetches) {
      remainingMs += asked === this.fetch ? this.#runningMs(asked) : this.#behindMs(asked);
      if (asked === fetch) break;
    }
    return remainingMs;
  }

  #behindMs({ block, atByte }: LaneFetch): number {
    return (block.endByte - atByte) / (this.meter.bytesPerMs ?? Number.POSITIVE_INFINITY);
  }

  #runningMs(fetch: LaneFetch): number {
    const { block, fromByte, atByte, watch, firstByteMs, lastByteMs, isAhead } = fetch;
    const { bytesPerMs } = this.meter;
    // Its answer was on the way already.
    const leastDelayMs = isAhead ? 0 : (this.meter.leastDelayMs ?? 0);
    const elapsedMs = watch.elapsedMs;
    const restBytes = block.endByte - atByte;
    if (firstByteMs === undefined) {
      const usualMs =
        bytesPerMs === undefined ? 0 : Math.max(0, leastDelayMs - elapsedMs) + restBytes / bytesPerMs;
      // The longer nothing comes, the longer it will take.
      return Math.max(usualMs, elapsedMs);
    }
    // Since it was told of last, as much may have come as before.
    const untoldMs = Math.min(fetch.toldWithinMs, elapsedMs - lastByteMs);
    const flowingMs = elapsedMs - firstByteMs - untoldMs;
    // The longer it stands still, the longer it will: TCP doubles its time-out.
    const stillMs = elapsedMs - lastByteMs - untoldMs;
    if (flowingMs < TELLING_MS) return restBytes / (bytesPerMs ?? Number.POSITIVE_INFINITY);
    return Math.max(stillMs, (restBytes * flowingMs) / Math.max(1, atByte - fromByte));
  }

  /** Until the running fetch will still take more than `limitMs`, if nothing more of it comes; 0: it will. */
  untilRemainsMs(fetch: LaneFetch, limitMs: number): number {
    const running = this.fetch;
    if (!running || this.remainingMs(fetch) > limitMs) return 0;
    if (running !== fetch)
      return this.untilRemainsMs(running, limitMs - (this.remainingMs(fetch) - this.remainingMs(running)));
    const { block, fromByte, atByte, watch, firstByteMs, lastByteMs, toldWithinMs } = fetch;
    const elapsedMs = watch.elapsedMs;
    if (firstByteMs === undefined) return limitMs - elapsedMs;
    const flowingMs = elapsedMs - firstByteMs - toldWithinMs;
    if (flowingMs < TELLING_MS) return TELLING_MS - flowingMs;
    const slowInMs = (limitMs * (atByte - fromByte)) / (block.endByte - atByte) - flowingMs;
    return Math.min(slowInMs, limitMs - (elapsedMs - lastByteMs - toldWithinMs));
  }

  /** Until it is free. */
  get busyMs(): number {
    const last = this.#fetches.at(-1);
    return last ? this.remainingMs(last) : 0;
  }

  /** Until the first byte of a block comes that it is asked for now. */
  get freeInMs(): number {
    return this.fetch ? this.busyMs : (this.meter.leastDelayMs ?? 0);
  }

  /** How long so many bytes take once they come; `undefined` when it has shown no rate. */
  flowMs(sizeBytes: number): number | undefined {
    const { bytesPerMs } = this.meter;
    return bytesPerMs === undefined ? undefined : sizeBytes / bytesPerMs;
  }

  /** Until it would have brought so many bytes that it is asked for now; `undefined` when it has shown no rate. */
  inMs(sizeBytes: number): number | undefined {
    const flowMs = this.flowMs(sizeBytes);
    return flowMs === undefined ? undefined : this.freeInMs + flowMs;
  }

  /** How long this lane would need for so many bytes; `undefined` when it has shown no rate. */
  neededMs(part: Part): number | undefined {
    const { bytesPerMs, leastDelayMs = 0 } = this.meter;
    if (bytesPerMs === undefined) return undefined;
    const setUpMs = this.isOpen ? 0 : leastDelayMs;
    return setUpMs + leastDelayMs + (part.endByte - part.startByte) / bytesPerMs;
  }

  #run(
    opened: LaneConnection,
    block: Block,
    watch: Stopwatch,
    read: (taker: BlockTaker) => Promise<void>,
  ): void {
    const { config, onChunk, onMoved, onWhole, onFailed } = this.#components;
    if (opened !== this.#opened) this.#greet(opened);
    this.#opened = opened;
    const isAhead = this.#fetches.length > 0;
    const fetch: LaneFetch = {
      block,
      fromByte: block.nextByte,
      atByte: block.nextByte,
      watch,
      isAhead,
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
    const isHere = () => {
      const isAsked = this.#fetches.includes(fetch);
      if (isAsked) fetch.firstByteMs ??= fetch.watch.elapsedMs;
      return isAsked;
    };
    const taker: BlockTaker = {
      onChunk: (chunk) => {
        if (!isHere()) return;
        fetch.lastByteMs = fetch.watch.elapsedMs;
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
        const wasHeldUp = isHeldUp || fetch.isHeldUp || heldUpMs >= LEAST_HELD_UP_MS;
        fetch.isHeldUp = isHeldUp;
        onMoved(fetch, bytes, wasHeldUp);
      },
    };
    read(taker).then(
      () => {
        if (!this.#fetches.includes(fetch)) return;
        this.#end(fetch);
        const isNextLost = this.fetch?.isLost === true;
        if (isNextLost || (!opened.connection.isOpen && !this.fetch)) this.drop();
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
  }

  #end(fetch: LaneFetch): void {
    fetch.block.fetches -= 1;
    this.#fetches.splice(this.#fetches.indexOf(fetch), 1);
    if (!this.#isPaused) this.fetch?.watch.start();
  }

  #greet(opened: LaneConnection): void {
    this.#promise = undefined;
    opened.route.then(
      ({ chain, promise }) => {
        if (this.#opened !== opened) return;
        this.#chain = chain;
        this.#promise = promise;
        this.#components.onOpened(this, chain);
      },
      // The fetch tells it.
      () => {},
    );
  }
}
