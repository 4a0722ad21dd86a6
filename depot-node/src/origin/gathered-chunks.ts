import { LARGE_BYTES, SmallChunks } from './small-chunks.ts';
import { TinyChunks } from './tiny-chunks.ts';

/** Passes large chunks on as they come, and small ones as few of which one turn of the event loop has brought. */
export class GatheredChunks {
  readonly #onChunk: (chunk: Buffer) => void;
  readonly #onTiny: (count: number) => void;
  readonly #small = new SmallChunks();
  #chunks: Buffer[] = [];
  #tiny = 0;

  /** `onTiny` is told how many tiny chunks a turn has brought. */
  constructor(onChunk: (chunk: Buffer) => void, onTiny: (count: number) => void) {
    this.#onChunk = onChunk;
    this.#onTiny = onTiny;
  }

  add(chunk: Buffer): void {
    if (chunk.length >= LARGE_BYTES && this.#chunks.length === 0) {
      this.#onChunk(chunk);
      return;
    }
    if (this.#chunks.length === 0) setImmediate(() => this.flush());
    if (TinyChunks.isTiny(chunk)) this.#tiny += 1;
    this.#small.add(this.#chunks, chunk);
  }

  /** Passes on what is there. */
  flush(): void {
    const tiny = this.#tiny;
    this.#tiny = 0;
    for (const chunk of this.#chunks.splice(0)) this.#onChunk(chunk);
    this.#onTiny(tiny);
  }
}
