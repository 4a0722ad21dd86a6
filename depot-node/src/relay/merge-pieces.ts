import type { MemoryCalls } from '../kernel/libc.ts';
import type { PooledBuffer } from './buffer-pool.ts';

/** Bytes before their turn rest in pieces of this size: a run of some bytes wastes no more. */
export const PIECE_BYTES = 65_536;
/** Empty pieces kept while merges run, 16 MiB: to make one costs more than to fill it. */
const MAX_IDLE_PIECES = 256;

/** A part of a run, in memory that the kernel can fill. */
export interface Piece extends PooledBuffer {
  /** What has been given, and what has come. */
  offset: number;
  end: number;
}

/** Memory for bytes that came before their turn. */
export class MergePieces {
  readonly #kernel: Pick<MemoryCalls, 'addressOf' | 'copy'>;
  readonly #idle: PooledBuffer[] = [];

  constructor(kernel: Pick<MemoryCalls, 'addressOf' | 'copy'>) {
    this.#kernel = kernel;
  }

  /** The last piece of a run with room in it, a new one where there is none. */
  withRoom(pieces: Piece[]): Piece {
    const last = pieces.at(-1);
    if (last && last.end < PIECE_BYTES) return last;
    const piece = { ...(this.#idle.pop() ?? this.#make()), offset: 0, end: 0 };
    pieces.push(piece);
    return piece;
  }

  give({ buffer, address }: Piece): void {
    if (this.#idle.length < MAX_IDLE_PIECES) this.#idle.push({ buffer, address });
  }

  /** Keeps nothing any more. */
  forget(): void {
    this.#idle.length = 0;
  }

  #make(): PooledBuffer {
    const buffer = new ArrayBuffer(PIECE_BYTES);
    return { buffer, address: this.#kernel.addressOf(buffer) };
  }
}
