import type { Prior } from './figure.ts';
import type { LegFigures } from './leg-figures.ts';
import { isSameSaid, type Said, Voices } from './voices.ts';

/** Ends of the RTT classes: within a city, a country, a continent, over an ocean, round the world. */
const CLASS_ENDS_MS: readonly number[] = [5, 20, 60, 150];
/** Depots from which on what they show is more than what is assumed. */
const TELLING = 3;
/** How much the rates of links of one class differ where nothing is known: a factor of three. */
const ASSUMED_BETWEEN = 1.1;
/** How much the rates differ that one link gives one connection after the other. */
const USUAL_WITHIN = 0.3;
/** What is assumed of a link's losses counts as much as so many bytes sent. */
const ASSUMED_BYTES = 10_000_000;
/** The mean of what links lose, where nothing is known: most lose much less, some ten times as much. */
const ASSUMED_LOSS = 3e-4;
/** Voices that a depot has, for all of its links together. */
const VOICES_OF_DEPOT = 1_000_000;
/** A depot that tells of fewer links is heard less: one link, which several depots may tell of, is no more than one. */
const LINKS_OF_FULL_VOICE = 3;

/** What is known of one link of a class. */
export interface ClassMember {
  readonly rttMs: number;
  readonly goodputBps: number | undefined;
  readonly sentBytes: number;
  readonly lostBytes: number;
}

/** A link as its class knows it. */
export function classMemberOf({ rtt, goodput, loss }: LegFigures): ClassMember {
  const { sentBytes = 0, lostBytes = 0 } = loss ?? {};
  return { rttMs: rtt.value, goodputBps: goodput?.value, sentBytes, lostBytes };
}

interface RttClass {
  readonly goodput: Usual;
  readonly loss: Usual;
}

/**
 * What is to be expected of a link of which only the round trip is known: what others of its RTT class have
 * shown. All links of a depot have as many voices as those of any other one, and no depot moves anything by
 * more than a fifth. Its own word counts no more for its own links: who tells of some that they are fast does
 * not make the others look so.
 */
export class LearnedPriors {
  readonly #classes: readonly RttClass[];
  /** Of links that are longer than all classes end. */
  readonly #longest: RttClass = { goodput: new Usual(), loss: new Usual() };
  readonly #assumedBps: number;

  constructor(assumedBps: number) {
    this.#assumedBps = assumedBps;
    this.#classes = CLASS_ENDS_MS.map(() => ({ goodput: new Usual(), loss: new Usual() }));
  }

  /** Counts a link that `depot` tells of in place of what it told of that link before: either may be left out. */
  replace(depot: string, before: ClassMember | undefined, now: ClassMember | undefined): void {
    const [old, fresh] = [before && this.#saidOf(before), now && this.#saidOf(now)];
    for (const figure of ['goodput', 'loss'] as const)
      replaceSaid(depot, old && [old.of[figure], old[figure]], fresh && [fresh.of[figure], fresh[figure]]);
  }

  /** What one link says, and where it is counted. */
  #saidOf({ rttMs, goodputBps, sentBytes, lostBytes }: ClassMember) {
    const rate = (lostBytes + ASSUMED_LOSS * ASSUMED_BYTES) / (sentBytes + ASSUMED_BYTES);
    return {
      of: this.#classOf(rttMs),
      goodput: goodputBps === undefined ? undefined : Math.log(goodputBps / this.#assumedBps),
      loss: sentBytes === 0 ? undefined : Math.log(rate / ASSUMED_LOSS),
    };
  }

  /** The goodput of one connection. */
  goodput(rttMs: number): Prior {
    const { value, between, depots } = this.#classOf(rttMs).goodput.figures;
    return {
      value: this.#assumedBps * Math.exp(value),
      between,
      within: USUAL_WITHIN,
      source: depots > TELLING ? 'derived' : 'assumed',
    };
  }

  /** The mean loss rate. */
  loss(rttMs: number): number {
    return Math.min(1, ASSUMED_LOSS * Math.exp(this.#classOf(rttMs).loss.figures.value));
  }

  #classOf(rttMs: number): RttClass {
    const place = CLASS_ENDS_MS.findIndex((endMs) => rttMs < endMs);
    return this.#classes[place] ?? this.#longest;
  }
}

type SaidTo = readonly [usual: Usual, value: number | undefined];

/** What is measured anew each second mostly says the same: then nothing has to be worked out again. */
function replaceSaid(depot: string, before: SaidTo | undefined, now: SaidTo | undefined): void {
  const [usualBefore, valueBefore] = before ?? [];
  const [usual, value] = now ?? [];
  const isSame = value !== undefined && valueBefore !== undefined && isSameSaid(value, valueBefore);
  if (isSame && usual === usualBefore) return;
  if (valueBefore !== undefined) usualBefore?.count(depot, valueBefore, -1);
  if (value !== undefined) usual?.count(depot, value, 1);
}

interface UsualFigures {
  readonly value: number;
  readonly between: number;
  readonly depots: number;
}

/** What is usual by what depots tell of their links: logarithms of multiples of what is assumed. */
class Usual {
  readonly #links = new Map<string, Voices>();
  readonly #all = new Voices(VOICES_OF_DEPOT);
  /** What each depot has said among all. */
  readonly #said = new Map<string, readonly Said[]>();
  /** Depots whose links have changed since. */
  readonly #changed = new Set<string>();
  #figures: UsualFigures | undefined;

  count(depot: string, value: number, times: 1 | -1): void {
    const links = this.#links.get(depot) ?? new Voices();
    links.count(value, times);
    if (links.total > 0) this.#links.set(depot, links);
    else this.#links.delete(depot);
    this.#changed.add(depot);
    this.#figures = undefined;
  }

  get figures(): UsualFigures {
    if (!this.#figures) {
      for (const depot of this.#changed) this.#hear(depot);
      this.#changed.clear();
      const value = this.#all.mean(0);
      const between = this.#all.spread(value, ASSUMED_BETWEEN, USUAL_WITHIN);
      this.#figures = { value, between, depots: this.#said.size };
    }
    return this.#figures;
  }

  #hear(depot: string): void {
    for (const [value, voices] of this.#said.get(depot) ?? []) this.#all.count(value, -voices);
    this.#said.delete(depot);
    const links = this.#links.get(depot);
    if (!links) return;
    const ofLink = VOICES_OF_DEPOT / Math.max(links.total, LINKS_OF_FULL_VOICE);
    const said = links.said.map(([value, count]) => [value, Math.round(count * ofLink)] as const);
    this.#said.set(depot, said);
    for (const [value, voices] of said) this.#all.count(value, voices);
  }
}
