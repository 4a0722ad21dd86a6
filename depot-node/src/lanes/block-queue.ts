import type { Part } from '../origin/representation.ts';

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
}

/** A block may be so many times as large as it was to be, rather than leave a scrap. */
const ABOUT = 1.5;

/**
 * Cuts a part of a file into blocks from front to back, and knows what of them has come and what has been
 * delivered.
 */
export class BlockQueue {
  readonly endByte: number;
  readonly #blocks: QueuedBlock[] = [];
  #headByte: number;
  #cutByte: number;

  constructor({ startByte, endByte }: Part) {
    this.#headByte = startByte;
    this.#cutByte = startByte;
    this.endByte = endByte;
  }

  /** The first byte that has not been delivered. */
  get headByte(): number {
    return this.#headByte;
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

  /** Whether every byte has come, delivered or not. */
  get hasAll(): boolean {
    return this.uncutBytes === 0 && this.#headByte + this.readyBytes === this.endByte;
  }

  /** Bytes that have come in a row behind what has been delivered. */
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

  /** Makes one block of those that follow each other and that nobody fetches. */
  join(): void {
    for (let at = this.#blocks.length - 1; at > 0; at -= 1) {
      const [before, block] = [this.#blocks[at - 1], this.#blocks[at]];
      if (!before || !block || before.fetches + block.fetches > 0) continue;
      // What has come of the second one lies between them; the first one may be begun, but not whole.
      if (block.nextByte > block.startByte || before.nextByte === before.endByte) continue;
      before.endByte = block.endByte;
      this.#blocks.splice(at, 1);
    }
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

  /** Bytes of a block have come, up to this one. */
  note(block: Block, toByte: number): void {
    const queued = block as QueuedBlock;
    queued.nextByte = Math.max(queued.nextByte, toByte);
  }

  /** Everything before this byte has been delivered, be it that it came without a word. */
  deliver(toByte: number): void {
    this.#headByte = Math.max(this.#headByte, toByte);
    for (let [head] = this.#blocks; head && head.startByte < this.#headByte; [head] = this.#blocks) {
      this.note(head, Math.min(head.endByte, this.#headByte));
      if (head.endByte > this.#headByte) break;
      this.#blocks.shift();
    }
  }
}

function newBlock(startByte: number, endByte: number): QueuedBlock {
  return { startByte, endByte, nextByte: startByte, fetches: 0 };
}
