import { plainAddress } from '../address-policy.ts';
import { LruMap } from './lru-map.ts';

/** Addresses remembered: each depot has one or two. */
const MAX_SOURCES = 4_000;
/** A depot that was heard from an address within this time is expected there again. */
const SOURCE_LIFE_MS = 1_800_000;

/** Addresses that depots with proved addresses are at, or have sent signed requests from: room is kept for them. */
export class DepotSources {
  readonly #seenAtMs = new LruMap<string, number>(MAX_SOURCES);

  note(address: string, nowMs: number): void {
    this.#seenAtMs.set(plainAddress(address), nowMs);
  }

  has(address: string, nowMs: number): boolean {
    const seenAtMs = this.#seenAtMs.get(plainAddress(address));
    return seenAtMs !== undefined && Math.abs(nowMs - seenAtMs) <= SOURCE_LIFE_MS;
  }
}
