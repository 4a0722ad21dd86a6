interface Entry<Key, Value> {
  readonly key: Key;
  value: Value;
  before: Entry<Key, Value> | undefined;
  after: Entry<Key, Value> | undefined;
  isGone: boolean;
}

/**
 * A map in the order in which keys came, as `Map` is, whose oldest entry is found and removed at once. A
 * `Map` keeps the holes of deleted entries, and whoever asks for its first key passes them all: tens of
 * microseconds where a large one is full and each new entry takes the oldest one's place.
 */
export class OrderedMap<Key, Value> {
  readonly #entries = new Map<Key, Entry<Key, Value>>();
  #first: Entry<Key, Value> | undefined;
  #last: Entry<Key, Value> | undefined;

  get size(): number {
    return this.#entries.size;
  }

  /** The key that came first; `undefined` when there is none. */
  get oldest(): Key | undefined {
    return this.#first?.key;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)?.value;
  }

  /** A new key comes last, a known one stays where it is. */
  set(key: Key, value: Value): void {
    const known = this.#entries.get(key);
    if (known) known.value = value;
    else this.#append(key, value);
  }

  /** The same, and the key comes last. Gives the value that it had. */
  setLast(key: Key, value: Value): Value | undefined {
    const known = this.#entries.get(key);
    if (known) this.#takeOut(known);
    this.#append(key, value);
    return known?.value;
  }

  /**
   * The value of a key, which comes last from now on: nothing is looked up twice. Nobody may be going through
   * the map meanwhile.
   */
  getLast(key: Key): Value | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    if (entry !== this.#last) {
      this.#takeOut(entry);
      entry.isGone = false;
      this.#link(entry);
    }
    return entry.value;
  }

  /** Removes the key that came first, and gives its value; `undefined` when there is none. */
  deleteOldest(): Value | undefined {
    const first = this.#first;
    if (!first) return undefined;
    this.#entries.delete(first.key);
    this.#takeOut(first);
    return first.value;
  }

  delete(key: Key): boolean {
    const entry = this.#entries.get(key);
    if (!entry) return false;
    this.#entries.delete(key);
    this.#takeOut(entry);
    return true;
  }

  /** In order, the oldest first. It may change meanwhile: what goes is passed over, what comes is met at the end. */
  *[Symbol.iterator](): Generator<[Key, Value]> {
    let entry = this.#first;
    while (entry) {
      yield [entry.key, entry.value];
      entry = this.#behind(entry);
    }
  }

  /** The `most` entries that came last, the newest first. */
  newest(most: number): [Key, Value][] {
    const found: [Key, Value][] = [];
    for (let entry = this.#last; entry && found.length < most; entry = entry.before)
      found.push([entry.key, entry.value]);
    return found;
  }

  *keys(): Generator<Key> {
    for (const [key] of this) yield key;
  }

  *values(): Generator<Value> {
    for (const [, value] of this) yield value;
  }

  /** The entry behind one that may have gone: then the one behind the last that was before it and is still there. */
  #behind(entry: Entry<Key, Value>): Entry<Key, Value> | undefined {
    let there: Entry<Key, Value> | undefined = entry;
    while (there?.isGone) there = there.before;
    return there ? there.after : this.#first;
  }

  #takeOut(entry: Entry<Key, Value>): void {
    const { before, after } = entry;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
    entry.isGone = true;
  }

  #append(key: Key, value: Value): void {
    const entry = { key, value, before: undefined, after: undefined, isGone: false };
    this.#entries.set(key, entry);
    this.#link(entry);
  }

  #link(entry: Entry<Key, Value>): void {
    entry.before = this.#last;
    entry.after = undefined;
    if (this.#last) this.#last.after = entry;
    else this.#first = entry;
    this.#last = entry;
  }
}
