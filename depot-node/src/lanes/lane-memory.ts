import { HeldCount, type HeldCounters, newCounter } from '../relay/held-count.ts';

/** What one transfer holds of the memory of all lanes. */
export interface TransferMemory {
  /** Takes note of bytes that came, or, below 0, that went. */
  readonly note: (changeBytes: number) => void;
  /** Whether this transfer has to take nothing more for now than what the client gets next. */
  readonly isTight: () => boolean;
  /** Where a relay thread counts what it holds of the transfer. */
  readonly counters?: HeldCounters;
  /** The transfer is over; may be told again. */
  readonly leave: () => void;
}

/**
 * The memory in which lanes keep what came before its turn, or before its client reads: bounded over all
 * transfers, however many there are. A client network that holds more than it leaves free gets nothing more
 * until some of it has gone (see `FairRoom`). Relay threads look before each read; so the bound is passed by
 * one read of each thread and, of each transfer, the least and one small read, by no more.
 */
export class LaneMemory {
  readonly #capacityBytes: number;
  readonly #all = newCounter();
  readonly #networks = new Map<string, { readonly counter: SharedArrayBuffer; transfers: number }>();

  constructor(capacityBytes: number) {
    this.#capacityBytes = capacityBytes;
  }

  /** What all transfers hold. */
  get heldBytes(): number {
    return Atomics.load(new Int32Array(this.#all), 0);
  }

  /** The memory of one more transfer, for a client of this network. */
  join(name: string): TransferMemory {
    const network = this.#networks.get(name) ?? { counter: newCounter(), transfers: 0 };
    this.#networks.set(name, network);
    network.transfers += 1;
    const counters: HeldCounters = {
      all: this.#all,
      network: network.counter,
      own: newCounter(),
      capacityBytes: this.#capacityBytes,
    };
    const count = new HeldCount(counters);
    let isOver = false;
    return {
      note: (changeBytes) => count.note(changeBytes),
      isTight: () => count.isTight,
      counters,
      leave: () => {
        if (isOver) return;
        isOver = true;
        count.clear();
        network.transfers -= 1;
        if (network.transfers === 0) this.#networks.delete(name);
      },
    };
  }
}
