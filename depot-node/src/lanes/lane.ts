import { asLonghaulError, type Chain, type ChainPromise, type LonghaulError } from '@longhaul/shared';
import type { OriginConnection } from '../origin/origin-connection.ts';
import type { Part } from '../origin/representation.ts';
import type { Block } from './block-queue.ts';
import { type LaneRecord, PROVING_BLOCKS } from './degraded-lane.ts';
import { type BlockRequest, fetchBlock, type OnChunk, readBlock } from './fetch-block.ts';
import { LaneMeter } from './lane-meter.ts';
import type { LanesConfig } from './lanes-config.ts';
import { Stopwatch } from './stopwatch.ts';

const BPS_PER_BYTE_PER_MS = 8000;

/** A connection to the origin for one lane, and over which chain it goes. */
export interface LaneConnection {
  readonly connection: OriginConnection;
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

/** A rate needs this much time to show in bytes that come in bursts. */
const TELLING_MS = 100;

/** One lane's work on one block. */
export interface LaneFetch {
  readonly block: Block;
  readonly fromByte: number;
  /** The next byte that comes. */
  atByte: number;
  readonly watch: Stopwatch;
  firstByteMs: number | undefined;
}

interface LaneComponents {
  readonly open: OpenLane;
  readonly request: BlockRequest;
  readonly config: LanesConfig;
  readonly nowMs: () => number;
  readonly onOpened: (lane: Lane, chain: Chain) => void;
  readonly onChunk: (fetch: LaneFetch, chunk: Buffer) => void;
  readonly onWhole: (fetch: LaneFetch, lane: Lane) => void;
  readonly onFailed: (failure: LonghaulError, lane: Lane) => void;
}

/** A lane: its connection, which comes and goes, what it is fetching, and what is known of it. */
export class Lane {
  readonly index: number;
  readonly #components: LaneComponents;
  #opened: LaneConnection | undefined;
  #chain: Chain | undefined;
  #fetch: LaneFetch | undefined;
  #promise: ChainPromise | undefined;
  meter: LaneMeter;
  /** Of its next block. */
  sizeBytes: number;
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

  constructor(index: number, sizeBytes: number, components: LaneComponents) {
    this.index = index;
    this.sizeBytes = sizeBytes;
    this.#components = components;
    this.meter = new LaneMeter(components.config.smoothing);
    this.retryMs = components.config.retrySeconds * 1000;
  }

  get fetch(): LaneFetch | undefined {
    return this.#fetch;
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

  /** Fetches what the block misses; over a new connection where there is none. */
  start(block: Block): void {
    const part = { startByte: block.nextByte, endByte: block.endByte };
    if (!this.isOpen) this.drop();
    const { open, request } = this.#components;
    const opened = this.#opened ?? open(this.index);
    this.#run(opened, block, new Stopwatch(this.#components.nowMs), (onChunk) =>
      fetchBlock(opened.connection, request, part, onChunk),
    );
  }

  /** Takes over a connection whose answer with a block has begun; it was asked for at `askedAtMs`. */
  adopt(opened: LaneConnection, block: Block, askedAtMs: number): void {
    const { nowMs, request } = this.#components;
    this.#run(opened, block, new Stopwatch(nowMs, askedAtMs), (onChunk) =>
      readBlock(opened.connection, request.silenceMs, block, onChunk),
    );
  }

  /** Ends the connection. A running fetch is over, and reports nothing any more. */
  drop(): void {
    const opened = this.#opened;
    this.#opened = undefined;
    this.#end();
    opened?.connection.close();
  }

  pause(): void {
    this.#fetch?.watch.stop();
    this.#opened?.connection.pause();
  }

  resume(): void {
    this.#fetch?.watch.start();
    this.#opened?.connection.resume();
  }

  /** Gives up a block that another lane has brought; what came of it shows how slow this lane is. */
  lose(): void {
    const fetch = this.#fetch;
    if (fetch) {
      const { block, fromByte, atByte, watch } = fetch;
      // With no byte of it there, not even the whole block would have come faster than this.
      const sizeBytes = atByte > fromByte ? atByte - fromByte : block.endByte - fromByte;
      this.meter.noteBlock(sizeBytes, watch.elapsedMs);
    }
    this.drop();
  }

  /** Counts a block that came whole. One much shorter than the lane's own would show its delay for its rate. */
  noteBlock({ block, fromByte, watch, firstByteMs }: LaneFetch): void {
    const sizeBytes = block.endByte - fromByte;
    const wholeMs = watch.elapsedMs;
    this.failures = 0;
    this.isProved = true;
    this.meter.noteDelay(firstByteMs ?? wholeMs);
    if (this.meter.blocks === 0 || sizeBytes >= this.sizeBytes / 2) this.meter.noteBlock(sizeBytes, wholeMs);
    // It has earned a first chance again.
    if (this.meter.blocks === PROVING_BLOCKS) this.retryMs = this.#components.config.retrySeconds * 1000;
  }

  /** Begins anew, with small blocks: what it showed is not held against it when it is tried again. */
  forget(): void {
    const { smoothing, leastBlockBytes } = this.#components.config;
    this.meter = new LaneMeter(smoothing);
    this.sizeBytes = leastBlockBytes;
    this.#promise = undefined;
  }

  /** How long the running fetch will still take, as far as it shows. */
  remainingMs({ block, fromByte, atByte, watch, firstByteMs }: LaneFetch): number {
    const { bytesPerMs, leastDelayMs = 0 } = this.meter;
    const elapsedMs = watch.elapsedMs;
    const restBytes = block.endByte - atByte;
    if (firstByteMs === undefined) {
      const usualMs =
        bytesPerMs === undefined ? 0 : Math.max(0, leastDelayMs - elapsedMs) + restBytes / bytesPerMs;
      // The longer nothing comes, the longer it will take.
      return Math.max(usualMs, elapsedMs);
    }
    const flowingMs = elapsedMs - firstByteMs;
    if (flowingMs < TELLING_MS) return restBytes / (bytesPerMs ?? Number.POSITIVE_INFINITY);
    return (restBytes * flowingMs) / Math.max(1, atByte - fromByte);
  }

  /** Until the running fetch will still take more than `limitMs`, if nothing more of it comes; 0: it will. */
  untilRemainsMs(fetch: LaneFetch, limitMs: number): number {
    if (this.remainingMs(fetch) > limitMs) return 0;
    const { block, fromByte, atByte, watch, firstByteMs } = fetch;
    const elapsedMs = watch.elapsedMs;
    if (firstByteMs === undefined) return limitMs - elapsedMs;
    const flowingMs = elapsedMs - firstByteMs;
    if (flowingMs < TELLING_MS) return TELLING_MS - flowingMs;
    return (limitMs * (atByte - fromByte)) / (block.endByte - atByte) - flowingMs;
  }

  /** Until it is free. */
  get busyMs(): number {
    return this.#fetch ? this.remainingMs(this.#fetch) : 0;
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
    read: (onChunk: OnChunk) => Promise<void>,
  ): void {
    const { config, onChunk, onWhole, onFailed } = this.#components;
    if (opened !== this.#opened) this.#greet(opened);
    this.#opened = opened;
    const fetch: LaneFetch = {
      block,
      fromByte: block.nextByte,
      atByte: block.nextByte,
      watch,
      firstByteMs: undefined,
    };
    this.#fetch = fetch;
    block.fetches += 1;
    const take: OnChunk = (chunk) => {
      if (this.#fetch !== fetch) return;
      fetch.firstByteMs ??= fetch.watch.elapsedMs;
      onChunk(fetch, chunk);
    };
    read(take).then(
      () => {
        if (this.#fetch !== fetch) return;
        this.#end();
        if (!opened.connection.isOpen) this.drop();
        onWhole(fetch, this);
      },
      (thrown) => {
        if (this.#fetch !== fetch) return;
        // What brought this much was a working way.
        if (fetch.atByte - fetch.fromByte >= config.leastBlockBytes) this.failures = 0;
        this.drop();
        onFailed(asLonghaulError(thrown), this);
      },
    );
  }

  #end(): void {
    if (this.#fetch) this.#fetch.block.fetches -= 1;
    this.#fetch = undefined;
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
