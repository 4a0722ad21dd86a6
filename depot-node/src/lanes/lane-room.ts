import type { LaneEvent } from '../plane/events.ts';
import type { Block, BlockQueue } from './block-queue.ts';
import type { Lane } from './lane.ts';
import type { LaneCarrier } from './lane-carrier.ts';
import type { TransferMemory } from './lane-memory.ts';

/**
 * Bytes in order that wait before lanes are stopped: a third of a second of 100 Mbit/s, so that pipes do not
 * run empty.
 */
const LONGEST_QUEUE_BYTES = 4_194_304;
/** The same where memory is tight. */
const LONGEST_TIGHT_QUEUE_BYTES = 131_072;

interface RoomComponents {
  readonly lanes: readonly Lane[];
  readonly queue: BlockQueue;
  readonly carrier: LaneCarrier;
  readonly memory: TransferMemory;
  readonly observe: (event: LaneEvent) => void;
}

/**
 * The room that a transfer has for what its client has not taken yet. Where too much waits for the client all
 * lanes are stopped, and while memory is tight all but the one that brings what is next.
 */
export class LaneRoom {
  readonly #components: RoomComponents;
  /** What `memory` knows of. */
  #notedBytes = 0;
  #isPaused = false;
  #isTight = false;

  constructor(components: RoomComponents) {
    this.#components = components;
  }

  /** Whether the lanes are stopped, because too much waits for the client. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Whether only the lane that brings what is next goes on, because all transfers together hold too much. */
  get isTight(): boolean {
    return this.#isTight;
  }

  /** Whether more waits for a client that takes nothing than what keeps its pipe from running empty. */
  get isClientBehind(): boolean {
    const { carrier, queue } = this.#components;
    return carrier.isBlocked && queue.readyBytes > LONGEST_TIGHT_QUEUE_BYTES;
  }

  /** Whether so much waits for a client that takes nothing that all lanes are to be stopped. */
  get isFull(): boolean {
    return this.#components.carrier.isBlocked && this.#isQueueLong;
  }

  /** Whether lanes that were stopped may go on. */
  get mayResume(): boolean {
    return this.#isPaused && !this.#isQueueLong;
  }

  /**
   * Whether memory is tight and no lane brings what is next: it was left to lanes that now rest, or asked for
   * behind what is not next, which then has to wait for room.
   */
  get isNextLeft(): boolean {
    const next = this.#next;
    if (!this.#isTight || !next) return false;
    return !this.#components.lanes.some(({ fetch }) => fetch?.block === next);
  }

  /** Has the memory of all transfers know what this one holds, unless its carrier does. */
  noteHeld(): void {
    const { carrier, memory } = this.#components;
    if (carrier.isCounted) return;
    const { heldBytes } = carrier;
    if (heldBytes !== this.#notedBytes) memory.note(heldBytes - this.#notedBytes);
    this.#notedBytes = heldBytes;
  }

  /** Stops all lanes. */
  pause(): void {
    this.#isPaused = true;
    for (const lane of this.#components.lanes) lane.pause();
  }

  /** Lets all lanes go on; whether memory is tight is to be looked at anew. */
  resume(): void {
    this.#isPaused = false;
    for (const lane of this.#components.lanes) lane.resume();
    this.#isTight = false;
  }

  /**
   * Stops the lanes that bring what is not next, while memory is tight. Gives whether it is tight no longer, so
   * that there is more to do.
   */
  fitIntoMemory(): boolean {
    const { lanes, memory, observe } = this.#components;
    const wasTight = this.#isTight;
    this.#isTight = memory.isTight();
    if (!wasTight && !this.#isTight) return false;
    if (!wasTight) observe({ type: 'lanes-tight' });
    const next = this.#next;
    for (const lane of lanes) {
      if (this.#isTight && lane.fetch && !(next && lane.fetchOf(next))) lane.pause();
      else lane.resume();
    }
    return wasTight && !this.#isTight;
  }

  /** Takes what is next from lanes that were asked for it behind something else. */
  takeNext(): void {
    const next = this.#next;
    for (const lane of this.#components.lanes) if (next && lane.fetchOf(next)) lane.drop();
  }

  /** Frees the lane that is furthest ahead: it takes the place of the one that brought what is next. */
  dropFurthest(): void {
    const startByte = ({ fetch }: Lane) => fetch?.block.startByte ?? 0;
    const [furthest] = this.#components.lanes
      .filter(({ fetch }) => fetch !== undefined)
      .toSorted((one, other) => startByte(other) - startByte(one));
    furthest?.drop();
  }

  get #next(): Block | undefined {
    return this.#components.queue.open[0];
  }

  get #isQueueLong(): boolean {
    const { readyBytes } = this.#components.queue;
    return readyBytes > (this.#isTight ? LONGEST_TIGHT_QUEUE_BYTES : LONGEST_QUEUE_BYTES);
  }
}
