import type { Duplex } from 'node:stream';

/** Of what a caller sends before its tunnel stands, so much goes along at most; the rest waits in its connection. */
const MOST_EARLY_BYTES = 65_536;

/**
 * What is to reach the far end of a way as the first, and is there before the way is. It goes along with the
 * making: what has come by then in one piece with the request for the next tunnel, the rest as it comes. A
 * first flight of TLS is larger than one packet, and worth nothing to the origin without its end.
 */
export class EarlyBytes {
  readonly #chunks: Buffer[];
  readonly #source: Duplex | undefined;
  #sizeBytes: number;

  /** `first` is there already; more may come from `source`, which nobody else reads until the way stands. */
  constructor(first: Buffer, source?: Duplex) {
    this.#chunks = first.length > 0 ? [first] : [];
    this.#sizeBytes = first.length;
    this.#source = source;
  }

  /** How much has been taken from the source or was there at first. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /**
   * Writes all of it to `sink`, from the beginning on, and what comes later until the returned function is
   * called. May be called for another sink, when this one has failed.
   */
  sendOver(sink: Duplex): () => void {
    this.#take();
    for (const chunk of this.#chunks) sink.write(chunk);
    const source = this.#source;
    if (!source) return () => undefined;
    const onReadable = () => {
      const chunk = this.#take();
      if (chunk && !sink.destroyed) sink.write(chunk);
    };
    source.on('readable', onReadable);
    return () => source.off('readable', onReadable);
  }

  /** What has come meanwhile. Never reads up to the end of the source: that is for the relay to meet. */
  #take(): Buffer | undefined {
    const room = MOST_EARLY_BYTES - this.#sizeBytes;
    const sizeBytes = Math.min(room, this.#source?.readableLength ?? 0);
    const chunk = sizeBytes > 0 ? (this.#source?.read(sizeBytes) as Buffer | null) : null;
    if (chunk === null) return undefined;
    this.#chunks.push(chunk);
    this.#sizeBytes += chunk.length;
    return chunk;
  }
}
