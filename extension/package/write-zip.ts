import { constants, crc32, deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  /** Path inside the archive, with `/`. */
  readonly name: string;
  readonly bytes: Buffer;
}

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
/** What a reader must know: folders and deflate. */
const VERSION_NEEDED = 20;
/** Names are UTF-8. */
const UTF8_NAMES = 0x0800;
const DEFLATED = 8;
/** 1 January 1980, midnight: archives begin to count then, and the time of building is nobody's business. */
const DATE = 0x0021;
const TIME = 0;

/** How much of the input deflate looks at for one block of codes; which one suits a file best only trying tells. */
const MEMORY_LEVELS = [9, 8, 7, 6, 5, 4];
/** Whether short repetitions count: the same of these. */
const STRATEGIES = [constants.Z_DEFAULT_STRATEGY, constants.Z_FILTERED];

/**
 * An archive whose bytes are made by names and contents alone (PKWARE APPNOTE 6.3.10, without any extra
 * field): the same input gives the same bytes, wherever and whenever it is made.
 */
export function writeZip(entries: readonly ZipEntry[]): Buffer {
  const sorted = entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let offset = 0;
  for (const { name, bytes } of sorted) {
    const nameBytes = Buffer.from(name, 'utf8');
    const packed = smallest(bytes);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(VERSION_NEEDED, 0);
    common.writeUInt16LE(UTF8_NAMES, 2);
    common.writeUInt16LE(DEFLATED, 4);
    common.writeUInt16LE(TIME, 6);
    common.writeUInt16LE(DATE, 8);
    common.writeUInt32LE(crc32(bytes), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(nameBytes.length, 22);
    locals.push(uint32(LOCAL), common, nameBytes, packed);
    // Comment, disk and attributes are empty; the offset says where the entry begins.
    centrals.push(
      uint32(CENTRAL),
      uint16(VERSION_NEEDED),
      common,
      Buffer.alloc(10),
      uint32(offset),
      nameBytes,
    );
    offset += 4 + common.length + nameBytes.length + packed.length;
  }
  const directory = Buffer.concat(centrals);
  const counts = [uint16(0), uint16(0), uint16(sorted.length), uint16(sorted.length)];
  const end = [uint32(END), ...counts, uint32(directory.length), uint32(offset), uint16(0)];
  return Buffer.concat([...locals, directory, ...end]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function smallest(bytes: Buffer): Buffer {
  const tried = MEMORY_LEVELS.flatMap((memLevel) =>
    STRATEGIES.map((strategy) => deflateRawSync(bytes, { level: 9, memLevel, strategy })),
  );
  return tried.reduce((best, one) => (one.length < best.length ? one : best));
}
