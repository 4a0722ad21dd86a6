import { randomInt } from 'node:crypto';
import type { ConnectionsElsewhere, UnusedConnections } from '@longhaul/shared/service';

/** Places of a table of counts; networks that fall on the same place are counted together there. */
const PLACES = 4096;
/**
 * Tables of one holder, each with places of its own: only who shares his place in all of them is taken for
 * more than he has.
 */
const TABLES = 2;
/**
 * Numbers of one holder before his tables: connections of all networks, those that the main thread is to
 * judge, handshakes.
 */
const [ALL, PASSED_UP, WHOLE, RESUMED] = [0, 1, 2, 3];
const FIRST_PLACE = 4;
const HOLDER_NUMBERS = FIRST_PLACE + TABLES * PLACES;
/** Of those a thread passes up so many before the first is judged: what comes faster is closed by the thread. */
const MOST_PASSED_UP = 64;
const MOST_SALT = 2 ** 32;
const NS_PER_MS = 1_000_000n;

/** What a thread can be made to count the same connections with. */
export interface SharedCountsMemory {
  readonly numbers: SharedArrayBuffer;
  /** For each place the time, by the clock of all threads, at which everything that ended unused there is forgotten. */
  readonly unusedUntilNs: SharedArrayBuffer;
  readonly salt: number;
}

/**
 * Connections of one listener by client network, counted by several threads in memory that all of them see,
 * without a lock. A network has never fewer than are its own, and more only where it shares its places (a
 * count-min sketch, salted so that nobody can choose with whom).
 */
export class SharedCounts implements ConnectionsElsewhere {
  readonly memory: SharedCountsMemory;
  readonly #numbers: Int32Array;
  readonly #unusedUntilNs: BigInt64Array;
  readonly #salt: number;
  /** Threads that hold connections; behind their numbers those of the main thread. */
  readonly #threads: number;

  constructor(
    threads: number,
    memory: SharedCountsMemory = {
      numbers: new SharedArrayBuffer((threads + 2) * HOLDER_NUMBERS * Int32Array.BYTES_PER_ELEMENT),
      unusedUntilNs: new SharedArrayBuffer(TABLES * PLACES * BigInt64Array.BYTES_PER_ELEMENT),
      salt: randomInt(MOST_SALT),
    },
  ) {
    this.#threads = threads;
    this.memory = memory;
    this.#numbers = new Int32Array(memory.numbers);
    this.#unusedUntilNs = new BigInt64Array(memory.unusedUntilNs);
    this.#salt = memory.salt;
  }

  /** Connections that threads hold. */
  all(): number {
    let sum = 0;
    for (let holder = 0; holder < this.#threads; holder += 1)
      sum += Atomics.load(this.#numbers, holder * HOLDER_NUMBERS + ALL);
    return sum;
  }

  of(network: string): number {
    return this.#least(network);
  }

  note(network: string, open: number, waiting: number): void {
    if (open !== 0) this.add(this.#threads, network, open);
    if (waiting !== 0) this.add(this.#threads + 1, network, waiting);
  }

  /**
   * Connections that end without a request, in any thread. Each moves the time on at which its network has
   * nothing against it any more, so that one number is both how many there were and how many have come back
   * since; it is too late when `most` of them are before it.
   */
  unused(most: number, backMs: number): UnusedConnections {
    const backNs = BigInt(backMs) * NS_PER_MS;
    const eachNs = backNs / BigInt(most);
    // One clock for all threads.
    const nowNs = () => process.hrtime.bigint();
    return {
      note: (network) => {
        for (const place of this.#places(network)) this.#moveOn(place - FIRST_PLACE, nowNs(), eachNs);
      },
      hasTooMany: (network) => {
        const latestNs = nowNs() + backNs - eachNs;
        return this.#places(network).every(
          (place) => Atomics.load(this.#unusedUntilNs, place - FIRST_PLACE) > latestNs,
        );
      },
    };
  }

  /**
   * What a thread holds against the bounds: connections of all networks, of one, and those of it that wait
   * for a request.
   */
  seen(network: string): { readonly all: number; readonly open: number; readonly waiting: number } {
    const [open, waiting] = [this.#threads, this.#threads + 1];
    return {
      all: this.all() + Atomics.load(this.#numbers, open * HOLDER_NUMBERS + ALL),
      open: this.#least(network, open),
      waiting: this.#least(network, waiting),
    };
  }

  /** Changes what a thread, by its place among them, holds of a network. */
  add(holder: number, network: string, change: number): void {
    const base = holder * HOLDER_NUMBERS;
    Atomics.add(this.#numbers, base + ALL, change);
    for (const place of this.#places(network)) Atomics.add(this.#numbers, base + place, change);
  }

  /** A thread holds nothing any more. */
  clear(holder: number): void {
    const base = holder * HOLDER_NUMBERS;
    for (const index of [ALL, PASSED_UP]) Atomics.store(this.#numbers, base + index, 0);
    for (let index = FIRST_PLACE; index < HOLDER_NUMBERS; index += 1)
      Atomics.store(this.#numbers, base + index, 0);
  }

  /** Whether a thread may pass a connection up, to be judged by the main thread. */
  passUp(holder: number): boolean {
    const index = holder * HOLDER_NUMBERS + PASSED_UP;
    if (Atomics.add(this.#numbers, index, 1) < MOST_PASSED_UP) return true;
    Atomics.sub(this.#numbers, index, 1);
    return false;
  }

  /** One that was passed up is being judged. */
  takePassedUp(holder: number): void {
    Atomics.sub(this.#numbers, holder * HOLDER_NUMBERS + PASSED_UP, 1);
  }

  noteHandshake(holder: number, isResumed: boolean): void {
    Atomics.add(this.#numbers, holder * HOLDER_NUMBERS + (isResumed ? RESUMED : WHOLE), 1);
  }

  /** Handshakes that all threads have done. */
  handshakes(isResumed: boolean): number {
    let sum = 0;
    for (let holder = 0; holder < this.#threads; holder += 1)
      sum += Atomics.load(this.#numbers, holder * HOLDER_NUMBERS + (isResumed ? RESUMED : WHOLE));
    return sum;
  }

  #moveOn(index: number, nowNs: bigint, byNs: bigint): void {
    for (;;) {
      const before = Atomics.load(this.#unusedUntilNs, index);
      const next = (before > nowNs ? before : nowNs) + byNs;
      if (Atomics.compareExchange(this.#unusedUntilNs, index, before, next) === before) return;
    }
  }

  /** Of a network, what all threads hold and what one more holder does, by the table where it is least. */
  #least(network: string, other?: number): number {
    let least = Infinity;
    for (const place of this.#places(network)) {
      let sum = other === undefined ? 0 : Atomics.load(this.#numbers, other * HOLDER_NUMBERS + place);
      for (let holder = 0; holder < this.#threads; holder += 1)
        sum += Atomics.load(this.#numbers, holder * HOLDER_NUMBERS + place);
      least = Math.min(least, sum);
    }
    return least;
  }

  /** Where a network is counted in a holder's tables. */
  #places(network: string): readonly [number, number] {
    let hash = this.#salt;
    for (let index = 0; index < network.length; index += 1) {
      hash = Math.imul(hash ^ network.charCodeAt(index), 0x5bd1e995);
      hash ^= hash >>> 15;
    }
    const other = Math.imul(hash ^ this.#salt, 0x27d4eb2f);
    return [
      FIRST_PLACE + ((hash >>> 0) % PLACES),
      FIRST_PLACE + PLACES + (((other ^ (other >>> 13)) >>> 0) % PLACES),
    ];
  }
}
