import type { Part } from '../origin/representation.ts';
import type { LaneFetch } from './lane-fetch.ts';
import type { LaneMeter } from './lane-meter.ts';

/** A rate needs this much time to show in bytes that come in bursts. */
const TELLING_MS = 100;
/**
 * A new connection has brought its first block after so many times the delay of its first byte; measured over
 * three depots, with TLS and without.
 */
const STARTS = 2;

/** What a lane is expected to be like before it has shown it. */
export interface LaneExpectations {
  /** Until the first byte over a new connection, as the transfer has seen it; 0 before it has seen one. */
  readonly usualStartMs: () => number;
  /** What one connection brings by the plan's promise; `undefined` without one. */
  readonly promisedBytesPerMs: number | undefined;
}

interface ForecastLane {
  /** What it was asked for, in order: the first one comes now. */
  readonly fetches: readonly LaneFetch[];
  readonly fetch: LaneFetch | undefined;
  readonly meter: LaneMeter;
  readonly isOpen: boolean;
  readonly isPaused: boolean;
}

/** When a lane will have brought what: by what it has shown, before that by what is expected of it. */
export class LaneForecast {
  readonly #lane: ForecastLane;
  readonly #expected: LaneExpectations;

  constructor(lane: ForecastLane, expected: LaneExpectations) {
    this.#lane = lane;
    this.#expected = expected;
  }

  /**
   * Whether it has been answered and brings more: one that stands still for longer than a new connection
   * needs is not counted on.
   */
  get isFlowing(): boolean {
    const { fetch, isPaused, meter } = this.#lane;
    if (!fetch || meter.leastDelayMs === undefined || isPaused) return false;
    const { watch, lastByteMs, toldWithinMs } = fetch;
    const stillMs = watch.elapsedMs - Math.max(lastByteMs, this.#firstByteMs(fetch)) - toldWithinMs;
    return stillMs <= this.#usualStartMs;
  }

  /** Bytes that it was asked for and has not brought. */
  get askedBytes(): number {
    return this.#lane.fetches.reduce((sum, { block, atByte }) => sum + block.endByte - atByte, 0);
  }

  /** What it brings; before it has shown that, what the plan promises of one connection, or `undefined`. */
  get likelyBytesPerMs(): number | undefined {
    return this.#lane.meter.bytesPerMs ?? this.#expected.promisedBytesPerMs;
  }

  /** Until it is free. */
  get busyMs(): number {
    const last = this.#lane.fetches.at(-1);
    return last ? this.remainingMs(last) : 0;
  }

  /** Until the first byte of a block comes that it is asked for now. */
  get freeInMs(): number {
    const { fetch, meter } = this.#lane;
    return fetch ? this.busyMs : (meter.leastDelayMs ?? 0);
  }

  /**
   * Until a lane that has shown no rate has brought its first block: its connection comes about, and then
   * finds its rate over a line that others fill.
   */
  get untilFirstMs(): number {
    return STARTS * this.#usualStartMs;
  }

  /** How long so many bytes take once they come; `undefined` when it has shown no rate. */
  flowMs(sizeBytes: number): number | undefined {
    const { bytesPerMs } = this.#lane.meter;
    return bytesPerMs === undefined ? undefined : sizeBytes / bytesPerMs;
  }

  /** Until it would have brought so many bytes that it is asked for now; `undefined` when it has shown no rate. */
  inMs(sizeBytes: number): number | undefined {
    const flowMs = this.flowMs(sizeBytes);
    return flowMs === undefined ? undefined : this.freeInMs + flowMs;
  }

  /** How long this lane would need for so many bytes; `undefined` when it has shown no rate. */
  neededMs({ startByte, endByte }: Part): number | undefined {
    const { isOpen, meter } = this.#lane;
    const { leastDelayMs = 0 } = meter;
    const flowMs = this.flowMs(endByte - startByte);
    // A connection that has to be made may take a leg that stands ready no more.
    const firstMs = isOpen ? leastDelayMs : Math.max(2 * leastDelayMs, this.#usualStartMs);
    return flowMs === undefined ? undefined : firstMs + flowMs;
  }

  /** How long a fetch will still take, as far as it and those before it show. */
  remainingMs(fetch: LaneFetch): number {
    let remainingMs = 0;
    for (const asked of this.#lane.fetches) {
      remainingMs += asked === this.#lane.fetch ? this.#runningMs(asked) : this.#behindMs(asked);
      if (asked === fetch) break;
    }
    return remainingMs;
  }

  /** Until the running fetch will still take more than `limitMs`, if nothing more of it comes; 0: it will. */
  untilRemainsMs(fetch: LaneFetch, limitMs: number): number {
    const running = this.#lane.fetch;
    if (!running || this.remainingMs(fetch) > limitMs) return 0;
    if (running !== fetch)
      return this.untilRemainsMs(running, limitMs - (this.remainingMs(fetch) - this.remainingMs(running)));
    const { block, fromByte, atByte, watch, firstByteMs, lastByteMs, toldWithinMs } = fetch;
    const elapsedMs = watch.elapsedMs;
    if (firstByteMs === undefined) return limitMs + this.#patienceMs(fetch) - elapsedMs;
    const flowingMs = elapsedMs - firstByteMs - toldWithinMs;
    if (flowingMs < TELLING_MS) return TELLING_MS - flowingMs;
    const slowInMs = (limitMs * (atByte - fromByte)) / (block.endByte - atByte) - flowingMs;
    return Math.min(slowInMs, limitMs - (elapsedMs - lastByteMs - toldWithinMs));
  }

  /** Whether what nobody wants any more is there sooner than a new connection would be. */
  isSoonRead(fetch: LaneFetch): boolean {
    return this.remainingMs(fetch) <= this.#usualStartMs;
  }

  /**
   * Whether nothing has come over a connection that was made for this fetch, for longer than one needs for
   * its first block.
   */
  isUnanswered({ isOpening, hasRested, firstByteMs, watch }: LaneFetch): boolean {
    return isOpening && !hasRested && firstByteMs === undefined && watch.elapsedMs > this.untilFirstMs;
  }

  #behindMs({ block, atByte }: LaneFetch): number {
    return (block.endByte - atByte) / (this.#lane.meter.bytesPerMs ?? Number.POSITIVE_INFINITY);
  }

  #runningMs(fetch: LaneFetch): number {
    const { block, fromByte, atByte, watch, firstByteMs, lastByteMs } = fetch;
    const { bytesPerMs } = this.#lane.meter;
    const elapsedMs = watch.elapsedMs;
    const restBytes = block.endByte - atByte;
    if (firstByteMs === undefined) {
      const delayMs = this.#firstByteMs(fetch);
      const flowMs = bytesPerMs === undefined ? 0 : restBytes / bytesPerMs;
      // The longer nothing comes, the longer it will take.
      return Math.max(Math.max(0, delayMs - elapsedMs) + flowMs, elapsedMs - this.#patienceMs(fetch));
    }
    // Since it was told of last, as much may have come as before.
    const untoldMs = Math.min(fetch.toldWithinMs, elapsedMs - lastByteMs);
    const flowingMs = elapsedMs - firstByteMs - untoldMs;
    // The longer it stands still, the longer it will: TCP doubles its time-out.
    const stillMs = elapsedMs - lastByteMs - untoldMs;
    if (flowingMs < TELLING_MS) return restBytes / (bytesPerMs ?? Number.POSITIVE_INFINITY);
    return Math.max(stillMs, (restBytes * flowingMs) / Math.max(1, atByte - fromByte));
  }

  /** Until a first byte comes over a connection that has to be made. */
  get #usualStartMs(): number {
    return this.#lane.meter.leastStartMs ?? this.#expected.usualStartMs();
  }

  /** When the first byte of a fetch comes, as its watch counts. */
  #firstByteMs({ isAhead, isOpening }: LaneFetch): number {
    // Asked for ahead, its answer was on the way already.
    if (isAhead) return 0;
    const { leastDelayMs } = this.#lane.meter;
    return isOpening || leastDelayMs === undefined ? this.#usualStartMs : leastDelayMs;
  }

  /** How long no byte of it says nothing: the connection may still be on its way, and nothing is known of that. */
  #patienceMs({ isAhead }: LaneFetch): number {
    return isAhead || this.#lane.meter.leastStartMs !== undefined ? 0 : this.#usualStartMs;
  }
}
