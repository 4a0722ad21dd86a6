import { plainAddress } from '../../address-policy.ts';
import { LruMap } from '../bounds/lru-map.ts';

/** Addresses remembered: each depot has one or two. */
const MAX_SOURCES = 4_000;
/** A depot that was heard from an address within this time is expected there again. */
const SOURCE_LIFE_MS = 1_800_000;

/** Addresses that depots with proved addresses are at, or have sent signed requests from: room is kept for them. */
export class DepotSources {
  readonly #seenAtMs = new LruMap<string, number>(MAX_SOURCES);
  /** By address, when each depot has sent from there last: several may stand behind one. */
  readonly #sentAtMs = new LruMap<string, Map<string, number>>(MAX_SOURCES);
  /** By depot and family, the newest address that it has sent from. */
  readonly #newest = new LruMap<string, string>(MAX_SOURCES);

  /** Somebody is there, who has proved it. */
  note(address: string, nowMs: number): void {
    this.#seenAtMs.set(plainAddress(address), nowMs);
  }

  /**
   * A depot has sent a signed request from there. Of each family its newest address counts: one that has a
   * whole /64 would have room kept for each address of that, until none is left for others.
   */
  noteSent(depot: string, address: string, nowMs: number): void {
    const from = plainAddress(address);
    const line = `${depot} ${from.includes(':') ? 6 : 4}`;
    const before = this.#newest.get(line);
    if (before !== undefined && before !== from) this.#sentAtMs.get(before)?.delete(line);
    this.#newest.set(line, from);
    const sentAtMs = this.#sentAtMs.get(from) ?? new Map<string, number>();
    this.#sentAtMs.set(from, sentAtMs.set(line, nowMs));
  }

  has(address: string, nowMs: number): boolean {
    const at = plainAddress(address);
    const isLately = (seenAtMs: number) => Math.abs(nowMs - seenAtMs) <= SOURCE_LIFE_MS;
    const seenAtMs = this.#seenAtMs.get(at);
    if (seenAtMs !== undefined && isLately(seenAtMs)) return true;
    return [...(this.#sentAtMs.get(at)?.values() ?? [])].some(isLately);
  }
}
