/** Where what is held in memory is counted, one number each, for all threads that hold some of it. */
export interface HeldCounters {
  /** Of all transfers. */
  readonly all: SharedArrayBuffer;
  /** Of one client network. */
  readonly network: SharedArrayBuffer;
  /** Of one transfer. */
  readonly own: SharedArrayBuffer;
  /** What all transfers may hold together, less than 2 GiB. */
  readonly capacityBytes: number;
}

/** What one transfer may hold in any case: a block of a slow lane, so that it goes on however little room there is. */
export const LEAST_HELD_BYTES = 262_144;
/**
 * What a transfer reads at once while it holds the least at most and there is no room for more: it passes the
 * least by no more.
 */
export const LEAST_READ_BYTES = 65_536;

/** Memory for one counter. */
export function newCounter(): SharedArrayBuffer {
  return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
}

/** Counts what one transfer holds, in any thread. */
export class HeldCount {
  readonly #all: Int32Array;
  readonly #network: Int32Array;
  readonly #own: Int32Array;
  readonly #capacityBytes: number;

  constructor({ all, network, own, capacityBytes }: HeldCounters) {
    this.#all = new Int32Array(all);
    this.#network = new Int32Array(network);
    this.#own = new Int32Array(own);
    this.#capacityBytes = capacityBytes;
  }

  /** Counts bytes that came, or, below 0, that went. */
  note(changeBytes: number): void {
    if (changeBytes === 0) return;
    Atomics.add(this.#own, 0, changeBytes);
    Atomics.add(this.#network, 0, changeBytes);
    Atomics.add(this.#all, 0, changeBytes);
  }

  /**
   * How much its transfer may read at once: little or nothing where its network holds more than it leaves
   * free (see `FairRoom`).
   */
  get roomBytes(): number {
    const freeBytes = this.#capacityBytes - Atomics.load(this.#all, 0);
    if (Atomics.load(this.#network, 0) <= freeBytes) return Number.POSITIVE_INFINITY;
    return Atomics.load(this.#own, 0) > LEAST_HELD_BYTES ? 0 : LEAST_READ_BYTES;
  }

  /** Whether its transfer may hold no more for now. */
  get isTight(): boolean {
    return this.roomBytes === 0;
  }

  /** The transfer is over and holds nothing, whatever was on its way between threads. */
  clear(): void {
    this.note(-Atomics.load(this.#own, 0));
  }
}
