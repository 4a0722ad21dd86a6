import { BITS_PER_BYTE } from '@longhaul/shared';

/** Part of an equal share that everybody keeps: enough to be noticed when it wants more. */
const RESTING_PART = 1 / 8;

/** Who uses this part of what he was allowed is held back by it, and wants as much as he can get. */
const HUNGRY_PART = 7 / 8;
/** Room above the use of all others, so that a growing one is seen as hungry at the next look. */
const ROOM_FACTOR = 4 / 3;
/** Less time than this says nothing: packets go out in bursts. */
const MIN_LOOK_MS = 500;

/** What a job or a connection makes of its share of the uplink, from one look to the next. */
export class ShareUse {
  #shareBps = 0;
  /** As {@link shareUplink} takes it; who has not been looked at yet may want everything. */
  #demandBps = Infinity;
  #usedBits = 0;
  #allowedBits = 0;
  #countedMs: number;
  #sinceMs: number;

  constructor(nowMs: number) {
    this.#countedMs = nowMs;
    this.#sinceMs = nowMs;
  }

  get shareBps(): number {
    return this.#shareBps;
  }

  get demandBps(): number {
    return this.#demandBps;
  }

  setShare(shareBps: number, nowMs: number): void {
    this.#count(nowMs);
    this.#shareBps = shareBps;
  }

  note(sentBytes: number): void {
    this.#usedBits += sentBytes * BITS_PER_BYTE;
  }

  /** Judges the time since the last look by what was sent in it. */
  look(nowMs: number): void {
    const elapsedMs = nowMs - this.#sinceMs;
    if (elapsedMs < MIN_LOOK_MS) return;
    this.#count(nowMs);
    const isHungry = this.#usedBits >= HUNGRY_PART * this.#allowedBits;
    this.#demandBps = isHungry ? Infinity : (ROOM_FACTOR * this.#usedBits * 1000) / elapsedMs;
    this.#usedBits = 0;
    this.#allowedBits = 0;
    this.#sinceMs = nowMs;
  }

  #count(nowMs: number): void {
    this.#allowedBits += (this.#shareBps * (nowMs - this.#countedMs)) / 1000;
    this.#countedMs = nowMs;
  }
}

/** Those who share a rate, each with what is his by his use. */
export function sharesByUse<T extends { readonly use: ShareUse }>(
  rateBps: number,
  sharers: Iterable<T>,
): [T, number][] {
  const all = [...sharers];
  const shares = shareUplink(
    rateBps,
    all.map(({ use }) => use.demandBps),
  );
  return all.map((sharer, index) => [sharer, shares[index] ?? 0]);
}

/**
 * Max-min fair shares (progressive filling) of a rate for these demands, all in bits per second: nobody gets more than
 * somebody who wants more than he has. `Infinity` wants all there is; no demand counts as less than an eighth of an
 * equal share. What nobody asked for is spread evenly, so the shares always add up to the rate and none of them is 0.
 */
export function shareUplink(rateBps: number, demandsBps: readonly number[]): number[] {
  const floorBps = (rateBps / demandsBps.length) * RESTING_PART;
  const wanted = demandsBps
    .map((demandBps, index) => ({ index, demandBps: Math.max(demandBps, floorBps) }))
    .toSorted((one, other) => one.demandBps - other.demandBps);
  const shares = demandsBps.map(() => 0);
  let restBps = rateBps;
  let left = wanted.length;
  for (const { index, demandBps } of wanted) {
    const shareBps = Math.min(demandBps, restBps / left);
    shares[index] = shareBps;
    restBps -= shareBps;
    left -= 1;
  }
  const spreadBps = Math.max(0, restBps) / demandsBps.length;
  return shares.map((shareBps) => shareBps + spreadBps);
}
