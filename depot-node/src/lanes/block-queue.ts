import type { Part } from '../origin/representation.ts';
import { SmallChunks } from '../origin/small-chunks.ts';

/** A piece of the file that is being fetched, or was and waits for its turn. */
export interface Block extends Part {
  /** The first byte that has not come. */
  readonly nextByte: number;
  /** Fetches under way; two when the rest was asked for again. */
  fetches: number;
}

interface QueuedBlock extends Block {
  nextByte: number;
  readonly chunks: Buffer[];
  readonly small: SmallChunks;
}

/**
 * The reorder buffer: cuts a part of a file into blocks from front to back, takes their bytes in any order, from any
 * number of fetches, and gives each byte once and in order.
 */
export class BlockQueue {
  readonly endByte: number;
  readonly #blocks: QueuedBlock[] = [];
  #headByte: number;
  #cutByte: number;
  #heldBytes = 0;

  constructor({ startByte, endByte }: Part) {
    this.#headByte = startByte;
    this.#cutByte = startByte;
    this.endByte = endByte;
  }

  /** The first byte that has not been given. */
  get headByte(): number {
    return this.#headByte;
  }

  /** Bytes that have come and have not been given. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** From the head to the end of the last block: what the buffer may come to hold. */
  get spanBytes(): number {
    return this.#cutByte - this.#headByte;
  }

  get uncutBytes(): number {
    return this.endByte - this.#cutByte;
  }

  get isComplete(): boolean {
    return this.#headByte === this.endByte;
  }

  /** Whether every byte has come, given or not. */
  get hasAll(): boolean {
    return this.uncutBytes === 0 && this.#headByte + this.readyBytes === this.endByte;
  }

  /** Bytes that could be given now. */
  get readyBytes(): number {
    let readyByte = this.#headByte;
    for (const block of this.#blocks) {
      readyByte = block.nextByte;
      if (readyByte < block.endByte) break;
    }
    return readyByte - this.#headByte;
  }

  /** Blocks that miss bytes, front first. */
  get open(): readonly Block[] {
    return this.#blocks.filter((block) => block.nextByte < block.endByte);
  }

  /** Cuts off the next block, shorter at the end; there must be uncut bytes. */
  cut(sizeBytes: number): Block {
    const startByte = this.#cutByte;
    const endByte = Math.min(this.endByte, startByte + sizeBytes);
    const block = {
      startByte,
      endByte,
      nextByte: startByte,
      fetches: 0,
      chunks: [],
      small: new SmallChunks(),
    };
    this.#cutByte = endByte;
    this.#blocks.push(block);
    return block;
  }

  /** Takes bytes of a block that begin at `atByte`, at most its `nextByte`; what came already is dropped. Gives how many were new. */
  put(block: Block, atByte: number, chunk: Buffer): number {
    const queued = block as QueuedBlock;
    const known = Math.max(0, queued.nextByte - atByte);
    if (known >= chunk.length) return 0;
    queued.small.add(queued.chunks, known > 0 ? chunk.subarray(known) : chunk);
    queued.nextByte = atByte + chunk.length;
    const newBytes = chunk.length - known;
    this.#heldBytes += newBytes;
    return newBytes;
  }

  /** Gives the next bytes in order; `undefined` while they have not come. */
  take(): Buffer | undefined {
    const [head] = this.#blocks;
    const chunk = head?.chunks.shift();
    if (!head || !chunk) return undefined;
    this.#headByte += chunk.length;
    this.#heldBytes -= chunk.length;
    if (this.#headByte === head.endByte) this.#blocks.shift();
    return chunk;
  }
}
