/** From this size on a chunk costs little beside its bytes, and is kept as it came. */
export const LARGE_BYTES = 16_384;
/** Small chunks are gathered in pieces of this size: as large as what is read from a connection at once. */
const PIECE_BYTES = 65_536;

const NOTHING = Buffer.alloc(0);

/**
 * Adds chunks to a list that waits. Small ones are gathered: an origin that sends its bytes one by one would otherwise
 * cost a hundred times their size, and the list as many turns as there are bytes.
 */
export class SmallChunks {
  #piece = NOTHING;
  /** Where the last view of the piece begins, and where its free rest does. */
  #viewByte = 0;
  #freeByte = 0;
  #view: Buffer | undefined;

  /** Puts a chunk at the end of the list. */
  add(list: Buffer[], chunk: Buffer): void {
    // What goes on at once needs no copy.
    if (list.length === 0 || chunk.length >= LARGE_BYTES) list.push(chunk);
    else for (let rest = chunk; rest.length > 0; rest = this.#gather(list, rest));
  }

  /** Copies what fits into the piece; gives what does not. */
  #gather(list: Buffer[], chunk: Buffer): Buffer {
    if (this.#freeByte === this.#piece.length) {
      this.#piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
      this.#freeByte = 0;
      this.#view = undefined;
    }
    const goesOn = this.#view !== undefined && list.at(-1) === this.#view;
    if (!goesOn) this.#viewByte = this.#freeByte;
    const copied = chunk.copy(this.#piece, this.#freeByte);
    this.#freeByte += copied;
    this.#view = this.#piece.subarray(this.#viewByte, this.#freeByte);
    if (goesOn) list[list.length - 1] = this.#view;
    else list.push(this.#view);
    return chunk.subarray(copied);
  }
}
