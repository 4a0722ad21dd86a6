/** Fills a buffer with what there is, waits when there is nothing; 0 at the end. */
export type ReadChunk = (chunk: Buffer) => number;

const CHUNK_BYTES = 64 * 1024;

/** Lines from a descriptor that is read without an event loop. */
export class LineInput {
  readonly #read: ReadChunk;
  readonly #chunk = Buffer.alloc(CHUNK_BYTES);
  #rest = Buffer.alloc(0);

  constructor(read: ReadChunk) {
    this.#read = read;
  }

  /** The next line, however long that takes; undefined at the end of the input. */
  readLine(): string | undefined {
    for (;;) {
      const line = this.#takeLine();
      if (line !== undefined) return line;
      if (!this.#fill()) return undefined;
    }
  }

  /** Reads once, and gives all lines that are complete now; undefined at the end of the input. */
  readAvailable(): string[] | undefined {
    if (!this.#fill()) return undefined;
    const lines: string[] = [];
    for (let line = this.#takeLine(); line !== undefined; line = this.#takeLine()) lines.push(line);
    return lines;
  }

  #takeLine(): string | undefined {
    const end = this.#rest.indexOf('\n');
    if (end < 0) return undefined;
    const line = this.#rest.toString('utf8', 0, end);
    this.#rest = this.#rest.subarray(end + 1);
    return line;
  }

  /** Whether the input goes on. */
  #fill(): boolean {
    try {
      const sizeBytes = this.#read(this.#chunk);
      this.#rest = Buffer.concat([this.#rest, this.#chunk.subarray(0, sizeBytes)]);
      return sizeBytes > 0;
    } catch (failure) {
      // Nothing there yet after all, on a descriptor that does not wait.
      if ((failure as NodeJS.ErrnoException).code === 'EAGAIN') return true;
      // The driver died with answers unread.
      return false;
    }
  }
}
