/** Part of a file, `end` exclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Pieces in flight are counted in blocks of this size (aria2 manual, technical notes). */
const BLOCK_BYTES = 16 * 1024;

/**
 * What an interrupted aria2 has of a file, in order and without double counting, by its control file: format version 1,
 * as the technical notes of the aria2 manual describe it (all numbers big-endian).
 *
 *     version u16, extension u32, info hash length u32, info hash,
 *     piece length u32, total length u64, upload length u64, bitfield length u32, bitfield,
 *     pieces in flight u32, each: index u32, length u32, bitfield length u32, bitfield
 *
 * @throws {Error} when it is another version or cut short.
 */
export function parseAria2ControlFile(file: Buffer): ByteRange[] {
  const version = file.readUInt16BE(0);
  if (version !== 1) throw new Error(`aria2 wrote a control file of version ${version}, known is only 1`);
  let at = 6;
  const takeNumber = () => {
    at += 4;
    return file.readUInt32BE(at - 4);
  };
  const takeBytes = (length: number) => {
    if (at + length > file.length) throw new Error('the control file of aria2 is cut short');
    at += length;
    return file.subarray(at - length, at);
  };
  takeBytes(takeNumber());
  const pieceBytes = takeNumber();
  const totalBytes = Number(takeBytes(8).readBigUInt64BE());
  takeBytes(8);

  const ranges = setBits(takeBytes(takeNumber())).map((piece) => ({
    start: piece * pieceBytes,
    end: Math.min((piece + 1) * pieceBytes, totalBytes),
  }));
  const donePieces = new Set(ranges.map(({ start }) => start / pieceBytes));
  for (let left = takeNumber(); left > 0; left -= 1) {
    const piece = takeNumber();
    const pieceEnd = piece * pieceBytes + takeNumber();
    const blocks = setBits(takeBytes(takeNumber()));
    if (donePieces.has(piece)) continue;
    for (const block of blocks) {
      const start = piece * pieceBytes + block * BLOCK_BYTES;
      ranges.push({ start, end: Math.min(start + BLOCK_BYTES, pieceEnd, totalBytes) });
    }
  }
  return ranges.filter(({ start, end }) => end > start).toSorted((one, other) => one.start - other.start);
}

/** Numbers of the bits that are set; the highest bit of the first byte is number 0. */
function setBits(bitfield: Buffer): number[] {
  return [...bitfield].flatMap((byte, at) =>
    [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => byte & (0x80 >> bit)).map((bit) => at * 8 + bit),
  );
}
