import { LruMap, RefillingBudget } from '@longhaul/shared/service';

/** Of an hour's bytes, those that one other depot may ask for: tests of a mesh ask each for less. */
const SHARE = 0.25;
/**
 * Of these, what may be asked for in several tests at once, since one that shows a change is followed by the
 * next; one test may be as long as any where nothing was asked for lately.
 */
const AT_ONCE = 0.5;
/** A test counts as so many bytes at least: however short it is, no other one runs meanwhile. */
const LEAST_BYTES = 262_144;
/** Depots of which is remembered what they had: as many as an overlay has. */
const MOST_PEERS = 1_000;
const HOUR_MS = 3_600_000;

/**
 * Bounds what one depot may have sent to itself for tests, so that it takes neither the hour's bytes nor the
 * time of all others.
 */
export class PeerShares {
  readonly #shareBytes: number;
  readonly #budgets = new LruMap<string, RefillingBudget>(MOST_PEERS);

  constructor(bytesPerHour: number) {
    this.#shareBytes = SHARE * bytesPerHour;
  }

  /** Whether a depot may have a test of so many bytes now. */
  hasRoomFor(depot: string, bytes: number, nowMs: number): boolean {
    const leftBytes = this.#budgets.get(depot)?.leftAt(nowMs) ?? this.#mostBytes;
    return leftBytes === this.#mostBytes || countedOf(bytes) <= leftBytes;
  }

  note(depot: string, bytes: number, nowMs: number): void {
    const budget =
      this.#budgets.get(depot) ?? new RefillingBudget(this.#mostBytes, this.#shareBytes / HOUR_MS);
    budget.spend(countedOf(bytes), nowMs);
    this.#budgets.set(depot, budget);
  }

  get #mostBytes(): number {
    return AT_ONCE * this.#shareBytes;
  }
}

function countedOf(bytes: number): number {
  return Math.max(bytes, LEAST_BYTES);
}
