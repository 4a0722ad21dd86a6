/** Room for so many chains that have begun; it doubles. */
const FIRST_ROOM = 512;

/**
 * Chains that have begun, of which the one with the least bound comes first: columns instead of objects,
 * because a search makes thousands of them.
 */
export class PartialChains {
  #room = FIRST_ROOM;
  #count = 0;
  before: Int32Array = new Int32Array(FIRST_ROOM);
  depot: Int32Array = new Int32Array(FIRST_ROOM);
  depots: Uint8Array = new Uint8Array(FIRST_ROOM);
  /** Where the last leg stands in its row. */
  place: Int32Array = new Int32Array(FIRST_ROOM);
  passing: Float64Array = new Float64Array(FIRST_ROOM);
  cap: Float64Array = new Float64Array(FIRST_ROOM);
  shortest: Float64Array = new Float64Array(FIRST_ROOM);
  longest: Float64Array = new Float64Array(FIRST_ROOM);
  lossy: Float64Array = new Float64Array(FIRST_ROOM);
  latest: Float64Array = new Float64Array(FIRST_ROOM);
  #bound: Float64Array = new Float64Array(FIRST_ROOM);
  /** A binary heap of those that wait. */
  #waiting: Int32Array = new Int32Array(FIRST_ROOM);
  #waits = 0;

  get count(): number {
    return this.#count;
  }

  clear(): void {
    this.#count = 0;
    this.#waits = 0;
  }

  /** Takes the chain with the least bound; -1 where there is none with less than `most`. */
  take(most: number): number {
    const first = this.#waiting[0] ?? 0;
    if (this.#waits === 0 || (this.#bound[first] ?? 0) >= most) return -1;
    this.#waits -= 1;
    const last = this.#waiting[this.#waits] ?? 0;
    const bound = this.#bound[last] ?? 0;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= this.#waits) break;
      if (below + 1 < this.#waits && this.#boundAt(below + 1) < this.#boundAt(below)) below += 1;
      if (this.#boundAt(below) >= bound) break;
      this.#waiting[at] = this.#waiting[below] ?? 0;
      at = below;
    }
    this.#waiting[at] = last;
    return first;
  }

  add(
    before: number,
    depot: number,
    depots: number,
    place: number,
    passing: number,
    cap: number,
    shortest: number,
    longest: number,
    lossy: number,
    latest: number,
    bound: number,
  ): void {
    if (this.#count === this.#room) this.#grow();
    const index = this.#count;
    this.#count += 1;
    this.before[index] = before;
    this.depot[index] = depot;
    this.depots[index] = depots;
    this.place[index] = place;
    this.passing[index] = passing;
    this.cap[index] = cap;
    this.shortest[index] = shortest;
    this.longest[index] = longest;
    this.lossy[index] = lossy;
    this.latest[index] = latest;
    this.#bound[index] = bound;
    let at = this.#waits;
    this.#waits += 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (this.#boundAt(above) <= bound) break;
      this.#waiting[at] = this.#waiting[above] ?? 0;
      at = above;
    }
    this.#waiting[at] = index;
  }

  #boundAt(at: number): number {
    return this.#bound[this.#waiting[at] ?? 0] ?? 0;
  }

  #grow(): void {
    this.#room *= 2;
    const ints = (column: Int32Array) => filled(new Int32Array(this.#room), column);
    const bytes = (column: Uint8Array) => filled(new Uint8Array(this.#room), column);
    const numbers = (column: Float64Array) => filled(new Float64Array(this.#room), column);
    this.before = ints(this.before);
    this.depot = ints(this.depot);
    this.place = ints(this.place);
    this.#waiting = ints(this.#waiting);
    this.depots = bytes(this.depots);
    this.passing = numbers(this.passing);
    this.cap = numbers(this.cap);
    this.shortest = numbers(this.shortest);
    this.longest = numbers(this.longest);
    this.lossy = numbers(this.lossy);
    this.latest = numbers(this.latest);
    this.#bound = numbers(this.#bound);
  }
}

function filled<Column extends Int32Array | Uint8Array | Float64Array>(into: Column, from: Column): Column {
  into.set(from);
  return into;
}
