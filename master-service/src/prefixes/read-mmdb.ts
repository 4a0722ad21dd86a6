import { ok, type Result, refuse } from '@longhaul/shared';
import { Reader, type Response } from 'mmdb-lib';
import { formatAddress, type Prefix, truncate, V4_BITS, V6_BITS } from './address.ts';
import { readAsNumber } from './as-number.ts';
import type { PrefixTableData } from './prefix-table.ts';
import { MAX_PREFIXES, PrefixTableBuilder } from './prefix-table-builder.ts';

/** MaxMind DB file format specification 2.0: what precedes the metadata, in the last 128 KiB. */
const METADATA_MARKER = Buffer.from('\u00ab\u00cd\u00efMaxMind.com', 'latin1');
const METADATA_BYTES = 131_072;
/** Ranges that are walked begin and end in the middle of a network, which is then looked at more than once. */
const MOST_MET_AGAIN = 8;

/**
 * Where IPv6 is routed on the Internet, without what stands for IPv4 and would lead into its branch again:
 * Teredo and 6to4.
 */
const V4_RANGE = [0, 0x1_0000_0000] as const;
const V6_RANGES = [
  [0x2000_0000, 0x2001_0000],
  [0x2001_0001, 0x2002_0000],
  [0x2003_0000, 0x4000_0000],
] as const;

interface Network {
  readonly prefix: Prefix;
  readonly value: number;
}

/** Whether a file is an MMDB, by its metadata. */
export function isMmdb(file: Buffer): boolean {
  return file.subarray(-METADATA_BYTES).includes(METADATA_MARKER);
}

/**
 * Reads the numbers of autonomous systems from an MMDB: `autonomous_system_number`, or `asn`, of each
 * network; neighbours of one system are joined. Networks without one count as skipped, unless they have no
 * record at all. `prefixes-invalid` for what cannot be read.
 */
export function readMmdb(
  file: Buffer,
): Result<{ readonly table: PrefixTableData; readonly skipped: number }> {
  try {
    const walk = new Walk(file);
    walk.range(false, V4_RANGE);
    if (walk.hasV6) for (const range of V6_RANGES) walk.range(true, range);
    return walk.result();
  } catch (failure) {
    if (failure instanceof Unusable) return refuse('prefixes-invalid', failure.message);
    return refuse('prefixes-invalid', `it is a damaged MMDB: ${String(failure)}`);
  }
}

/** What is wrong with a file that can be read. */
class Unusable extends Error {}

class Walk {
  readonly #reader: Reader<Response>;
  readonly #networks: Network[] = [];
  #looked = 0;
  #skipped = 0;

  constructor(file: Buffer) {
    // Without it the record of a system is decoded again for each of its networks.
    this.#reader = new Reader(file, { cache: new Map<string | number, unknown>() });
    const { nodeCount, nodeByteSize } = this.#reader.metadata;
    if (!(nodeCount * nodeByteSize < file.length)) throw new Unusable('its tree is longer than the file');
  }

  get hasV6(): boolean {
    return this.#reader.metadata.ipVersion === 6;
  }

  /** Takes all networks between two values of the first 32 bits. */
  range(isV6: boolean, [first, end]: readonly [number, number]): void {
    let [high, low] = [first, 0];
    while (high < end) {
      this.#looked += 1;
      // A tree has one leaf more than it has nodes.
      if (this.#looked > this.#reader.metadata.nodeCount + MOST_MET_AGAIN)
        throw new Unusable('the branches of its tree meet again');
      const address = { isV6, high, low };
      const [record, found] = this.#reader.getWithPrefixLength(formatAddress(address));
      const most = isV6 ? V6_BITS : V4_BITS;
      const length = Math.min(found, most);
      const value = asNumberOf(record);
      const prefix = { ...truncate(address, length), length };
      if (record && (value === undefined || found > most || length === 0)) this.#skipped += 1;
      else if (record && value !== undefined) this.#take(prefix, value);
      [high, low] = behind(prefix);
    }
  }

  result(): Result<{ readonly table: PrefixTableData; readonly skipped: number }> {
    if (this.#networks.length === 0)
      return refuse('prefixes-invalid', 'no network in it has autonomous_system_number or asn');
    const builder = new PrefixTableBuilder();
    for (const { prefix, value } of this.#networks) builder.add(prefix, value);
    return ok({ table: builder.build(), skipped: this.#skipped });
  }

  #take(prefix: Prefix, value: number): void {
    let joined = prefix;
    for (;;) {
      const before = this.#networks.at(-1);
      const outer = { ...truncate(joined, joined.length - 1), length: joined.length - 1 };
      const isSibling =
        before?.value === value &&
        before.prefix.length === joined.length &&
        before.prefix.isV6 === joined.isV6 &&
        before.prefix.high === outer.high &&
        before.prefix.low === outer.low;
      if (!isSibling) break;
      this.#networks.pop();
      joined = outer;
    }
    if (this.#networks.length >= MAX_PREFIXES) throw new Unusable(`more than ${MAX_PREFIXES} prefixes`);
    this.#networks.push({ prefix: joined, value });
  }
}

/** The first address behind a prefix, in two halves. */
function behind({ high, low, length }: Prefix): [high: number, low: number] {
  if (length <= 32) return [high + 2 ** (32 - length), 0];
  const next = low + 2 ** (64 - length);
  return next > 0xffff_ffff ? [high + 1, 0] : [high, next];
}

function asNumberOf(record: Response | null): number | undefined {
  if (typeof record !== 'object' || record === null) return undefined;
  const { autonomous_system_number: number, asn } = record as Record<string, unknown>;
  const said = number ?? asn;
  return typeof said === 'number' || typeof said === 'string' ? readAsNumber(String(said)) : undefined;
}
