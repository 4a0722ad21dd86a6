import { describe, expect, it } from 'vitest';
import { FIRST_PIECE_BYTES, FURTHER_PIECE_BYTES, MergePieces, type Piece, roomIn } from './merge-pieces.ts';

function openPieces() {
  let made = 0;
  const addressOf = () => {
    made += 1;
    return made;
  };
  return { pieces: new MergePieces({ addressOf, copy: () => {} }), made: () => made };
}

/** Puts so many bytes into a run. */
function fill(pieces: MergePieces, run: Piece[], sizeBytes: number): void {
  for (let restBytes = sizeBytes; restBytes > 0; ) {
    const piece = pieces.withRoom(run);
    const bytes = Math.min(restBytes, roomIn(piece));
    piece.end += bytes;
    restBytes -= bytes;
  }
}

const sizesOf = (run: readonly Piece[]) => run.map(({ buffer }) => buffer.byteLength);

describe('memory for bytes before their turn', () => {
  it('is little for a run of some bytes, and comes in large pieces for what follows', () => {
    const { pieces } = openPieces();
    const run: Piece[] = [];
    fill(pieces, run, 1);
    expect(sizesOf(run)).toEqual([FIRST_PIECE_BYTES]);
    fill(pieces, run, FIRST_PIECE_BYTES + FURTHER_PIECE_BYTES);
    expect(sizesOf(run)).toEqual([FIRST_PIECE_BYTES, FURTHER_PIECE_BYTES, FURTHER_PIECE_BYTES]);
  });

  it('is used again for pieces of its size, from their beginning', () => {
    const { pieces, made } = openPieces();
    for (let round = 0; round < 3; round += 1) {
      const run: Piece[] = [];
      fill(pieces, run, 1_000_000);
      expect(sizesOf(run).slice(0, 2)).toEqual([FIRST_PIECE_BYTES, FURTHER_PIECE_BYTES]);
      expect(run.every(({ offset }) => offset === 0)).toBe(true);
      for (const piece of run) pieces.give(piece);
      expect(made()).toBe(run.length);
    }
  });

  it('is kept no longer than it is needed again and again', () => {
    const { pieces, made } = openPieces();
    const run: Piece[] = [];
    fill(pieces, run, 1_000_000);
    for (const piece of run) pieces.give(piece);
    for (let look = 0; look < 15; look += 1) pieces.shrink();
    fill(pieces, [], 1_000_000);
    expect(made()).toBe(2 * run.length);
  });
});
