import type { Address, Prefix } from './address.ts';

/**
 * The prefixes of one address family, sorted by address, then by length. Every array can be handed to another
 * thread.
 */
export interface FamilyData {
  readonly highs: Uint32Array<ArrayBuffer>;
  /** The second 32 bits; empty of IPv4. */
  readonly lows: Uint32Array<ArrayBuffer>;
  readonly lengths: Uint8Array<ArrayBuffer>;
  readonly values: Uint32Array<ArrayBuffer>;
  /** The longest other prefix that each lies in, by its place; -1 of none. */
  readonly parents: Int32Array<ArrayBuffer>;
  /** By the first 16 bits of an address: the first place whose prefix begins there or behind. One more at the end. */
  readonly index: Uint32Array<ArrayBuffer>;
}

export interface PrefixTableData {
  readonly v4: FamilyData;
  readonly v6: FamilyData;
}

/** What a table says of an address: the longest prefix around it, and its value. */
export interface Match {
  readonly value: number;
  readonly prefix: Prefix;
}

/**
 * A value for each of many prefixes, nested as they like; the longest one counts. 13 bytes for a prefix of
 * IPv4 and 17 of IPv6, whatever the mix. A look-up is a binary search for the last prefix that begins at or
 * before the address: the longest one around the address is that prefix or one that it lies in.
 */
export class PrefixTable {
  readonly #data: PrefixTableData;

  constructor(data: PrefixTableData) {
    this.#data = data;
  }

  get size(): number {
    const { v4, v6 } = this.#data;
    return v4.values.length + v6.values.length;
  }

  /** Memory of all arrays. */
  get bytes(): number {
    return buffersOf(this.#data).reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** The value of the longest prefix around the address; `undefined` where there is none. */
  valueOf(address: Address): number | undefined {
    const family = address.isV6 ? this.#data.v6 : this.#data.v4;
    const place = findPlace(family, address);
    return place < 0 ? undefined : family.values[place];
  }

  /** The same with the prefix. */
  match(address: Address): Match | undefined {
    const { isV6 } = address;
    const family = isV6 ? this.#data.v6 : this.#data.v4;
    const place = findPlace(family, address);
    if (place < 0) return undefined;
    const [high, low, length] = [
      family.highs[place] ?? 0,
      family.lows[place] ?? 0,
      family.lengths[place] ?? 0,
    ];
    return { value: family.values[place] ?? 0, prefix: { isV6, high, low, length } };
  }
}

/** All memory of a table, to hand it to another thread. */
export function buffersOf({ v4, v6 }: PrefixTableData): ArrayBuffer[] {
  return [v4, v6].flatMap(({ highs, lows, lengths, values, parents, index }) =>
    [highs, lows, lengths, values, parents, index].map(({ buffer }) => buffer),
  );
}

function findPlace(family: FamilyData, { high, low }: Address): number {
  const { highs, lows, index, parents } = family;
  const bucket = high >>> 16;
  let from = index[bucket] ?? 0;
  let to = index[bucket + 1] ?? 0;
  while (from < to) {
    const middle = (from + to) >>> 1;
    const start = highs[middle] ?? 0;
    const isBehind = start > high || (start === high && (lows[middle] ?? 0) > low);
    if (isBehind) to = middle;
    else from = middle + 1;
  }
  let place = from - 1;
  while (place >= 0 && !isAround(family, place, high, low)) place = parents[place] ?? -1;
  return place;
}

/** Whether the prefix at `place` has the address in it. */
export function isAround(
  { highs, lows, lengths }: Pick<FamilyData, 'highs' | 'lows' | 'lengths'>,
  place: number,
  high: number,
  low: number,
): boolean {
  const length = lengths[place] ?? 0;
  if (length === 0) return true;
  const differing = high ^ (highs[place] ?? 0);
  if (length <= 32) return differing >>> (32 - length) === 0;
  return differing === 0 && (low ^ (lows[place] ?? 0)) >>> (64 - length) === 0;
}
