/** What one transfer may hold in any case: a block of a slow lane, so that it goes on however little room there is. */
const LEAST_HELD_BYTES = 262_144;

/** What one transfer holds of the memory of all lanes. */
export interface TransferMemory {
  /** Takes note of bytes that came, or, below 0, that went. */
  readonly note: (changeBytes: number) => void;
  /** Whether this transfer has to take nothing more for now than what the client gets next. */
  readonly isTight: () => boolean;
}

/**
 * The memory in which lanes keep what came before its turn, or before its client reads: bounded over all transfers, however
 * many there are. What has come is counted and never refused; a client network that holds more than it leaves free gets
 * nothing more until some of it has gone (see `FairRoom`).
 */
export class LaneMemory {
  readonly #capacityBytes: number;
  readonly #held = new Map<string, number>();
  #allBytes = 0;

  constructor(capacityBytes: number) {
    this.#capacityBytes = capacityBytes;
  }

  /** What all transfers hold. */
  get heldBytes(): number {
    return this.#allBytes;
  }

  /** The memory of one more transfer, for a client of this network. */
  join(network: string): TransferMemory {
    let ownBytes = 0;
    return {
      note: (changeBytes) => {
        ownBytes += changeBytes;
        this.#allBytes += changeBytes;
        const heldBytes = (this.#held.get(network) ?? 0) + changeBytes;
        if (heldBytes === 0) this.#held.delete(network);
        else this.#held.set(network, heldBytes);
      },
      isTight: () => {
        const freeBytes = this.#capacityBytes - this.#allBytes;
        return ownBytes > LEAST_HELD_BYTES && (this.#held.get(network) ?? 0) > freeBytes;
      },
    };
  }
}
