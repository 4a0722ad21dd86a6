import { bytesPerMsOf, type Chain, type ChainPromise, type LonghaulError } from '@longhaul/shared';
import type { AskedTimes } from '../origin/conversation.ts';
import { OriginBusy } from '../origin/joined-part.ts';
import type { Part } from '../origin/representation.ts';
import type { LaneEvent } from '../plane/events.ts';
import { askAhead } from './ask-ahead.ts';
import { BlockQueue } from './block-queue.ts';
import { adaptedLoadBytes, aloneLoadBytes, firstLoadBytes, headStartBytes } from './block-sizes.ts';
import { isDegraded } from './degraded-lane.ts';
import type { BlockRequest } from './fetch-block.ts';
import { Lane, type LaneConnection, type OpenLane } from './lane.ts';
import type { LaneCarrier, OpenCarrier } from './lane-carrier.ts';
import type { LaneFetch } from './lane-fetch.ts';
import { LaneGrowth, oneLaneBps } from './lane-growth.ts';
import type { TransferMemory } from './lane-memory.ts';
import { LaneRests } from './lane-rests.ts';
import { LaneRoom } from './lane-room.ts';
import { LaneShares } from './lane-shares.ts';
import { LaneTrials } from './lane-trials.ts';
import type { LanesConfig } from './lanes-config.ts';
import { chooseBlock } from './next-block.ts';

/** What was asked for first. */
export interface AskedBlock extends Pick<AskedTimes, 'openedAtMs' | 'askedAtMs'> {
  readonly part: Part;
}

/** What becomes lane 0: a connection over which the first block has been asked for, and answered up to its body. */
export interface FirstBlock extends LaneConnection, AskedBlock {}

/** A lane as others see it. */
export type LaneView = Pick<Lane, 'index' | 'chain' | 'isRemoved' | 'record' | 'openedAtMs' | 'broughtAtMs'>;

/** What all lanes do together, for who watches it. */
export interface LanesWork {
  /** Bytes that have come over them. */
  readonly bytes: () => number;
  /** How many fetch something now. */
  readonly lanes: () => number;
  /**
   * Whether something else than their ways holds them up: the client, memory, an origin that refuses, or that
   * there is little left to fetch.
   */
  readonly isHeldUp: () => boolean;
  /** Has all begin anew, over new connections. */
  readonly reopen: () => void;
}

export interface LanesInit {
  /** What is to be delivered. */
  readonly part: Part;
  /** Lanes at start; never more than `config.perOrigin`. */
  readonly laneCount: number;
  /** How many may be at work now, at least one; asked before each block. Without it: all. */
  readonly mostLanes?: (() => number) | undefined;
  readonly open: OpenLane;
  /** What the planner promises of the plan's chain. */
  readonly promise?: ChainPromise | undefined;
  /** Blocks that a new connection may be asked for at once; without it: one. */
  readonly mostQuestions?: (() => number) | undefined;
  readonly request: BlockRequest;
  /** Where the first block has been asked for already: it starts where `part` starts and ends inside it. */
  readonly first?: FirstBlock | undefined;
  /** Who carries the bytes to the client. */
  readonly carry: OpenCarrier;
  readonly config: LanesConfig;
  readonly memory: TransferMemory;
  /** Ends the transfer as `cancelled`. */
  readonly signal: AbortSignal;
  /** Aborts when the client has left. */
  readonly left: AbortSignal;
  readonly nowMs: () => number;
  readonly observe: (event: LaneEvent) => void;
  /** Begins to watch them; gives what ends that. */
  readonly watch?: ((work: LanesWork) => () => void) | undefined;
  /** Shown the lanes at start; what they tell is always of now. */
  readonly onLanes?: (lanes: readonly LaneView[]) => void;
  /** Told of each block that has come whole. */
  readonly onBlock?: (() => void) | undefined;
  /**
   * Told why one has not, over a connection that had brought one before or over another. Gives whether the
   * origin has one connection less for that, so that the lane may soon have its own.
   */
  readonly onBlockFailed?: ((failure: LonghaulError, isProved: boolean) => boolean) | undefined;
  /** Told that the origin counts requests. */
  readonly onCounted?: () => void;
}

export interface LanesEnd {
  readonly outcome: 'complete' | 'upstream-broke' | 'client-left' | 'cancelled';
  /** Delivered, in order, from `part.startByte` on. */
  readonly bytes: number;
  /** Why upstream broke. */
  readonly failure?: LonghaulError | undefined;
}

/** How long no lane looks for work at most: timers hold no more than 24 days. */
const LONGEST_SLEEP_MS = 60_000;
/** How soon a lane that waits looks again at most: what it waits for is reckoned to fractions of a millisecond. */
const LEAST_SLEEP_MS = 10;
/** How often lanes look whether there is room again: for one more connection to the origin, or in the memory of all. */
const ROOM_CHECK_MS = 1000;

/**
 * Fetches a part of a file as blocks over several lanes and delivers it as one stream in order. Resolves when
 * everything was written to the sink, or nothing more will be; all lanes are closed then. Never rejects.
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
  readonly #growth: LaneGrowth;
  readonly #shares: LaneShares;
  readonly #resolve: (end: LanesEnd) => void;
  readonly #carrier: LaneCarrier;
  readonly #room: LaneRoom;
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;
  /** A lane that waits may find something to do when so much has been delivered. */
  #workAtByte = Number.POSITIVE_INFINITY;
  #comeBytes = 0;
  #stopWatch = () => {};

  constructor(init: LanesInit) {
    this.#init = init;
    this.#queue = new BlockQueue(init.part);
    const { promise, resolve } = Promise.withResolvers<LanesEnd>();
    this.ended = promise;
    this.#resolve = resolve;
    const laneCount = Math.max(1, Math.min(init.laneCount, init.config.perOrigin));
    const loadBytes = firstLoadBytes(init.config, laneCount);
    const components = {
      open: init.open,
      request: init.request,
      config: init.config,
      mostQuestions: init.mostQuestions ?? (() => 1),
      usualStartMs: () => this.#usualStartMs(),
      promisedBytesPerMs: init.promise && bytesPerMsOf(oneLaneBps(init.promise)),
      nowMs: init.nowMs,
      onOpened: ({ index }: Lane, chain: Chain) => init.observe({ type: 'lane-opened', lane: index, chain }),
      onChunk: (fetch: LaneFetch, chunk: Buffer) => {
        this.#carrier.put(fetch.atByte, chunk);
        this.#onBytes(fetch, chunk.length);
      },
      onMoved: (fetch: LaneFetch, bytes: number, isHeldUp: boolean) => {
        if (isHeldUp) this.#growth.noteWaiting();
        this.#onBytes(fetch, bytes);
      },
      onWhole: (fetch: LaneFetch, lane: Lane) => this.#onWhole(fetch, lane),
      onFailed: (failure: LonghaulError, lane: Lane, wasGivenBack: boolean) =>
        this.#onFailed(failure, lane, wasGivenBack),
    };
    this.#lanes = Array.from({ length: laneCount }, (_, index) => new Lane(index, loadBytes, components));
    this.#rests = new LaneRests(this.#lanes, init);
    this.#trials = new LaneTrials(init.nowMs);
    this.#growth = new LaneGrowth({ planned: laneCount, promise: init.promise, nowMs: init.nowMs });
    this.#shares = new LaneShares({
      lanes: this.#lanes,
      growth: this.#growth,
      mostLanes: init.mostLanes,
      onCounted: init.onCounted,
    });
    this.#carrier = init.carry(init.part.startByte, {
      onChange: () => this.#onCarried(),
      onLeft: this.#onLeft,
    });
    this.#room = new LaneRoom({
      lanes: this.#lanes,
      queue: this.#queue,
      carrier: this.#carrier,
      memory: init.memory,
      observe: init.observe,
    });
    init.onLanes?.(this.#lanes);
    this.#stopWatch =
      init.watch?.({
        bytes: () => this.#comeBytes,
        lanes: () => this.#shares.busy,
        isHeldUp: () => this.#isHeldUp,
        reopen: () => this.#reopen(),
      }) ?? this.#stopWatch;
    init.left.addEventListener('abort', this.#onLeft);
    init.signal.addEventListener('abort', this.#onCancelled);
    this.#begin();
  }

  readonly #onLeft = () => this.#end('client-left');
  readonly #onCancelled = () => this.#end('cancelled');

  #begin(): void {
    const { first, left, signal, promise, config, nowMs } = this.#init;
    const [lane] = this.#lanes;
    // Asked singly, a lane rests between its blocks; and others may have ways of their own.
    if (!first || first.connection.mostQuestions === 1 || config.spread) this.#growth.useAll();
    if (first && lane) {
      const block = this.#queue.cut(first.part.endByte - first.part.startByte);
      lane.adopt(first, block, first);
      if (promise)
        lane.loadBytes = this.#growth.isAlone
          ? aloneLoadBytes(promise, nowMs() - first.askedAtMs, config)
          : Math.max(lane.loadBytes, headStartBytes(promise, nowMs() - first.openedAtMs, config));
      // What it brings before the others have begun is its own.
      const sizeBytes = () => (this.#lanes.length === 1 ? config.soloBlockBytes : lane.sizeBytes);
      while (lane.mayAskAhead && this.#queue.uncutBytes > 0) lane.start(this.#queue.cut(sizeBytes()));
    }
    if (left.aborted) this.#onLeft();
    if (signal.aborted) this.#onCancelled();
    this.#onDelivered();
    this.#work();
  }

  /** Gives every lane that is free something to do, and plans when to look again. */
  #work(): void {
    if (this.#isOver || this.#room.isPaused || this.#queue.hasAll) return;
    clearTimeout(this.#timer);
    this.#fitIntoMemory();
    this.#freeLaneForNext();
    if (this.#shares.isCounted) this.#queue.join();
    const mostLanes = this.#shares.most();
    let forMs = this.#room.isTight ? ROOM_CHECK_MS : LONGEST_SLEEP_MS;
    let forBytes = Number.POSITIVE_INFINITY;
    const { ready, untilReadyMs } = this.#rests.look();
    // Where not all may work, those that have a connection go on: others would open theirs beside it.
    if (mostLanes < this.#lanes.length) ready.sort((one, other) => Number(other.isOpen) - Number(one.isOpen));
    // An origin counts connections, also those that rest.
    let connections = this.#shares.busy;
    for (const lane of ready) {
      if (this.#growth.isAlone && lane.index > 0) continue;
      if (connections >= mostLanes) {
        lane.drop();
        forMs = Math.min(forMs, ROOM_CHECK_MS);
        continue;
      }
      if (this.#isHoldingUp(lane)) {
        this.#removeDegraded(lane);
        // There is more to do for those that have chosen already.
        forMs = 0;
        continue;
      }
      const choice = chooseBlock(
        lane,
        this.#shares.besides(lane),
        this.#queue,
        this.#init.config,
        this.#room.isTight,
      );
      if (choice.is === 'wait') {
        if (lane.isOpen) connections += 1;
        forMs = Math.min(forMs, choice.forMs);
        forBytes = Math.min(forBytes, choice.forBytes);
        continue;
      }
      connections += 1;
      const { block, isLate } = choice;
      const { nextByte: startByte, endByte } = block;
      if (isLate) this.#init.observe({ type: 'block-asked-again', lane: lane.index, startByte, endByte });
      if (lane.isRemoved) this.#trials.begin(lane.index);
      lane.isRemoved = false;
      lane.start(block);
    }
    if (!this.#room.isTight && this.#shares.busy <= mostLanes) {
      const forMoreBytes = askAhead(this.#lanes, this.#shares, this.#queue, this.#init);
      forBytes = Math.min(forBytes, forMoreBytes);
    }
    this.#workAtByte = this.#queue.headByte + forBytes;
    const nextMs = Math.max(LEAST_SLEEP_MS, Math.min(untilReadyMs, forMs));
    this.#timer = setTimeout(() => this.#work(), nextMs);
  }

  #usualStartMs(): number {
    const known = this.#lanes.flatMap(({ meter }) => meter.leastStartMs ?? []);
    return known.length > 0 ? Math.min(...known) : 0;
  }

  /** Whether a lane in service holds the others up, as far as they are measured. */
  #isHoldingUp(lane: Lane): boolean {
    if (lane.isRemoved) return false;
    const others = this.#lanes.filter((other) => other !== lane && !other.isRemoved);
    return isDegraded(
      lane.record,
      others.map(({ record }) => record),
      this.#init.config,
    );
  }

  /** Bytes of a block have come, and are with the carrier. */
  #onBytes(fetch: LaneFetch, bytes: number): void {
    const { block } = fetch;
    const isFirst = bytes > 0 && fetch.atByte === fetch.fromByte;
    this.#comeBytes += bytes;
    this.#rests.noteProgress(bytes);
    if (isFirst) this.#rests.noteGiven();
    this.#trials.noteBytes(bytes);
    fetch.atByte += bytes;
    this.#queue.note(block, fetch.atByte);
    // What remains is the client's to read, however long that takes: nothing upstream waits for it.
    if (this.#queue.hasAll) this.#rest();
    else if (block.nextByte === block.endByte) this.#takeFromOthers(fetch);
    this.#onDelivered();
    if (this.#room.isClientBehind) this.#growth.noteWaiting();
    const needsOthers = this.#growth.noteBytes(bytes);
    // A block that flows is late at another time than one that does not; of one that is whole more is told at once.
    if ((isFirst && fetch.atByte < block.endByte) || needsOthers) this.#work();
  }

  /** Its block has come whole: whoever was asked for it, too, has lost it. */
  #takeFromOthers(fetch: LaneFetch): void {
    for (const lane of this.#lanes) {
      const other = lane.fetchOf(fetch.block);
      if (other && other !== fetch && lane.lose(other)) this.#rests.afterNoAnswer(lane);
    }
  }

  #onWhole(fetch: LaneFetch, lane: Lane): void {
    lane.noteBlock(fetch);
    this.#init.onBlock?.();
    const inService = this.#shares.atWork.lanes.filter(({ isRemoved }) => !isRemoved);
    const { config, promise } = this.#init;
    lane.loadBytes = adaptedLoadBytes(lane, inService, config, config.spread ? undefined : promise);
    if (lane.isMeasured && this.#trials.hasLowered(lane.index)) this.#removeDegraded(lane);
    this.#work();
  }

  #removeDegraded(lane: Lane): void {
    this.#rests.remove(lane, 'degraded');
    this.#trials.noteChange();
  }

  #onFailed(failure: LonghaulError, lane: Lane, wasGivenBack: boolean): void {
    this.#growth.useAll();
    if (wasGivenBack) {
      this.#work();
      return;
    }
    this.#init.observe({ type: 'lane-broke', lane: lane.index, code: failure.code });
    this.#trials.noteChange();
    if (failure instanceof OriginBusy && lane.isProved) this.#shares.noteRefusal();
    if (this.#init.onBlockFailed?.(failure, lane.isProved) === true) {
      this.#rests.pause(lane);
      this.#work();
      return;
    }
    const end = this.#rests.afterFailure(lane, failure);
    if (end) this.#end('upstream-broke', end);
    else this.#work();
  }

  /** The carrier has gone on, or the client takes bytes again. */
  #onCarried(): void {
    this.#onDelivered();
    if (this.#isOver || !this.#room.mayResume) return;
    this.#trials.resume();
    this.#room.resume();
    this.#work();
  }

  /** Looks what the client has, and what waits for it. */
  #onDelivered(): void {
    this.#room.noteHeld();
    this.#queue.deliver(this.#carrier.headByte);
    if (this.#queue.isComplete) this.#end('complete');
    if (this.#queue.headByte >= this.#workAtByte) this.#work();
    if (this.#isOver || this.#room.isPaused) return;
    this.#fitIntoMemory();
    if (this.#room.isNextLeft) this.#work();
    if (!this.#room.isFull) return;
    clearTimeout(this.#timer);
    this.#trials.pause();
    this.#room.pause();
  }

  #fitIntoMemory(): void {
    if (this.#room.fitIntoMemory()) this.#work();
  }

  /**
   * While memory is tight all lanes rest but the one that brings what is next. Where that is gone, the one
   * that is furthest ahead takes its place.
   */
  #freeLaneForNext(): void {
    if (!this.#room.isNextLeft) return;
    this.#room.takeNext();
    if (this.#rests.look().ready.length > 0 && this.#shares.busy < this.#shares.most()) return;
    this.#room.dropFurthest();
  }

  /** Whether what comes says nothing of the ways. */
  get #isHeldUp(): boolean {
    const { isPaused, isTight } = this.#room;
    const isStopped = this.#isOver || isPaused || isTight || this.#carrier.isBlocked;
    // At the end lanes have less and less to do.
    const isAtEnd = this.#queue.hasAll || this.#queue.uncutBytes === 0;
    const isRefused = this.#shares.isCounted || this.#rests.isToBeLeftAlone;
    return isStopped || isAtEnd || isRefused || this.#shares.busy === 0;
  }

  /** What lanes have shown was of the ways that they leave. */
  #reopen(): void {
    if (this.#isOver || this.#queue.hasAll) return;
    for (const lane of this.#lanes) {
      lane.drop();
      lane.forget();
      lane.loadBytes = firstLoadBytes(this.#init.config, this.#lanes.length);
      lane.isProved = false;
    }
    this.#trials.noteChange();
    this.#work();
  }

  /** Closes all lanes and looks for nothing more. */
  #rest(): void {
    clearTimeout(this.#timer);
    for (const lane of this.#lanes) lane.drop();
  }

  #end(outcome: LanesEnd['outcome'], failure?: LonghaulError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopWatch();
    this.#rest();
    this.#init.left.removeEventListener('abort', this.#onLeft);
    this.#init.signal.removeEventListener('abort', this.#onCancelled);
    void this.#carrier.close().then(() => {
      this.#init.memory.leave();
      this.#resolve({ outcome, bytes: this.#carrier.headByte - this.#init.part.startByte, failure });
    });
  }
}
