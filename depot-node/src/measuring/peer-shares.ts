import { LruMap } from '@longhaul/shared/service';

/** Of an hour's bytes, those that one other depot may ask for: tests of a mesh ask each for less. */
const SHARE = 0.25;
/** Of these, what may be asked for in several tests at once; one test may be as long as any where nothing was asked for lately. */
const AT_ONCE = 0.25;
/** A test counts as so many bytes at least: however short it is, no other one runs meanwhile. */
const LEAST_BYTES = 262_144;
/** Depots of which is remembered what they had: as many as an overlay has. */
const MOST_PEERS = 1_000;
const HOUR_MS = 3_600_000;

/** What a depot has had, and what of it still counts at a time. */
interface Had {
  readonly bytes: number;
  readonly atMs: number;
}

/** Bounds what one depot may have sent to itself for tests, so that it takes neither the hour's bytes nor the time of all others. */
export class PeerShares {
  readonly #shareBytes: number;
  readonly #had = new LruMap<string, Had>(MOST_PEERS);

  constructor(bytesPerHour: number) {
    this.#shareBytes = SHARE * bytesPerHour;
  }

  /** Whether a depot may have a test of so many bytes now. */
  hasRoomFor(depot: string, bytes: number, nowMs: number): boolean {
    const had = this.#hadAt(depot, nowMs);
    return had === 0 || had + countedOf(bytes) <= AT_ONCE * this.#shareBytes;
  }

  note(depot: string, bytes: number, nowMs: number): void {
    this.#had.set(depot, { bytes: this.#hadAt(depot, nowMs) + countedOf(bytes), atMs: nowMs });
  }

  #hadAt(depot: string, nowMs: number): number {
    const had = this.#had.get(depot);
    if (!had) return 0;
    // A clock that was set back gives nothing back.
    const passedMs = Math.max(0, nowMs - had.atMs);
    return Math.max(0, had.bytes - (this.#shareBytes * passedMs) / HOUR_MS);
  }
}

function countedOf(bytes: number): number {
  return Math.max(bytes, LEAST_BYTES);
}
