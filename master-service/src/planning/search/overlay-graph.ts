import { isEnd } from '@longhaul/shared';
import { pairKey } from '../links/configured-links.ts';
import { NO_DOUBT } from '../links/leg-scenarios.ts';
import type { LinkView } from '../links/link-view.ts';
import type { Senders } from './chain-legs.ts';
import { OverlayLeg } from './overlay-leg.ts';

/** An estimate is read again after so long: figures age, and run out. */
const REREAD_MS = 10_000;
/** Links that one plan reads again: some tens of microseconds. The next plan goes on. */
const MOST_REREAD = 64;
/** Numbers of depots that have gone are given up when so many more were given out than depots were there at first. */
const MOST_GONE = 2_000;
/** A row begins with room for so many legs, and doubles. */
const FIRST_LEGS = 8;

/** The legs from one depot to others, towards the origin, those with the shortest round trip first. */
export class LegRow {
  count = 0;
  /** Where each leg leads. */
  ends: Int32Array = new Int32Array(FIRST_LEGS);
  rttSeconds: Float64Array = new Float64Array(FIRST_LEGS);
  readonly legs: OverlayLeg[] = [];

  legTo(end: number): OverlayLeg | undefined {
    return this.legs[this.#placeOf(end)];
  }

  /** Knows another leg to this depot from now on, or none. */
  set(end: number, leg: OverlayLeg | undefined): void {
    const known = this.#placeOf(end);
    if (known >= 0) this.#remove(known);
    if (leg) this.#insert(end, leg);
  }

  #placeOf(end: number): number {
    return this.ends.subarray(0, this.count).indexOf(end);
  }

  #remove(at: number): void {
    this.ends.copyWithin(at, at + 1, this.count);
    this.rttSeconds.copyWithin(at, at + 1, this.count);
    this.legs.splice(at, 1);
    this.count -= 1;
  }

  #insert(end: number, leg: OverlayLeg): void {
    if (this.count === this.ends.length) {
      this.ends = grown(this.ends, new Int32Array(2 * this.count));
      this.rttSeconds = grown(this.rttSeconds, new Float64Array(2 * this.count));
    }
    let at = this.count;
    while (at > 0 && (this.rttSeconds[at - 1] ?? 0) > leg.rttSeconds) at -= 1;
    this.ends.copyWithin(at + 1, at, this.count);
    this.rttSeconds.copyWithin(at + 1, at, this.count);
    this.ends[at] = end;
    this.rttSeconds[at] = leg.rttSeconds;
    this.legs.splice(at, 0, leg);
    this.count += 1;
  }
}

function grown<Numbers extends Int32Array | Float64Array>(from: Numbers, into: Numbers): Numbers {
  into.set(from);
  return into;
}

/**
 * The depots as numbers and the legs between them, ready for a search. It depends on the links alone, and
 * follows each of them when it changes: a microsecond, and some hundred bytes for each.
 */
export class OverlayGraph {
  readonly #links: LinkView;
  readonly #senders: Senders;
  readonly #numbers = new Map<string, number>();
  readonly #ids: string[] = [];
  readonly #rows: LegRow[] = [];
  /** When each link was read, the longest ago first. */
  readonly #readAtMs = new Map<OverlayLink, number>();
  readonly #known = new Map<string, OverlayLink>();
  /** How many numbers were given out when all links were read; -1 before. */
  #readSize = -1;

  constructor(links: LinkView, senders: Senders) {
    this.#links = links;
    this.#senders = senders;
    links.onChange((one, other, nowMs) => {
      if (this.#readSize >= 0 && isBetweenDepots(one, other)) this.#read(one, other, nowMs);
    });
  }

  /** How many numbers depots have: all are below. */
  get size(): number {
    return this.#ids.length;
  }

  /** Makes it ready for a plan at this time. */
  refresh(nowMs: number): void {
    if (this.#readSize < 0 || this.size > this.#readSize + MOST_GONE) this.#readAll(nowMs);
    let left = MOST_REREAD;
    for (const [link, atMs] of this.#readAtMs) {
      if (left === 0 || Math.abs(nowMs - atMs) < REREAD_MS) break;
      this.#read(link.one, link.other, nowMs);
      left -= 1;
    }
  }

  numberOf(id: string): number {
    const known = this.#numbers.get(id);
    if (known !== undefined) return known;
    const number = this.#ids.length;
    this.#numbers.set(id, number);
    this.#ids.push(id);
    this.#rows.push(new LegRow());
    return number;
  }

  idOf(number: number): string {
    return this.#ids[number] ?? '';
  }

  /** The legs from a depot to others. */
  row(number: number): LegRow {
    return this.#rows[number] ?? NO_LEGS;
  }

  /** The depots that a depot has legs to, with their round trips, the nearest first. */
  *around(id: string): Iterable<readonly [id: string, rttMs: number]> {
    const number = this.#numbers.get(id);
    const { ends, rttSeconds, count } = number === undefined ? NO_LEGS : this.row(number);
    for (let index = 0; index < count; index += 1)
      yield [this.idOf(ends[index] ?? 0), 1000 * (rttSeconds[index] ?? 0)];
  }

  #readAll(nowMs: number): void {
    this.#numbers.clear();
    this.#ids.length = 0;
    this.#rows.length = 0;
    this.#readAtMs.clear();
    this.#known.clear();
    for (const [one, other] of this.#links.pairs()) {
      if (isBetweenDepots(one, other)) this.#read(one, other, nowMs);
    }
    this.#readSize = this.size;
  }

  #read(one: string, other: string, nowMs: number): void {
    const known = this.#knownLink(one, other);
    this.#readAtMs.delete(known);
    const isMeasured = [this.#readLeg(one, other, nowMs), this.#readLeg(other, one, nowMs)].includes(true);
    if (isMeasured) this.#readAtMs.set(known, nowMs);
  }

  /** Whether anything of the leg is measured, and so ages. */
  #readLeg(nearClient: string, nearOrigin: string, nowMs: number): boolean {
    const link = this.#links.estimate(nearClient, nearOrigin, nowMs);
    const doubt = () => this.#links.doubt?.(nearClient, nearOrigin, nowMs) ?? NO_DOUBT;
    const leg = link && new OverlayLeg(link, [nearClient, nearOrigin], this.#senders, doubt);
    this.row(this.numberOf(nearClient)).set(this.numberOf(nearOrigin), leg);
    return link?.ageMs !== undefined;
  }

  #knownLink(one: string, other: string): OverlayLink {
    const key = pairKey(one, other);
    const known = this.#known.get(key);
    if (known) return known;
    const link = { one, other };
    this.#known.set(key, link);
    return link;
  }
}

interface OverlayLink {
  readonly one: string;
  readonly other: string;
}

const NO_LEGS = new LegRow();

function isBetweenDepots(one: string, other: string): boolean {
  return !isEnd(one) && !isEnd(other);
}
