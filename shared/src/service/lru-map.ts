/** A limit beside the number of entries: the sum of what `weigh` says of each when it is set. */
interface WeightLimit<Key, Value> {
  readonly most: number;
  readonly weigh: (key: Key, value: Value) => number;
}

/** An entry between the one that was used before it and the one that was used after it. */
interface Held<Key, Value> {
  readonly key: Key;
  value: Value;
  weight: number;
  before: Held<Key, Value> | undefined;
  after: Held<Key, Value> | undefined;
}

/**
 * A map with at most `capacity` entries and, where one is given, within a limit of weight. The entry that was not used
 * for the longest time goes first; one that alone is over the limit is not kept.
 */
export class LruMap<Key, Value> {
  readonly #capacity: number;
  readonly #limit: WeightLimit<Key, Value>;
  // The order of use is a list of its own: a Map keeps the holes of deleted entries, and whoever asks for its first key
  // passes them all, tens of microseconds for each new entry of a large full map.
  readonly #entries = new Map<Key, Held<Key, Value>>();
  #oldest: Held<Key, Value> | undefined;
  #newest: Held<Key, Value> | undefined;
  #weight = 0;

  constructor(capacity: number, limit: WeightLimit<Key, Value> = { most: 0, weigh: () => 0 }) {
    this.#capacity = capacity;
    this.#limit = limit;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    const held = this.#entries.get(key);
    if (held === undefined) return undefined;
    if (held !== this.#newest) {
      this.#takeOut(held);
      this.#append(held);
    }
    return held.value;
  }

  set(key: Key, value: Value): void {
    const { most, weigh } = this.#limit;
    const weight = weigh(key, value);
    const known = this.#entries.get(key);
    if (weight > most) {
      if (known) this.#forget(known);
      return;
    }
    if (known) {
      this.#weight += weight - known.weight;
      known.value = value;
      known.weight = weight;
      this.#takeOut(known);
      this.#append(known);
    } else {
      const held = { key, value, weight, before: undefined, after: undefined };
      this.#entries.set(key, held);
      this.#weight += weight;
      this.#append(held);
    }
    while (this.#oldest && (this.#entries.size > this.#capacity || this.#weight > most))
      this.#forget(this.#oldest);
  }

  #forget(held: Held<Key, Value>): void {
    this.#entries.delete(held.key);
    this.#weight -= held.weight;
    this.#takeOut(held);
  }

  #takeOut(held: Held<Key, Value>): void {
    const { before, after } = held;
    if (before) before.after = after;
    else this.#oldest = after;
    if (after) after.before = before;
    else this.#newest = before;
  }

  #append(held: Held<Key, Value>): void {
    held.before = this.#newest;
    held.after = undefined;
    if (this.#newest) this.#newest.after = held;
    else this.#oldest = held;
    this.#newest = held;
  }
}
