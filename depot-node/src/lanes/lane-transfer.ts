import type { LonghaulError } from '@longhaul/shared';
import type { Part } from '../entry/representation.ts';
import { BlockQueue } from './block-queue.ts';
import { adaptedBlockBytes, firstBlockBytes } from './block-sizes.ts';
import { Lane, type LaneFetch } from './lane.ts';
import { isHoldingUp } from './lane-judgement.ts';
import { LaneRests } from './lane-rests.ts';
import { LaneTrials } from './lane-trials.ts';
import type { BlockTimes, LaneEvent, LaneWays, OnChunk, OpenedLane } from './lane-ways.ts';
import type { LanesConfig } from './lanes-config.ts';
import { chooseBlock } from './next-block.ts';

/** The client's end. */
export interface LaneSink {
  /** Takes bytes, in order; `false` asks to wait for `drained` before the next. */
  write(chunk: Buffer): boolean;
  /** Resolves when more can be written; rejects when the client has left, or left its bytes unread for too long. */
  drained(): Promise<void>;
}

/** A lane that runs already: the answer to its first block has been read up to its body. */
export interface FirstBlock {
  readonly lane: OpenedLane;
  readonly part: Part;
  /** Reads the block's body, as `BlockConnection.fetch` does. */
  readonly read: (onChunk: OnChunk) => Promise<BlockTimes>;
}

export interface LanesInit {
  /** What is to be delivered. */
  readonly part: Part;
  /** Lanes at start; never more than `config.perOrigin`. */
  readonly laneCount: number;
  /** How many may be at work now, at least one; asked before each block. Without it: all. */
  readonly mostLanes?: (() => number) | undefined;
  readonly ways: LaneWays;
  /** Lane 0, where the entry has asked for the first block itself. It starts where `part` starts and ends inside it. */
  readonly first?: FirstBlock | undefined;
  readonly sink: LaneSink;
  readonly config: LanesConfig;
  /** Ends the transfer as `cancelled`. */
  readonly signal: AbortSignal;
  /** Aborts when the client has left. */
  readonly left: AbortSignal;
  readonly nowMs: () => number;
  readonly observe: (event: LaneEvent) => void;
}

export interface LanesEnd {
  readonly outcome: 'complete' | 'upstream-broke' | 'client-left' | 'cancelled';
  /** Delivered, in order, from `part.startByte` on. */
  readonly bytes: number;
  /** Why upstream broke. */
  readonly failure?: LonghaulError | undefined;
}

/** Bytes in order that wait before lanes are stopped: a third of a second of 100 Mbit/s, so that pipes do not run empty. */
const LONGEST_QUEUE_BYTES = 4_194_304;
/** How long no lane looks for work at most: timers hold no more than 24 days. */
const LONGEST_SLEEP_MS = 60_000;
/** How often an idle lane looks whether a block has become late. */
const LATE_CHECK_MS = 50;

/**
 * Fetches a part of a file as blocks over several lanes and delivers it as one stream in order. Resolves when everything
 * was written to the sink, or nothing more will be; all lanes are closed then. Never rejects.
 */
export function runLanes(init: LanesInit): Promise<LanesEnd> {
  return new LaneTransfer(init).ended;
}

class LaneTransfer {
  readonly ended: Promise<LanesEnd>;
  readonly #init: LanesInit;
  readonly #queue: BlockQueue;
  readonly #lanes: readonly Lane[];
  readonly #rests: LaneRests;
  readonly #trials: LaneTrials;
  readonly #resolve: (end: LanesEnd) => void;
  #isOver = false;
  /** The sink takes nothing until it has drained. */
  #isBlocked = false;
  /** The lanes are stopped, because too much waits for the sink. */
  #isPaused = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(init: LanesInit) {
    this.#init = init;
    this.#queue = new BlockQueue(init.part);
    const { promise, resolve } = Promise.withResolvers<LanesEnd>();
    this.ended = promise;
    this.#resolve = resolve;
    const laneCount = Math.max(1, Math.min(init.laneCount, init.config.perOrigin));
    const sizeBytes = firstBlockBytes(init.config, laneCount);
    const components = {
      ways: init.ways,
      config: init.config,
      nowMs: init.nowMs,
      onOpened: ({ index }: Lane, chain: readonly string[]) =>
        init.observe({ type: 'lane-opened', lane: index, chain }),
      onChunk: (fetch: LaneFetch, chunk: Buffer) => this.#onChunk(fetch, chunk),
      onWhole: (fetch: LaneFetch, times: BlockTimes, lane: Lane) => this.#onWhole(fetch, times, lane),
      onFailed: (failure: LonghaulError, lane: Lane) => this.#onFailed(failure, lane),
    };
    this.#lanes = Array.from({ length: laneCount }, (_, index) => new Lane(index, sizeBytes, components));
    this.#rests = new LaneRests(this.#lanes, init);
    this.#trials = new LaneTrials(init.nowMs);
    init.left.addEventListener('abort', this.#onLeft);
    init.signal.addEventListener('abort', this.#onCancelled);
    this.#begin();
  }

  readonly #onLeft = () => this.#end('client-left');
  readonly #onCancelled = () => this.#end('cancelled');

  #begin(): void {
    const { first, left, signal } = this.#init;
    const [lane] = this.#lanes;
    if (first && lane) {
      lane.adopt(first.lane, this.#queue.cut(first.part.endByte - first.part.startByte), first.read);
    }
    if (left.aborted) this.#onLeft();
    if (signal.aborted) this.#onCancelled();
    this.#deliver();
    this.#work();
  }

  /** Gives every lane that is free something to do, and plans when to look again. */
  #work(): void {
    if (this.#isOver || this.#isPaused || this.#queue.hasAll) return;
    clearTimeout(this.#timer);
    const mostLanes = this.#init.mostLanes?.() ?? this.#lanes.length;
    for (const lane of this.#rests.ready()) {
      if (this.#busyLanes() >= Math.max(1, mostLanes)) {
        // An origin counts connections, also those that rest.
        lane.drop();
        continue;
      }
      if (isHoldingUp(lane, this.#lanes, this.#init.config)) {
        this.#removeDegraded(lane);
        continue;
      }
      const chosen = chooseBlock(lane, this.#lanes, this.#queue, this.#init.config);
      if (!chosen) continue;
      const { block, isLate } = chosen;
      const part = { startByte: block.nextByte, endByte: block.endByte };
      if (isLate) this.#init.observe({ type: 'block-asked-again', lane: lane.index, part });
      if (lane.isRemoved) this.#trials.begin(lane.index);
      lane.isRemoved = false;
      lane.start(block);
    }
    const hasIdle = this.#rests.ready().length > 0;
    const nextMs = Math.min(this.#rests.untilReadyMs(), hasIdle ? LATE_CHECK_MS : LONGEST_SLEEP_MS);
    this.#timer = setTimeout(() => this.#work(), nextMs);
  }

  #busyLanes(): number {
    return this.#lanes.filter(({ fetch }) => fetch !== undefined).length;
  }

  #onChunk(fetch: LaneFetch, chunk: Buffer): void {
    const { block } = fetch;
    this.#rests.noteProgress(chunk.length);
    this.#trials.noteBytes(chunk.length);
    this.#queue.put(block, fetch.atByte, chunk);
    fetch.atByte += chunk.length;
    if (block.nextByte === block.endByte) {
      for (const lane of this.#lanes) {
        if (lane.fetch !== fetch && lane.fetch?.block === block) lane.lose();
      }
    }
    // What remains is the client's to read, however long that takes: nothing upstream waits for it.
    if (this.#queue.hasAll) this.#rest();
    this.#deliver();
  }

  #onWhole({ block, fromByte }: LaneFetch, times: BlockTimes, lane: Lane): void {
    const sizeBytes = block.endByte - fromByte;
    lane.noteBlock(sizeBytes, times);
    const inService = this.#lanes.filter(({ isRemoved }) => !isRemoved);
    lane.sizeBytes = adaptedBlockBytes(lane, inService, this.#init.config);
    this.#init.observe({ type: 'block', lane: lane.index, sizeBytes, times });
    if (lane.isMeasured && this.#trials.hasLowered(lane.index)) this.#removeDegraded(lane);
    this.#work();
  }

  #removeDegraded(lane: Lane): void {
    this.#rests.remove(lane, 'degraded');
    this.#trials.noteChange();
  }

  #onFailed(failure: LonghaulError, lane: Lane): void {
    this.#init.observe({ type: 'lane-broke', lane: lane.index, code: failure.code });
    this.#trials.noteChange();
    const end = this.#rests.afterFailure(lane, failure);
    if (end) this.#end('upstream-broke', end);
    else this.#work();
  }

  /** Writes what is there in order, as far as the sink takes it. */
  #deliver(): void {
    while (!this.#isOver && !this.#isBlocked) {
      const chunk = this.#queue.take();
      if (!chunk) break;
      if (!this.#init.sink.write(chunk)) this.#awaitSink();
    }
    if (this.#queue.isComplete) this.#end('complete');
    if (this.#isOver || !this.#isBlocked || this.#isPaused) return;
    if (this.#queue.readyBytes <= LONGEST_QUEUE_BYTES) return;
    this.#isPaused = true;
    clearTimeout(this.#timer);
    this.#trials.pause();
    for (const lane of this.#lanes) lane.pause();
  }

  #awaitSink(): void {
    this.#isBlocked = true;
    this.#init.sink.drained().then(() => {
      this.#isBlocked = false;
      this.#deliver();
      if (this.#isOver || !this.#isPaused || this.#queue.readyBytes > LONGEST_QUEUE_BYTES) return;
      this.#isPaused = false;
      this.#trials.resume();
      for (const lane of this.#lanes) lane.resume();
      this.#work();
    }, this.#onLeft);
  }

  /** Closes all lanes and looks for nothing more. */
  #rest(): void {
    clearTimeout(this.#timer);
    for (const lane of this.#lanes) lane.drop();
  }

  #end(outcome: LanesEnd['outcome'], failure?: LonghaulError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#rest();
    this.#init.left.removeEventListener('abort', this.#onLeft);
    this.#init.signal.removeEventListener('abort', this.#onCancelled);
    this.#resolve({ outcome, bytes: this.#queue.headByte - this.#init.part.startByte, failure });
  }
}
