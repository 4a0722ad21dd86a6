/** Delays are told apart no finer; a block that a paused lane had ready came at once. */
const LEAST_MS = 1;

/** What one lane's blocks have shown. */
export class LaneMeter {
  readonly #smoothing: number;
  #msPerByte: number | undefined;
  #leastDelayMs: number | undefined;
  #blocks = 0;

  constructor(smoothing: number) {
    this.#smoothing = smoothing;
  }

  /** Rate with the wait for the first byte counted, x = w / T; `undefined` before it was measured. */
  get bytesPerMs(): number | undefined {
    return this.#msPerByte === undefined ? undefined : 1 / this.#msPerByte;
  }

  /** Least delay to a block's first byte; `undefined` before one has come. */
  get leastDelayMs(): number | undefined {
    return this.#leastDelayMs;
  }

  /** Blocks that told a rate. */
  get blocks(): number {
    return this.#blocks;
  }

  noteDelay(firstByteMs: number): void {
    this.#leastDelayMs = Math.min(this.#leastDelayMs ?? Number.POSITIVE_INFINITY, firstByteMs);
  }

  /** Counts the block's delay T in the average: New = a Old + (1 - a) Newest, by byte, because sizes differ. */
  noteBlock(sizeBytes: number, wholeMs: number): void {
    const newest = Math.max(wholeMs, LEAST_MS) / sizeBytes;
    const old = this.#msPerByte;
    this.#msPerByte = old === undefined ? newest : this.#smoothing * old + (1 - this.#smoothing) * newest;
    this.#blocks += 1;
  }
}
