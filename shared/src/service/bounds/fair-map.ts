import type { WeightLimit } from './lru-map.ts';
import { OrderedMap } from './ordered-map.ts';

interface Held<Value> {
  readonly value: Value;
  readonly owner: string;
  readonly weight: number;
}

type Keys = OrderedMap<string, true>;

/**
 * A map with at most `capacity` entries and, where one is given, within a limit of weight, each entry
 * somebody's. Where it is full, who has most entries loses the one of them that was not used for the longest
 * time (longest queue drop: Suter et al., IEEE JSAC 17(6), 1999), so that who fills it pushes out what is his
 * own. The one of all goes where nobody has more than one, and where it counts no more.
 */
export class FairMap<Value> {
  readonly #capacity: number;
  readonly #limit: WeightLimit<string, Value>;
  readonly #isOver: (value: Value) => boolean;
  #entries = new OrderedMap<string, Held<Value>>();
  /** The keys of each owner, the one that was not used for the longest time first. */
  readonly #keysOf = new Map<string, Keys>();
  /** Owners by how many entries they have. */
  readonly #ownersWith = new Map<number, OrderedMap<string, true>>();
  #mostOfOne = 0;
  #weight = 0;

  /**
   * @param isOver whether a value counts no more: else those of many owners would leave each that lives a
   * single entry.
   */
  constructor(
    capacity: number,
    limit: WeightLimit<string, Value> = { most: 0, weigh: () => 0 },
    isOver: (value: Value) => boolean = () => false,
  ) {
    this.#capacity = capacity;
    this.#limit = limit;
    this.#isOver = isOver;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Value | undefined {
    const held = this.#entries.getLast(key);
    if (held) this.#keysOf.get(held.owner)?.getLast(key);
    return held?.value;
  }

  set(key: string, value: Value, owner: string): void {
    this.delete(key);
    const weight = this.#limit.weigh(key, value);
    if (weight > this.#limit.most) return;
    this.#entries.set(key, { value, owner, weight });
    this.#weight += weight;
    const keys: Keys = this.#keysOf.get(owner) ?? new OrderedMap();
    this.#keysOf.set(owner, keys);
    keys.set(key, true);
    this.#noteCount(owner, keys.size - 1, keys.size);
    while (this.#entries.size > this.#capacity || this.#weight > this.#limit.most) {
      const next = this.#nextToGo();
      if (next === undefined) return;
      this.delete(next);
    }
  }

  delete(key: string): void {
    const held = this.#entries.get(key);
    if (!held) return;
    const { owner, weight } = held;
    this.#entries.delete(key);
    this.#weight -= weight;
    const keys = this.#keysOf.get(owner);
    keys?.delete(key);
    if (!keys || keys.size === 0) this.#keysOf.delete(owner);
    if (keys) this.#noteCount(owner, keys.size + 1, keys.size);
  }

  clear(): void {
    this.#entries = new OrderedMap();
    this.#keysOf.clear();
    this.#ownersWith.clear();
    this.#mostOfOne = 0;
    this.#weight = 0;
  }

  /** In order of their last use, the newest last. */
  *[Symbol.iterator](): Generator<[string, Value]> {
    for (const [key, { value }] of this.#entries) yield [key, value];
  }

  #nextToGo(): string | undefined {
    const { oldest } = this.#entries;
    const held = oldest === undefined ? undefined : this.#entries.get(oldest);
    if (this.#mostOfOne <= 1 || (held && this.#isOver(held.value))) return oldest;
    const owner = this.#ownersWith.get(this.#mostOfOne)?.oldest;
    return owner === undefined ? undefined : this.#keysOf.get(owner)?.oldest;
  }

  #noteCount(owner: string, before: number, now: number): void {
    const same = this.#ownersWith.get(before);
    same?.delete(owner);
    if (same?.size === 0) this.#ownersWith.delete(before);
    if (now > 0) {
      const others = this.#ownersWith.get(now) ?? new OrderedMap<string, true>();
      this.#ownersWith.set(now, others);
      others.set(owner, true);
    }
    // It changes by one at a time.
    if (now > this.#mostOfOne || !this.#ownersWith.has(this.#mostOfOne)) this.#mostOfOne = now;
  }
}
