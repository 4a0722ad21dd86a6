import { DepotRates } from '../estimates/depot-rates.ts';
import type { Estimate } from '../estimates/estimate.ts';
import { estimateOf, type Figure, fellFrom, type Prior, unfallen } from '../estimates/figure.ts';
import { classMemberOf, LearnedPriors } from '../estimates/learned-priors.ts';
import { END_LIVES, HINDERED_MS, type LegDistribution, type LegFigures } from '../estimates/leg-figures.ts';
import { type LossEvidence, lossEstimate } from '../estimates/loss-evidence.ts';
import { Voices } from '../estimates/voices.ts';
import type { Fact, FactKind } from '../facts/fact.ts';
import type { Facts } from '../facts/facts.ts';
import { ToldByDepots } from '../facts/told-by-depots.ts';

/** An end that nobody knows is some tens of milliseconds away, or several hundred. */
const ASSUMED_RTT: Prior = { value: 50, between: 1, within: 0.2, source: 'assumed' };
/** Neighbours are about as far from a depot as each other: so much do their round trips differ. */
const BETWEEN_NEIGHBOURS = 0.7;
/** Most ways lose next to nothing, one of eight a hundred times as much: of those to ends that nobody has measured. */
const UNKNOWN_LOSS = { value: 5e-6, spread: 2.8 } as const;
/** What a leg carries that is so much longer tells of its way, not of the line of its end. */
const LONGER = 1.5;
/**
 * What was sent weighs as much as what is assumed when it is so many bytes, or so many of it got lost: some
 * twenty segments.
 */
const TELLING = { sentBytes: 8_000_000, lostBytes: 30_000 } as const;
/**
 * Of depots that have measured an end, those that are asked what it is like: what a thousand say is known
 * from as many.
 */
const MOST_WITNESSES = 32;
/** A depot may have come to the end of its own line, unless it has sent so many times as much to another end. */
const FASTER_ELSEWHERE = 1.5;

/**
 * A depot that sent no faster to so many ends sends no faster to one that nobody has measured: fewer may all
 * have narrow lines.
 */
const TELLING_ENDS = 10;

/** What of a leg is not measured. */
interface Unmeasured {
  readonly depot: string;
  readonly end: string;
  readonly nowMs: number;
  readonly isRated: boolean;
  readonly isLossKnown: boolean;
}

/** What a depot was seen to send to an end. */
interface Rated {
  readonly depot: string;
  readonly rttMs: number;
  readonly bps: number;
}

interface EndTableInit<Value extends LegFigures> {
  readonly facts: Facts;
  /** Its keys are `<depot> <end>`. */
  readonly kind: FactKind<Value>;
  /** What counts of an end's rate where nothing is known. */
  readonly assumedBps: number;
  /** Depots send on these legs: their rates hardly depend on how far the end is. */
  readonly isSender: boolean;
  /** The most that a depot was seen to send beside these legs, in bits per second. */
  readonly sentElsewhereBps?: (depot: string) => number;
  /** A larger network around an end, where one is known: its ends are neighbours. */
  readonly neighbourhood: (end: string, value: Value) => string | undefined;
}

/**
 * The legs between depots and ends of downloads, client networks or origins, as depots measured them; a
 * replica of facts. What is not measured, or long ago, is expected to be as that depot's legs to the end's
 * neighbours are, and then as all legs of the RTT class.
 */
export class EndTable<Value extends LegFigures> {
  readonly #init: EndTableInit<Value>;
  readonly #priors: LearnedPriors;
  readonly #measured: ToldByDepots<Value>;
  /** The nearest depot first, of ends that many have measured; worked out when it is asked for. */
  readonly #ordered = new Map<string, readonly Told<Value>[]>();
  readonly #rates = new DepotRates();
  /** The logarithms of round trips, by neighbourhood and depot. */
  readonly #neighbours = new Map<string, Map<string, Voices>>();

  constructor(init: EndTableInit<Value>) {
    this.#init = init;
    this.#priors = new LearnedPriors(init.assumedBps);
    this.#measured = new ToldByDepots({
      facts: init.facts,
      kind: init.kind,
      onChange: (...changed) => this.#refresh(...changed),
    });
  }

  /** Ends of which anything is known. */
  get size(): number {
    return this.#measured.size;
  }

  /** Takes in what comes of what a depot has measured of an end so far, and how long ago that was. */
  update(
    depot: string,
    end: string,
    nowMs: number,
    next: (known: Value | undefined, passedMs: number) => Value,
  ): void {
    this.#measured.update(depot, end, nowMs, next);
  }

  /** What depots have measured of an end, by depot. */
  known(end: string): ReadonlyMap<string, Fact<Value>> {
    return this.#measured.of(end);
  }

  /** The same, the nearest depot first. */
  nearestFirst(end: string): readonly Told<Value>[] {
    const known = this.known(end);
    const ordered = this.#ordered.get(end) ?? [...known].toSorted(byRtt);
    if (known.size > MOST_WITNESSES) this.#ordered.set(end, ordered);
    return ordered;
  }

  /** The same; of many depots some, evenly from the nearest on. */
  witnesses(end: string): Iterable<Told<Value>> {
    const known = this.known(end);
    if (known.size <= MOST_WITNESSES) return known;
    const ordered = this.nearestFirst(end);
    const step = ordered.length / MOST_WITNESSES;
    return ordered.filter((_, place) => Math.floor(place / step) > Math.floor((place - 1) / step));
  }

  /** Forgets what a depot has measured: it is not believed any more. */
  forgetFrom(depot: string): void {
    this.#measured.forgetFrom(depot);
  }

  /** The depots that have measured something in a neighbourhood. */
  near(neighbourhood: string): Iterable<string> {
    return this.#neighbours.get(neighbourhood)?.keys() ?? [];
  }

  /** What is known of the leg between a depot and an end; `neighbourhood` where the end itself does not tell it. */
  distribution(depot: string, end: string, nowMs: number, neighbourhood?: string): LegDistribution {
    const fact = this.known(end).get(depot);
    const rttMs = this.#rtt(depot, fact, nowMs, neighbourhood);
    const own = {
      rttMs,
      goodputBps: this.#goodput(depot, fact, rttMs.value, nowMs),
      lossRate: this.#loss(fact, rttMs.value, nowMs),
    };
    const [isRated, isLossKnown] = [fact?.value.goodput !== undefined, fact?.value.loss !== undefined];
    return isRated && isLossKnown ? own : this.#asOthersMet(own, { depot, end, nowMs, isRated, isLossKnown });
  }

  #rtt(
    depot: string,
    fact: Fact<Value> | undefined,
    nowMs: number,
    neighbourhood: string | undefined,
  ): Estimate {
    const prior = this.#rttPrior(depot, neighbourhood);
    return estimateOf(fact?.value.rtt, passedSince(fact, nowMs), prior, END_LIVES.rttMs);
  }

  #goodput(depot: string, fact: Fact<Value> | undefined, rttMs: number, nowMs: number): Estimate {
    const usual = this.#priors.goodput(rttMs);
    const prior = { ...usual, value: Math.min(usual.value, this.#mostOf(depot)) };
    const [figure, passedMs] = [fact?.value.goodput, passedSince(fact, nowMs)];
    return estimateOf(figure && this.#ofNow(figure, passedMs), passedMs, prior, END_LIVES.goodputMs);
  }

  /**
   * What an end sent that was less than before tells for a while how busy it is, and then what it was before:
   * who goes by another way because of that never sees that it is over.
   */
  #ofNow(figure: Figure, passedMs: number): Figure {
    const mayBeOver = !this.#init.isSender && figure.ageMs + passedMs > HINDERED_MS;
    const hasFallen = mayBeOver && fellFrom(figure, passedMs, END_LIVES.goodputMs) !== undefined;
    return hasFallen ? unfallen(figure, passedMs, END_LIVES.goodputMs) : figure;
  }

  /** What a depot's own line lets it send to anybody, in bits per second, where enough ends have told. */
  #mostOf(depot: string): number {
    const isTold = this.#init.isSender && this.#rates.count(depot) >= TELLING_ENDS;
    return isTold ? FASTER_ELSEWHERE * this.mostSentBps(depot) : Number.POSITIVE_INFINITY;
  }

  #loss(fact: Fact<Value> | undefined, rttMs: number, nowMs: number): Estimate {
    const [loss, passedMs] = [fact?.value.loss, passedSince(fact, nowMs)];
    const evident = lossEstimate(loss, passedMs, this.#priors.loss(rttMs), END_LIVES.lossMs);
    return interpolated(UNKNOWN_LOSS, evident, tellingShare(loss, passedMs));
  }

  /**
   * A leg of which a figure is not measured, where other depots have measured that of theirs to the same end:
   * all of them share its line. It loses no less than the one of theirs that loses least, of those that are
   * not much shorter: a short one tells nothing of the way. Where depots send it carries no more than the one
   * that carries most, of those that are not longer, if that is the end's line and not a depot's own. Else
   * what nobody knows would always look better than what is known.
   */
  #asOthersMet(
    own: LegDistribution,
    { depot, end, nowMs, isRated, isLossKnown }: Unmeasured,
  ): LegDistribution {
    let [least, most]: (Estimate | undefined)[] = [];
    for (const [by, other] of this.witnesses(end)) {
      if (by === depot) continue;
      const rttMs = other.value.rtt.value;
      const isMuchShorter = own.rttMs.source === 'measured' && LONGER * rttMs < own.rttMs.value;
      if (!isLossKnown && other.value.loss && !isMuchShorter) {
        const lossRate = this.#loss(other, rttMs, nowMs);
        if (lossRate.value < (least?.value ?? Number.POSITIVE_INFINITY)) least = lossRate;
      }
      if (this.#init.isSender && !isRated && other.value.goodput && rttMs <= LONGER * own.rttMs.value) {
        const goodputBps = this.#goodput(by, other, rttMs, nowMs);
        if (goodputBps.source === 'measured' && goodputBps.value > (most?.value ?? 0)) most = goodputBps;
      }
    }
    const isLossier = least !== undefined && least.value > own.lossRate.value;
    const isSlower =
      most !== undefined && most.value < own.goodputBps.value && this.#tellLine(this.#rated(end, nowMs));
    return {
      rttMs: own.rttMs,
      lossRate:
        isLossier && least ? { ...own.lossRate, value: least.value, spread: least.spread } : own.lossRate,
      goodputBps:
        isSlower && most
          ? { ...own.goodputBps, value: most.value, spread: most.spread, source: 'derived' }
          : own.goodputBps,
    };
  }

  /**
   * What the line of an end may carry, in bits per second, beyond what a depot has sent to it that sends no
   * more to anybody: what two have sent; and what is usual, but where others tell the line no more than the
   * fastest has sent. `undefined` where what the depot itself has sent tells it, or where it is taken for a
   * usual one anyway.
   */
  untoldLineBps(depot: string, end: string, nowMs: number): number | undefined {
    const own = this.#rateOf(depot, this.known(end).get(depot), nowMs);
    if (!own) return this.#uncutLineBps(depot, end, nowMs);
    if (this.#isFasterElsewhere(own)) return undefined;
    const rated = this.#rated(end, nowMs);
    const [most = 0, second = 0] = rated.map(({ bps }) => bps).toSorted((one, other) => other - one);
    const usualBps = this.usualBps(own.rttMs);
    return Math.max(own.bps, second, this.#tellLine(rated) ? Math.min(most, usualBps) : usualBps);
  }

  /**
   * What is usual for the line of an end to which nobody has sent anything, where it is expected to get less
   * from a depot by that one's own line; else `undefined`.
   */
  #uncutLineBps(depot: string, end: string, nowMs: number): number | undefined {
    const figures = this.known(end).get(depot)?.value;
    const usualBps = this.usualBps(figures?.rtt.value ?? ASSUMED_RTT.value);
    const isCut = !figures?.goodput && this.#mostOf(depot) < usualBps;
    return isCut && this.#rated(end, nowMs).length === 0 ? usualBps : undefined;
  }

  /** What one connection over a leg of such a length usually carries, in bits per second. */
  usualBps(rttMs: number): number {
    return this.#priors.goodput(rttMs).value;
  }

  /**
   * Whether what depots sent to an end tells what its line carries: one that got about as much there as the
   * fastest one could have sent more.
   */
  #tellLine(rated: readonly Rated[]): boolean {
    const mostBps = Math.max(...rated.map(({ bps }) => bps));
    return rated.some(
      ({ depot, bps }) =>
        FASTER_ELSEWHERE * bps >= mostBps && this.#isFasterElsewhere({ depot, bps: mostBps }),
    );
  }

  #isFasterElsewhere({ depot, bps }: Pick<Rated, 'depot' | 'bps'>): boolean {
    return this.mostSentBps(depot) >= FASTER_ELSEWHERE * bps;
  }

  /** The most that a depot was seen to send to anybody, in bits per second; 0 where nothing is known. */
  mostSentBps(depot: string): number {
    return Math.max(this.#rates.mostBps(depot), this.#init.sentElsewhereBps?.(depot) ?? 0);
  }

  /** The rates at which depots were seen to send to an end. */
  #rated(end: string, nowMs: number): readonly Rated[] {
    return [...this.witnesses(end)].flatMap(([depot, fact]) => this.#rateOf(depot, fact, nowMs) ?? []);
  }

  #rateOf(depot: string, fact: Fact<Value> | undefined, nowMs: number): Rated | undefined {
    if (!fact) return undefined;
    const rttMs = fact.value.rtt.value;
    const { value: bps, source } = this.#goodput(depot, fact, rttMs, nowMs);
    return source === 'measured' ? { depot, rttMs, bps } : undefined;
  }

  #rttPrior(depot: string, neighbourhood: string | undefined): Prior {
    const near = neighbourhood === undefined ? undefined : this.#neighbours.get(neighbourhood)?.get(depot);
    // The middle one: an end that makes itself far is one of many, and none can make itself near.
    const usual = near?.median;
    if (usual === undefined) return ASSUMED_RTT;
    const { within } = ASSUMED_RTT;
    return { value: Math.exp(usual), between: BETWEEN_NEIGHBOURS, within, source: 'derived' };
  }

  /** Takes over what is known of a leg now. */
  #refresh(depot: string, end: string, now: Fact<Value> | undefined, before: Fact<Value> | undefined): void {
    this.#ordered.delete(end);
    this.#priors.replace(depot, before && classMemberOf(before.value), now && classMemberOf(now.value));
    if (this.#init.isSender) this.#rates.replace(depot, provedBps(before), provedBps(now));
    if (before) this.#count(depot, end, before, -1);
    if (now) this.#count(depot, end, now, 1);
  }

  #count(depot: string, end: string, { value }: Fact<Value>, times: 1 | -1): void {
    const wider = this.#init.neighbourhood(end, value);
    if (wider === undefined) return;
    const byDepot = this.#neighbours.get(wider) ?? new Map<string, Voices>();
    const ends = byDepot.get(depot) ?? new Voices();
    ends.count(Math.log(value.rtt.value), times);
    if (ends.total > 0) byDepot.set(depot, ends);
    else byDepot.delete(depot);
    if (byDepot.size > 0) this.#neighbours.set(wider, byDepot);
    else this.#neighbours.delete(wider);
  }
}

/** What one depot has measured. */
type Told<Value> = readonly [depot: string, fact: Fact<Value>];

/** What a depot has sent more than once: of one measurement a part may be assumed. */
function provedBps(fact: Fact<LegFigures> | undefined): number | undefined {
  const { value, weight = 0 } = fact?.value.goodput ?? {};
  return weight > 1 ? value : undefined;
}

function byRtt([, one]: Told<LegFigures>, [, other]: Told<LegFigures>): number {
  return one.value.rtt.value - other.value.rtt.value;
}

function passedSince(fact: Fact<LegFigures> | undefined, nowMs: number): number {
  return fact ? Math.max(0, nowMs - fact.timeMs) : 0;
}

/** How much of what is known of losses is evidence. */
function tellingShare(loss: LossEvidence | undefined, passedMs: number): number {
  const { sentBytes = 0, lostBytes = 0, ageMs = 0 } = loss ?? {};
  const left = Math.exp(-(ageMs + passedMs) / END_LIVES.lossMs);
  const sent = ((left * sentBytes) / TELLING.sentBytes) ** 2;
  const lost = ((left * lostBytes) / TELLING.lostBytes) ** 2;
  return Math.max(sent / (1 + sent), lost / (1 + lost));
}

/** Between two estimates, nearer to the second one by a share. */
function interpolated(
  one: { readonly value: number; readonly spread: number },
  other: Estimate,
  share: number,
) {
  return {
    ...other,
    value: one.value ** (1 - share) * other.value ** share,
    spread: one.spread * (1 - share) + other.spread * share,
  };
}
