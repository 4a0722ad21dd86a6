import type { Prefix } from './address.ts';
import { type FamilyData, isAround, type PrefixTableData } from './prefix-table.ts';

/** Prefixes that a table may have: twice the Internet's of today; they take 26 to 34 MB. */
export const MAX_PREFIXES = 2_000_000;

const FIRST_CAPACITY = 1024;
const BUCKETS = 65_536;

/** Takes prefixes in any order and makes a table of them. Of the same prefix given again, the first one counts. */
export class PrefixTableBuilder {
  readonly #v4 = new FamilyBuilder(false);
  readonly #v6 = new FamilyBuilder(true);

  get size(): number {
    return this.#v4.size + this.#v6.size;
  }

  add(prefix: Prefix, value: number): void {
    (prefix.isV6 ? this.#v6 : this.#v4).add(prefix, value);
  }

  /** Sorts what was added. Seconds for a million: for a thread of its own. */
  build(): PrefixTableData {
    return { v4: this.#v4.build(), v6: this.#v6.build() };
  }
}

class FamilyBuilder {
  readonly #isV6: boolean;
  #highs = new Uint32Array(FIRST_CAPACITY);
  #lows = new Uint32Array(FIRST_CAPACITY);
  #lengths = new Uint8Array(FIRST_CAPACITY);
  #values = new Uint32Array(FIRST_CAPACITY);
  size = 0;

  constructor(isV6: boolean) {
    this.#isV6 = isV6;
  }

  add({ high, low, length }: Prefix, value: number): void {
    if (this.size === this.#highs.length) this.#grow();
    this.#highs[this.size] = high;
    this.#lows[this.size] = low;
    this.#lengths[this.size] = length;
    this.#values[this.size] = value;
    this.size += 1;
  }

  build(): FamilyData {
    const order = this.#sortedWithoutRepeats();
    const highs = order.map((from) => this.#highs[from] ?? 0);
    const lows = this.#isV6 ? order.map((from) => this.#lows[from] ?? 0) : new Uint32Array(0);
    const lengths = Uint8Array.from(order, (from) => this.#lengths[from] ?? 0);
    const values = order.map((from) => this.#values[from] ?? 0);
    const sorted = { highs, lows, lengths };
    return { ...sorted, values, parents: parentsOf(sorted), index: indexOf(highs) };
  }

  #sortedWithoutRepeats(): Uint32Array<ArrayBuffer> {
    const [highs, lows, lengths] = [this.#highs, this.#lows, this.#lengths];
    const at = (array: Uint32Array | Uint8Array, place: number) => array[place] ?? 0;
    const order = new Uint32Array(this.size).map((_, place) => place);
    order.sort(
      (one, other) =>
        at(highs, one) - at(highs, other) ||
        at(lows, one) - at(lows, other) ||
        at(lengths, one) - at(lengths, other) ||
        one - other,
    );
    return order.filter((place, index) => {
      const before = order[index - 1];
      return (
        before === undefined ||
        at(highs, place) !== at(highs, before) ||
        at(lows, place) !== at(lows, before) ||
        at(lengths, place) !== at(lengths, before)
      );
    });
  }

  #grow(): void {
    const capacity = this.#highs.length * 2;
    const wider = <Of extends Uint32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>>(
      array: Of,
      next: Of,
    ): Of => {
      next.set(array);
      return next;
    };
    this.#highs = wider(this.#highs, new Uint32Array(capacity));
    this.#lows = wider(this.#lows, new Uint32Array(capacity));
    this.#lengths = wider(this.#lengths, new Uint8Array(capacity));
    this.#values = wider(this.#values, new Uint32Array(capacity));
  }
}

/** One pass: the prefixes around the one that is looked at lie on a stack, the longest on top. */
function parentsOf(sorted: Pick<FamilyData, 'highs' | 'lows' | 'lengths'>): Int32Array<ArrayBuffer> {
  const { highs, lows } = sorted;
  const parents = new Int32Array(highs.length);
  const around: number[] = [];
  for (let place = 0; place < highs.length; place += 1) {
    const liesIn = (outer: number) => isAround(sorted, outer, highs[place] ?? 0, lows[place] ?? 0);
    while (around.length > 0 && !liesIn(around.at(-1) ?? 0)) around.pop();
    parents[place] = around.at(-1) ?? -1;
    around.push(place);
  }
  return parents;
}

function indexOf(highs: Uint32Array): Uint32Array<ArrayBuffer> {
  const index = new Uint32Array(BUCKETS + 1);
  let place = 0;
  for (let bucket = 0; bucket <= BUCKETS; bucket += 1) {
    while (place < highs.length && (highs[place] ?? 0) >>> 16 < bucket) place += 1;
    index[bucket] = place;
  }
  return index;
}
