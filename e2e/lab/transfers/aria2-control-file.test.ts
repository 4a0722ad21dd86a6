import { expect, it } from 'vitest';
import { parseAria2ControlFile } from './aria2-control-file.ts';

const PIECE_BYTES = 1024 * 1024;

/** A control file of aria2 1.36 is laid out like this; `total` bytes in pieces of 1 MiB. */
function controlFile(
  total: number,
  bitfield: number[],
  inFlight: { piece: number; bytes: number; bits: number[] }[],
) {
  const u32 = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  };
  const u64 = (value: number) => Buffer.concat([u32(0), u32(value)]);
  const pieces = inFlight.flatMap(({ piece, bytes, bits }) => [
    u32(piece),
    u32(bytes),
    u32(bits.length),
    Buffer.from(bits),
  ]);
  return Buffer.concat([
    Buffer.from([0, 1, 0, 0, 0, 0]),
    u32(0),
    u32(PIECE_BYTES),
    u64(total),
    u64(0),
    u32(bitfield.length),
    Buffer.from(bitfield),
    u32(inFlight.length),
    ...pieces,
  ]);
}

it('counts whole pieces and the blocks of pieces in flight, and the last ones only as long as they are', () => {
  const total = 2 * PIECE_BYTES + 20_000;
  const file = controlFile(
    total,
    [0b0100_0000],
    [
      { piece: 0, bytes: PIECE_BYTES, bits: [0b1000_0000, 0, 0, 0, 0, 0, 0, 0b0000_0001] },
      { piece: 2, bytes: 20_000, bits: [0b0100_0000] },
    ],
  );
  expect(parseAria2ControlFile(file)).toEqual([
    { start: 0, end: 16_384 },
    { start: PIECE_BYTES - 16_384, end: PIECE_BYTES },
    { start: PIECE_BYTES, end: 2 * PIECE_BYTES },
    { start: 2 * PIECE_BYTES + 16_384, end: total },
  ]);
});

it('counts no byte twice when a whole piece is still listed in flight', () => {
  const file = controlFile(PIECE_BYTES, [0b1000_0000], [{ piece: 0, bytes: PIECE_BYTES, bits: [0xff] }]);
  expect(parseAria2ControlFile(file)).toEqual([{ start: 0, end: PIECE_BYTES }]);
});

it('refuses a file that is cut short or of another version', () => {
  const file = controlFile(PIECE_BYTES, [0], [{ piece: 0, bytes: PIECE_BYTES, bits: [0xff] }]);
  expect(() => parseAria2ControlFile(file.subarray(0, -1))).toThrow('cut short');
  file[1] = 2;
  expect(() => parseAria2ControlFile(file)).toThrow('version 2');
});
