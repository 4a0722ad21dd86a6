import { ReorderBuffer } from './reorder-buffer.ts';

/** The client's end. */
export interface LaneSink {
  /** Takes bytes, in order; `false` asks to wait for `drained` before the next. */
  write(chunk: Buffer): boolean;
  /** Resolves when more can be written; rejects when the client has left, or left its bytes unread for too long. */
  drained(): Promise<void>;
}

/** What is told of a carrier. */
export interface CarrierListener {
  /** It holds or has delivered other bytes than before, or the client takes bytes again. */
  readonly onChange: () => void;
  /** The client has left, or left its bytes unread for too long. */
  readonly onLeft: () => void;
}

/** Carries the bytes of a transfer to the client, each once and in order, in whatever order lanes bring them. */
export interface LaneCarrier {
  /** The first byte that the client has not been given. */
  readonly headByte: number;
  /** Bytes that have come before their turn, or before the client reads. */
  readonly heldBytes: number;
  /** Whether it counts itself what it holds, in the transfer's memory. */
  readonly isCounted: boolean;
  /** Whether the client takes nothing just now. */
  readonly isBlocked: boolean;
  /**
   * Takes bytes that this thread has read, some of which may have come already; they are the carrier's from
   * then on.
   */
  readonly put: (atByte: number, chunk: Buffer) => void;
  /** Delivers nothing more. Resolves when `headByte` is final. */
  readonly close: () => Promise<void>;
}

/** Begins to carry bytes from this one on. */
export type OpenCarrier = (startByte: number, listener: CarrierListener) => LaneCarrier;

/** Carries bytes through this thread. */
export function carryHere(sink: LaneSink): OpenCarrier {
  return (startByte, listener) => new HereCarrier(sink, startByte, listener);
}

class HereCarrier implements LaneCarrier {
  readonly isCounted = false;
  readonly #sink: LaneSink;
  readonly #listener: CarrierListener;
  readonly #buffer: ReorderBuffer;
  #isBlocked = false;
  #isClosed = false;

  constructor(sink: LaneSink, startByte: number, listener: CarrierListener) {
    this.#sink = sink;
    this.#listener = listener;
    this.#buffer = new ReorderBuffer(startByte);
  }

  get headByte(): number {
    return this.#buffer.headByte;
  }

  get heldBytes(): number {
    return this.#isClosed ? 0 : this.#buffer.heldBytes;
  }

  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  put(atByte: number, chunk: Buffer): void {
    this.#buffer.put(atByte, chunk);
    this.#deliver();
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return Promise.resolve();
  }

  /** Writes what is there in order, as far as the sink takes it. */
  #deliver(): void {
    while (!this.#isClosed && !this.#isBlocked) {
      const chunk = this.#buffer.take();
      if (!chunk) break;
      if (!this.#sink.write(chunk)) this.#awaitSink();
    }
  }

  #awaitSink(): void {
    this.#isBlocked = true;
    this.#sink.drained().then(() => {
      this.#isBlocked = false;
      this.#deliver();
      if (!this.#isClosed) this.#listener.onChange();
    }, this.#listener.onLeft);
  }
}
