import type { MemoryCalls } from '../kernel/libc.ts';
import type { PooledBuffer } from './buffer-pool.ts';
import { IdleStock } from './idle-stock.ts';

/** Bytes before their turn rest in pieces. The first one of a run has this size: a run of some bytes wastes no more. */
export const FIRST_PIECE_BYTES = 65_536;
/** Further pieces of a run: with each one goes a read and a write. */
export const FURTHER_PIECE_BYTES = 262_144;
/** Empty pieces kept while merges run, so much of either size: to make one costs more than to fill it. */
const MAX_IDLE_BYTES = 8_388_608;

/** A part of a run, in memory that the kernel can fill. */
export interface Piece extends PooledBuffer {
  /** What has been given, and what has come. */
  offset: number;
  end: number;
}

/** How many bytes a piece can still take. */
export function roomIn({ buffer, end }: Piece): number {
  return buffer.byteLength - end;
}

/** Memory for bytes that came before their turn. */
export class MergePieces {
  readonly #kernel: Pick<MemoryCalls, 'addressOf' | 'copy'>;
  readonly #idleFirst = new IdleStock<PooledBuffer>(MAX_IDLE_BYTES / FIRST_PIECE_BYTES);
  readonly #idleFurther = new IdleStock<PooledBuffer>(MAX_IDLE_BYTES / FURTHER_PIECE_BYTES);

  constructor(kernel: Pick<MemoryCalls, 'addressOf' | 'copy'>) {
    this.#kernel = kernel;
  }

  /** The last piece of a run with room in it, a new one where there is none. */
  withRoom(pieces: Piece[]): Piece {
    const last = pieces.at(-1);
    if (last && roomIn(last) > 0) return last;
    const sizeBytes = last ? FURTHER_PIECE_BYTES : FIRST_PIECE_BYTES;
    const piece = { ...(this.#idleOf(sizeBytes).take() ?? this.#make(sizeBytes)), offset: 0, end: 0 };
    pieces.push(piece);
    return piece;
  }

  give({ buffer, address }: Piece): void {
    this.#idleOf(buffer.byteLength).give({ buffer, address });
  }

  /** To be called again and again: lets go of pieces that a burst has left. */
  shrink(): void {
    this.#idleFirst.shrink();
    this.#idleFurther.shrink();
  }

  /** Keeps nothing any more. */
  forget(): void {
    this.#idleFirst.empty();
    this.#idleFurther.empty();
  }

  #idleOf(sizeBytes: number): IdleStock<PooledBuffer> {
    return sizeBytes === FIRST_PIECE_BYTES ? this.#idleFirst : this.#idleFurther;
  }

  #make(sizeBytes: number): PooledBuffer {
    const buffer = new ArrayBuffer(sizeBytes);
    return { buffer, address: this.#kernel.addressOf(buffer) };
  }
}
