import { SmallChunks } from '../origin/small-chunks.ts';
import { FileRuns } from '../relay/file-runs.ts';

interface Chunks {
  readonly chunks: Buffer[];
  readonly small: SmallChunks;
}

/** Takes bytes of a file in any order, from any number of fetches, and gives each byte once and in order. */
export class ReorderBuffer {
  readonly #runs: FileRuns<Chunks>;

  constructor(startByte: number) {
    this.#runs = new FileRuns(startByte, () => ({ chunks: [], small: new SmallChunks() }));
  }

  /** The first byte that has not been given. */
  get headByte(): number {
    return this.#runs.headByte;
  }

  /** Bytes that have come and have not been given. */
  get heldBytes(): number {
    return this.#runs.heldBytes;
  }

  /** Takes bytes that begin at `atByte`; what came already is dropped. */
  put(atByte: number, chunk: Buffer): void {
    let byte = atByte;
    for (let rest = chunk; rest.length > 0; ) {
      const knownBytes = Math.min(rest.length, this.#runs.knownBytes(byte));
      const fresh = rest.subarray(knownBytes, knownBytes + this.#runs.missingBytes(byte + knownBytes));
      if (fresh.length > 0) {
        const run = this.#runs.runAt(byte + knownBytes);
        run.store.small.add(run.store.chunks, fresh);
        this.#runs.grow(run, fresh.length);
      }
      byte += knownBytes + fresh.length;
      rest = rest.subarray(knownBytes + fresh.length);
    }
  }

  /** Gives the next bytes in order; `undefined` while they have not come. */
  take(): Buffer | undefined {
    const chunk = this.#runs.front?.store.chunks.shift();
    if (chunk) this.#runs.give(chunk.length);
    return chunk;
  }
}
