/** Packets up to this size are carried, in bytes: room for jumbo frames, although the lab's devices have 1500. */
export const MAX_PACKET_BYTES = 9216;
/** Smallest packet that can be expected: IPv4 and TCP headers alone have 40. Bounds how many can be under way. */
const SMALLEST_PACKET_BYTES = 40;
const FRAMES_AT_LEAST = 1024;

/**
 * Where packets under way lie, first in, first out. Bytes lie elsewhere: this ring deals out places in a memory of
 * `capacityBytes`, of which it uses the first `limitBytes`, and keeps the times of each packet in typed arrays.
 */
export class PacketRing {
  readonly capacityBytes: number;
  #limitBytes = 0;
  /** Place that the next packet gets, when it fits. */
  #nextOffset = 0;
  #mask = 0;
  #head = 0;
  #count = 0;
  #offsets = new Int32Array(0);
  #sizes = new Int32Array(0);
  #departures = new Float64Array(0);
  #travels = new Float64Array(0);
  #dues = new Float64Array(0);

  constructor(capacityBytes: number, limitBytes: number) {
    this.capacityBytes = capacityBytes;
    this.setLimit(limitBytes);
  }

  get count(): number {
    return this.#count;
  }

  /** How much memory may be used from now on. Packets under way keep their places. */
  setLimit(limitBytes: number): void {
    this.#limitBytes = Math.min(Math.max(limitBytes, 2 * MAX_PACKET_BYTES), this.capacityBytes);
    const frames = Math.max(FRAMES_AT_LEAST, this.#limitBytes / SMALLEST_PACKET_BYTES, this.#count);
    const slots = 2 ** Math.ceil(Math.log2(frames));
    if (slots > this.#mask + 1 || this.#mask === 0) this.#resize(slots);
  }

  /** Where the next packet's bytes belong, with room for {@link MAX_PACKET_BYTES}; -1 when the memory is full. */
  place(): number {
    if (this.#count === 0) return 0;
    if (this.#count > this.#mask) return -1;
    const first = this.#offsets[this.#head] ?? 0;
    if (this.#nextOffset <= first)
      return this.#nextOffset + MAX_PACKET_BYTES <= first ? this.#nextOffset : -1;
    if (this.#nextOffset + MAX_PACKET_BYTES <= this.#limitBytes) return this.#nextOffset;
    return MAX_PACKET_BYTES <= first ? 0 : -1;
  }

  /** Keeps a packet whose bytes are at `offset`, which is what `place` just gave. */
  push(offset: number, sizeBytes: number, departureMs: number, travelMs: number, dueMs: number): void {
    const slot = (this.#head + this.#count) & this.#mask;
    this.#offsets[slot] = offset;
    this.#sizes[slot] = sizeBytes;
    this.#departures[slot] = departureMs;
    this.#travels[slot] = travelMs;
    this.#dues[slot] = dueMs;
    this.#count += 1;
    this.#nextOffset = offset + sizeBytes;
  }

  shift(): void {
    this.#head = (this.#head + 1) & this.#mask;
    this.#count -= 1;
  }

  clear(): void {
    this.#count = 0;
  }

  /** Times and places by position, 0 is the first to leave. Only positions below `count` have a meaning. */
  offsetAt(position: number): number {
    return this.#offsets[(this.#head + position) & this.#mask] ?? 0;
  }

  sizeAt(position: number): number {
    return this.#sizes[(this.#head + position) & this.#mask] ?? 0;
  }

  departureAt(position: number): number {
    return this.#departures[(this.#head + position) & this.#mask] ?? 0;
  }

  travelAt(position: number): number {
    return this.#travels[(this.#head + position) & this.#mask] ?? 0;
  }

  dueAt(position: number): number {
    return this.#dues[(this.#head + position) & this.#mask] ?? 0;
  }

  setTimes(position: number, departureMs: number, dueMs: number): void {
    const slot = (this.#head + position) & this.#mask;
    this.#departures[slot] = departureMs;
    this.#dues[slot] = dueMs;
  }

  #resize(slots: number): void {
    this.#offsets = this.#moved(this.#offsets, new Int32Array(slots));
    this.#sizes = this.#moved(this.#sizes, new Int32Array(slots));
    this.#departures = this.#moved(this.#departures, new Float64Array(slots));
    this.#travels = this.#moved(this.#travels, new Float64Array(slots));
    this.#dues = this.#moved(this.#dues, new Float64Array(slots));
    this.#head = 0;
    this.#mask = slots - 1;
  }

  #moved<Column extends Int32Array | Float64Array>(from: Column, to: Column): Column {
    for (let position = 0; position < this.#count; position += 1) {
      to[position] = from[(this.#head + position) & this.#mask] ?? 0;
    }
    return to;
  }
}
