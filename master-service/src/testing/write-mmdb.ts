import { type Prefix, readPrefix } from '../prefixes/address.ts';

/** A record of an MMDB: strings and whole numbers by name. */
type MmdbRecord = Readonly<Record<string, string | number>>;

const RECORD_BITS = 32;
const ROOT_BITS_OF_V4 = 96;
const SEPARATOR_BYTES = 16;

/** Two branches for each node: 0 for none, the number of another node, or less than 0 for a record. */
type Tree = number[];

/** Writes an MMDB of IPv6 with IPv4 in it, as its specification 2.0 says; prefixes may nest, in any order. */
export function writeMmdb(entries: readonly (readonly [prefix: string, record: MmdbRecord])[]): Buffer {
  const records = [...new Set(entries.map(([, record]) => record))];
  const numbers = new Map(records.map((record, at) => [record, -1 - at]));
  const tree: Tree = [0, 0];
  const read = entries.map(([text, record]) => ({ ...asPrefix(text), number: numbers.get(record) ?? 0 }));
  // A shorter prefix would end the branches of longer ones.
  for (const { number, ...prefix } of read.toSorted((one, other) => one.length - other.length))
    insert(tree, prefix, number);
  return serialise(tree, records);
}

function asPrefix(text: string): Prefix {
  const prefix = readPrefix(text);
  if (typeof prefix === 'string') throw new Error(prefix);
  return prefix;
}

function insert(tree: Tree, { isV6, high, low, length }: Prefix, record: number): void {
  const zeros = isV6 ? 0 : ROOT_BITS_OF_V4;
  const last = zeros + length - 1;
  let node = 0;
  for (let depth = 0; depth <= last; depth += 1) {
    const at = depth - zeros;
    const bit = at < 0 ? 0 : ((at < 32 ? high : low) >>> (31 - (at % 32))) & 1;
    const branch = 2 * node + bit;
    if (depth === last) {
      tree[branch] = record;
      return;
    }
    const next = tree[branch] ?? 0;
    if (next > 0) node = next;
    else {
      node = tree.length / 2;
      tree.push(next, next);
      tree[branch] = node;
    }
  }
}

function serialise(tree: Tree, records: readonly MmdbRecord[]): Buffer {
  const nodeCount = tree.length / 2;
  const data = records.map(encodeMap);
  const offsets: number[] = [];
  let dataBytes = 0;
  for (const { length } of data) {
    offsets.push(dataBytes);
    dataBytes += length;
  }
  const nodes = Buffer.alloc(tree.length * (RECORD_BITS / 8));
  for (const [at, branch] of tree.entries()) {
    const record = nodeCount + SEPARATOR_BYTES + (offsets[-1 - branch] ?? 0);
    nodes.writeUInt32BE(branch > 0 ? branch : branch < 0 ? record : nodeCount, at * (RECORD_BITS / 8));
  }
  const metadata = encodeMap({
    node_count: nodeCount,
    record_size: RECORD_BITS,
    ip_version: 6,
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_795_000_000,
    database_type: 'Test-ASN',
  });
  const marker = Buffer.from('\u00ab\u00cd\u00efMaxMind.com', 'latin1');
  return Buffer.concat([nodes, Buffer.alloc(SEPARATOR_BYTES), ...data, marker, metadata]);
}

function encodeMap(record: MmdbRecord): Buffer {
  const entries = Object.entries(record);
  return Buffer.concat([
    Buffer.from([(7 << 5) | entries.length]),
    ...entries.flatMap(([key, value]) => [
      encodeText(key),
      typeof value === 'number' ? encodeNumber(value) : encodeText(value),
    ]),
  ]);
}

function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([
    Buffer.from(bytes.length < 29 ? [(2 << 5) | bytes.length] : [(2 << 5) | 29, bytes.length - 29]),
    bytes,
  ]);
}

function encodeNumber(value: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes[0] = (6 << 5) | 4;
  bytes.writeUInt32BE(value, 1);
  return bytes;
}
