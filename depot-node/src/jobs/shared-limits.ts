import { FairRoom } from '@longhaul/shared/service';
import { RecentRate } from './recent-rate.ts';

/** Counts by key, each bounded. */
export class Crowds {
  readonly #most: number;
  readonly #counts = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  isFull(key: string): boolean {
    return this.#of(key) >= this.#most;
  }

  change(key: string, by: 1 | -1): void {
    const count = this.#of(key) + by;
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
  }

  #of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }
}

/** Counts by key, each bounded, and shared fairly by those who take of it. */
export class FairCrowds {
  readonly #most: number;
  readonly #rooms = new Map<string, FairRoom>();

  constructor(most: number) {
    this.#most = most;
  }

  isFullFor(key: string, taker: string): boolean {
    return !(this.#rooms.get(key) ?? new FairRoom(this.#most)).hasRoomFor(taker, 1);
  }

  change(key: string, taker: string, by: 1 | -1): void {
    const room = this.#rooms.get(key) ?? new FairRoom(this.#most);
    this.#rooms.set(key, room);
    if (by === 1) room.take(taker, 1);
    else room.giveBack(taker, 1);
    if (room.used === 0) this.#rooms.delete(key);
  }
}

/** Rates by key, each bounded, over ten seconds. */
export class RateLimits {
  /** Bits per second; without it nothing is counted. */
  readonly #maxBps: number | undefined;
  readonly #rate: RecentRate;

  constructor(maxBps: number | undefined, nowSeconds: () => number) {
    this.#maxBps = maxBps;
    this.#rate = new RecentRate(nowSeconds);
  }

  isOver(key: string): boolean {
    return this.#maxBps !== undefined && this.#rate.of(key) > this.#maxBps;
  }

  note(key: string, bytes: number): void {
    if (this.#maxBps !== undefined) this.#rate.note(key, bytes);
  }
}
