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
  endByte: number;
  nextByte: number;
  readonly chunks: Buffer[];
  readonly small: SmallChunks;
}

/** A block may be so many times as large as it was to be, rather than leave a scrap. */
const ABOUT = 1.5;

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

  /** Bytes that nobody fetches yet. */
  get unaskedBytes(): number {
    return this.#unasked.reduce((sum, { nextByte, endByte }) => sum + endByte - nextByte, this.uncutBytes);
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
    const block = newBlock(startByte, endByte);
    this.#cutByte = endByte;
    this.#blocks.push(block);
    return block;
  }

  /**
   * A block of about this size out of what nobody fetches yet, behind so many bytes of that, which are left to others.
   * There must be more such bytes than are left.
   */
  claim(leftBytes: number, sizeBytes: number): Block {
    let beforeBytes = leftBytes;
    for (const block of this.#unasked) {
      const missingBytes = block.endByte - block.nextByte;
      // What somebody has begun is no longer cut.
      const isBegun = block.nextByte > block.startByte;
      if (isBegun && beforeBytes < missingBytes) return block;
      if (beforeBytes < missingBytes) {
        const claimed = beforeBytes > 0 ? this.#split(block, block.startByte + beforeBytes) : block;
        if (claimed.endByte - claimed.startByte > ABOUT * sizeBytes)
          this.#split(claimed, claimed.startByte + sizeBytes);
        return claimed;
      }
      beforeBytes -= missingBytes;
    }
    if (beforeBytes > 0) this.cut(beforeBytes);
    return this.cut(sizeBytes);
  }

  /** Where a block would begin that is claimed so. */
  claimByte(leftBytes: number): number {
    let beforeBytes = leftBytes;
    for (const { nextByte, endByte } of this.#unasked) {
      if (beforeBytes < endByte - nextByte) return nextByte + beforeBytes;
      beforeBytes -= endByte - nextByte;
    }
    return this.#cutByte + beforeBytes;
  }

  get #unasked(): QueuedBlock[] {
    return this.#blocks.filter(({ fetches, nextByte, endByte }) => fetches === 0 && nextByte < endByte);
  }

  /** Cuts a block that nobody has begun in two; gives the second one. */
  #split(block: QueuedBlock, atByte: number): QueuedBlock {
    const second = newBlock(atByte, block.endByte);
    block.endByte = atByte;
    this.#blocks.splice(this.#blocks.indexOf(block) + 1, 0, second);
    return second;
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

function newBlock(startByte: number, endByte: number): QueuedBlock {
  return { startByte, endByte, nextByte: startByte, fetches: 0, chunks: [], small: new SmallChunks() };
}
