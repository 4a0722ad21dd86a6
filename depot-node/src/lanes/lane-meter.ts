/** Delays are told apart no finer; a block that a paused lane had ready came at once. */
const LEAST_MS = 1;

/** What one lane's blocks have shown. */
export class LaneMeter {
  readonly #smoothing: number;
  /** Of the blocks that are not forgotten, and how long they took. */
  #bytes = 0;
  #ms = 0;
  #leastDelayMs: number | undefined;
  #leastStartMs: number | undefined;
  #blocks = 0;

  constructor(smoothing: number) {
    this.#smoothing = smoothing;
  }

  /** Rate with the wait for the first byte counted, x = w / T; `undefined` before it was measured. */
  get bytesPerMs(): number | undefined {
    return this.#ms === 0 ? undefined : this.#bytes / this.#ms;
  }

  /** Least delay from a question to its block's first byte; `undefined` before one has come. */
  get leastDelayMs(): number | undefined {
    return this.#leastDelayMs;
  }

  /** The same over a connection that had to be made first, from when that began. */
  get leastStartMs(): number | undefined {
    return this.#leastStartMs;
  }

  /** Blocks that told a rate. */
  get blocks(): number {
    return this.#blocks;
  }

  noteDelay(firstByteMs: number): void {
    this.#leastDelayMs = Math.min(this.#leastDelayMs ?? Number.POSITIVE_INFINITY, firstByteMs);
  }

  noteStart(firstByteMs: number): void {
    this.#leastStartMs = Math.min(this.#leastStartMs ?? Number.POSITIVE_INFINITY, firstByteMs);
  }

  /**
   * Counts the block's delay T in the average, New = a Old + (1 - a) Newest, each byte for what it took:
   * after so many bytes as a lane fetches at once, `loadBytes`, half is forgotten where a is a half. Block by
   * block, a burst of small ones would make a lane seem as fast as the burst.
   */
  noteBlock(sizeBytes: number, wholeMs: number, loadBytes = sizeBytes): void {
    const kept = this.#smoothing ** (sizeBytes / loadBytes);
    this.#bytes = kept * this.#bytes + sizeBytes;
    this.#ms = kept * this.#ms + Math.max(wholeMs, LEAST_MS);
    this.#blocks += 1;
  }
}
