/** Bytes of a file that have come in a row, before those in front of them. */
export interface Run<Store> {
  readonly startByte: number;
  /** The first byte that has not come. */
  endByte: number;
  /** Where the bytes are. */
  readonly store: Store;
}

/**
 * What has come of a file that is wanted in order: the first byte that has not been given, and the runs behind it. Each
 * byte is in one of them at most, whoever brings it and however often.
 */
export class FileRuns<Store> {
  readonly #newStore: () => Store;
  /** In order, with no byte in two of them; some may touch. */
  readonly #runs: Run<Store>[] = [];
  #headByte: number;
  #heldBytes = 0;

  constructor(startByte: number, newStore: () => Store) {
    this.#headByte = startByte;
    this.#newStore = newStore;
  }

  /** The first byte that has not been given. */
  get headByte(): number {
    return this.#headByte;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The run whose bytes could be given now. */
  get front(): Run<Store> | undefined {
    const [run] = this.#runs;
    return run && run.startByte <= this.#headByte ? run : undefined;
  }

  /** The first byte that could not be given now. */
  get readyByte(): number {
    let readyByte = this.#headByte;
    for (const { startByte, endByte } of this.#runs) {
      if (startByte > readyByte) break;
      readyByte = endByte;
    }
    return readyByte;
  }

  /** How many bytes from this one on are there, or were given. */
  knownBytes(atByte: number): number {
    let nextByte = Math.max(atByte, this.#headByte);
    for (const { startByte, endByte } of this.#runs) {
      if (startByte > nextByte) break;
      nextByte = Math.max(nextByte, endByte);
    }
    return nextByte - atByte;
  }

  /** How many bytes from this one on are missing, of which the first one is. */
  missingBytes(atByte: number): number {
    const next = this.#runs.find(({ startByte }) => startByte > atByte);
    return (next?.startByte ?? Number.POSITIVE_INFINITY) - atByte;
  }

  /** The run to whose end bytes that begin here are put; the first one must be missing. */
  runAt(atByte: number): Run<Store> {
    const behind = this.#runs.findIndex(({ startByte }) => startByte > atByte);
    const index = behind < 0 ? this.#runs.length : behind;
    const before = this.#runs[index - 1];
    if (before?.endByte === atByte) return before;
    const run = { startByte: atByte, endByte: atByte, store: this.#newStore() };
    this.#runs.splice(index, 0, run);
    return run;
  }

  /** Nothing could be put into a run that was made for it. */
  dropIfEmpty(run: Run<Store>): void {
    if (run.startByte === run.endByte) this.#runs.splice(this.#runs.indexOf(run), 1);
  }

  /** So many bytes have been put to the end of a run. */
  grow(run: Run<Store>, bytes: number): void {
    run.endByte += bytes;
    this.#heldBytes += bytes;
  }

  /** So many bytes have been given out of the front run. */
  give(bytes: number): void {
    this.#headByte += bytes;
    this.#heldBytes -= bytes;
    if (this.#runs[0]?.endByte === this.#headByte) this.#runs.shift();
  }

  /** So many bytes have been given that were in none of the runs. */
  pass(bytes: number): void {
    this.#headByte += bytes;
  }

  /** Takes all runs out. */
  takeAll(): readonly Run<Store>[] {
    this.#heldBytes = 0;
    return this.#runs.splice(0);
  }
}
