import type { LonghaulError } from '@longhaul/shared';
import { AddressRefused, OriginBusy } from '../origin/joined-part.ts';
import type { LaneEvent, LaneRemoval } from '../plane/events.ts';
import type { Lane } from './lane.ts';
import type { LanesConfig } from './lanes-config.ts';

/** First wait before a lane that broke twice is opened again; it doubles. */
const FIRST_BACKOFF_MS = 250;
/** Longest of these waits. */
const LONGEST_BACKOFF_MS = 4000;

interface RestsComponents {
  readonly config: LanesConfig;
  readonly nowMs: () => number;
  readonly observe: (event: LaneEvent) => void;
}

/** What lanes that fetch nothing may do. */
interface LanesAtRest {
  /** May take a block now, the fastest first. */
  readonly ready: Lane[];
  /** Until the first of the others may; infinite when none rests. */
  readonly untilReadyMs: number;
}

/** Which lanes may take a block when: how long they rest after failures, and when no lane is left. */
export class LaneRests {
  readonly #lanes: readonly Lane[];
  readonly #components: RestsComponents;
  /** Times that no lane was left, with next to nothing brought between them. */
  #rounds = 0;
  #bytesSinceRound = 0;
  /** Until then the origin wants no further connection. */
  #noNewBeforeMs = Number.NEGATIVE_INFINITY;
  /** Whose address was refused last, while no block has begun to come since. */
  #refused: Lane | undefined;

  constructor(lanes: readonly Lane[], components: RestsComponents) {
    this.#lanes = lanes;
    this.#components = components;
  }

  /**
   * Which lanes may take a block, and how long the others rest: at one moment, or one that ends its rest
   * meanwhile is in neither.
   */
  look(): LanesAtRest {
    const nowMs = this.#components.nowMs();
    const free = this.#lanes.filter((lane) => !lane.fetch);
    const untilMs = (lane: Lane) => this.#readyAtMs(lane) - nowMs;
    return {
      ready: free
        .filter((lane) => untilMs(lane) <= 0)
        .toSorted((one, other) => (other.meter.bytesPerMs ?? 0) - (one.meter.bytesPerMs ?? 0)),
      untilReadyMs: Math.min(Number.POSITIVE_INFINITY, ...free.map(untilMs).filter((waitMs) => waitMs > 0)),
    };
  }

  /** Counts bytes that have come. A few do not show that the origin works: it may send one byte at each try. */
  noteProgress(sizeBytes: number): void {
    this.#bytesSinceRound += sizeBytes;
    if (this.#bytesSinceRound >= this.#components.config.leastBlockBytes) this.#rounds = 0;
  }

  /** Notes that a block has begun to come. */
  noteGiven(): void {
    this.#refused = undefined;
  }

  /** Whether the origin wants no further connection for now: those that are open had better stay so. */
  get isToBeLeftAlone(): boolean {
    return this.#components.nowMs() < this.#noNewBeforeMs;
  }

  /** Takes a lane out of service, at least for a time; each time for twice as long. */
  remove(lane: Lane, reason: LaneRemoval, leastMs = 0): void {
    const restMs = Math.max(lane.retryMs, leastMs);
    lane.drop();
    lane.forget();
    lane.isRemoved = true;
    lane.isProved = false;
    lane.notBeforeMs = this.#components.nowMs() + restMs;
    lane.retryMs *= 2;
    this.#components.observe({ type: 'lane-removed', lane: lane.index, reason, restMs });
  }

  /** Lets a lane rest for a moment, in which another connection ends. */
  pause(lane: Lane): void {
    lane.notBeforeMs = this.#components.nowMs() + FIRST_BACKOFF_MS;
  }

  /**
   * Counts a connection that had not answered when another lane brought its block. Once its way may be slow,
   * and the next block is chosen by what that has shown; again, its origin lets connections wait that it does
   * not want.
   */
  afterNoAnswer(lane: Lane): void {
    lane.failures += 1;
    if (lane.failures > 1) this.remove(lane, 'unanswered');
  }

  /** Lets a lane rest after its fetch failed. Gives what ends the transfer, when something does. */
  afterFailure(lane: Lane, failure: LonghaulError): LonghaulError | undefined {
    if (this.#hasLapsed(lane, failure)) return failure;
    const { config, nowMs } = this.#components;
    const isBusy = failure instanceof OriginBusy;
    const restMs = isBusy ? (failure.retryAfterSeconds ?? 0) * 1000 : 0;
    lane.failures += 1;
    lane.notBeforeMs = nowMs() + Math.max(restMs, backoffMs(lane.failures));
    if (restMs > 0) this.#noNewBeforeMs = Math.max(this.#noNewBeforeMs, lane.notBeforeMs);
    const isAlone = this.#lanes.every((other) => !other.fetch && !other.isOpen);
    // Servers behind one name may differ in what they call a version: this connection met another one than the others.
    const isOther = failure.code === 'origin-changed';
    if (isOther && isAlone) return failure;
    // An origin or a way that takes no more connections than it has: fewer lanes.
    if (!isAlone && (isOther || isBusy || !lane.isProved))
      this.remove(lane, isOther ? 'other-version' : 'refused', restMs);
    if (!isAlone) return undefined;
    this.#rounds += 1;
    this.#bytesSinceRound = 0;
    if (this.#rounds > config.tries) return failure;
    return this.#bringBackSoonest() > config.longestWaitSeconds * 1000 ? failure : undefined;
  }

  /**
   * Whether two lanes that had brought blocks were refused one after the other, with none that began to come
   * between: so would all be.
   */
  #hasLapsed(lane: Lane, failure: LonghaulError): boolean {
    if (!(failure instanceof AddressRefused) || !lane.isProved) return false;
    const isSecond = this.#refused !== undefined && this.#refused !== lane;
    this.#refused = lane;
    return isSecond;
  }

  /** With no lane at work the one that rests least is tried again soon. Gives how long that is. */
  #bringBackSoonest(): number {
    const nowMs = this.#components.nowMs();
    const [lane] = this.#lanes.toSorted((one, other) => this.#readyAtMs(one) - this.#readyAtMs(other));
    if (!lane) return Number.POSITIVE_INFINITY;
    const soonMs = nowMs + backoffMs(this.#rounds);
    lane.notBeforeMs = Math.max(Math.min(lane.notBeforeMs, soonMs), this.#noNewBeforeMs);
    return lane.notBeforeMs - nowMs;
  }

  #readyAtMs(lane: Lane): number {
    // One that ends its connections after each block is not asked for more of them.
    const isNew = !lane.isOpen && !lane.isProved;
    return isNew ? Math.max(lane.notBeforeMs, this.#noNewBeforeMs) : lane.notBeforeMs;
  }
}

/** None at first: connections that were kept open end at any time without a fault. */
function backoffMs(failures: number): number {
  return failures <= 1 ? 0 : Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures - 2));
}
