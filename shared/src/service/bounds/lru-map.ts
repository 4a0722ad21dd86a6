import { OrderedMap } from './ordered-map.ts';

/** A limit beside the number of entries: the sum of what `weigh` says of each when it is set. */
export interface WeightLimit<Key, Value> {
  readonly most: number;
  readonly weigh: (key: Key, value: Value) => number;
}

interface Held<Value> {
  readonly value: Value;
  readonly weight: number;
}

/**
 * A map with at most `capacity` entries and, where one is given, within a limit of weight. The entry that was not used
 * for the longest time goes first; one that alone is over the limit is not kept.
 */
export class LruMap<Key, Value> {
  readonly #capacity: number;
  readonly #limit: WeightLimit<Key, Value>;
  readonly #entries = new OrderedMap<Key, Held<Value>>();
  #weight = 0;

  constructor(capacity: number, limit: WeightLimit<Key, Value> = { most: 0, weigh: () => 0 }) {
    this.#capacity = capacity;
    this.#limit = limit;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Value | undefined {
    return this.#entries.getLast(key)?.value;
  }

  set(key: Key, value: Value): void {
    const { most, weigh } = this.#limit;
    const weight = weigh(key, value);
    const before = this.#entries.setLast(key, { value, weight });
    this.#weight += weight - (before?.weight ?? 0);
    if (weight > most) {
      this.#entries.delete(key);
      this.#weight -= weight;
    }
    while (this.#entries.size > this.#capacity || this.#weight > most)
      this.#weight -= this.#entries.deleteOldest()?.weight ?? 0;
  }
}
