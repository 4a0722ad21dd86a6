import { crc32, deflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Colour types of W3C PNG, section 11.2.1, eight bits each: red, green, blue and alpha, or a place in a palette. */
const RGBA = 6;
const PALETTE = 3;
const MOST_COLOURS = 256;

/** Encodes a square picture, four bytes for each pixel, as PNG, in the smaller of two forms. */
export function encodePng(size: number, pixels: Uint8Array): Buffer {
  const plain = png(size, RGBA, pixels, []);
  const colours = [...new Set(rgbaOf(pixels))];
  if (colours.length > MOST_COLOURS) return plain;
  const bytes = colours.map((colour) => [colour >>> 24, colour >>> 16, colour >>> 8, colour]);
  const places = new Map(colours.map((colour, place) => [colour, place]));
  const indexed = png(
    size,
    PALETTE,
    Uint8Array.from(rgbaOf(pixels), (colour) => places.get(colour) ?? 0),
    [
      chunk('PLTE', Buffer.from(bytes.flatMap((colour) => colour.slice(0, 3)))),
      chunk('tRNS', Buffer.from(bytes.flatMap((colour) => colour.slice(3)))),
    ],
  );
  return indexed.length < plain.length ? indexed : plain;
}

function rgbaOf(pixels: Uint8Array): number[] {
  const view = new DataView(pixels.buffer, pixels.byteOffset, pixels.length);
  return Array.from({ length: pixels.length / 4 }, (_, pixel) => view.getUint32(pixel * 4));
}

function png(size: number, colourType: number, samples: Uint8Array, palette: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, colourType], 8);
  // Each line begins with a byte for its filter: none.
  const lineBytes = samples.length / size;
  const lines = Buffer.alloc(size * (lineBytes + 1));
  for (let y = 0; y < size; y += 1)
    lines.set(samples.subarray(y * lineBytes, (y + 1) * lineBytes), y * (lineBytes + 1) + 1);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    ...palette,
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const result = Buffer.alloc(typed.length + 8);
  result.writeUInt32BE(data.length, 0);
  result.set(typed, 4);
  result.writeUInt32BE(crc32(typed), typed.length + 4);
  return result;
}
