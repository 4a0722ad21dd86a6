import { LARGE_BYTES, SmallChunks } from './small-chunks.ts';
import { TinyChunks } from './tiny-chunks.ts';

/** So many tiny chunks are told of at once: the kernel may bring fifty times as many within one turn. */
const TOLD_AT_ONCE = 500;

/** Passes large chunks on as they come, and small ones as few of which one turn of the event loop has brought. */
export class GatheredChunks {
  readonly #onChunk: (chunk: Buffer) => void;
  readonly #onTiny: (count: number) => void;
  readonly #small = new SmallChunks();
  #chunks: Buffer[] = [];
  #tiny = 0;

  /** `onTiny` is told how many tiny chunks have come, and may have the connection stopped before the turn is over. */
  constructor(onChunk: (chunk: Buffer) => void, onTiny: (count: number) => void) {
    this.#onChunk = onChunk;
    this.#onTiny = onTiny;
  }

  add(chunk: Buffer): void {
    if (chunk.length >= LARGE_BYTES) {
      // One turn may bring two megabytes: they do not wait behind a small chunk.
      this.flush();
      this.#onChunk(chunk);
      return;
    }
    if (this.#chunks.length === 0) setImmediate(() => this.flush());
    this.#small.add(this.#chunks, chunk);
    if (TinyChunks.isTiny(chunk)) this.#tiny += 1;
    if (this.#tiny >= TOLD_AT_ONCE) this.#tell();
  }

  /** Passes on what is there. */
  flush(): void {
    for (const chunk of this.#chunks.splice(0)) this.#onChunk(chunk);
    this.#tell();
  }

  #tell(): void {
    const tiny = this.#tiny;
    this.#tiny = 0;
    this.#onTiny(tiny);
  }
}
