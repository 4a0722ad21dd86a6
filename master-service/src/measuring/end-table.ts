import type { Estimate } from '../estimates/estimate.ts';
import { estimateOf, type Prior } from '../estimates/figure.ts';
import { type ClassMember, LearnedPriors } from '../estimates/learned-priors.ts';
import { END_LIVES, type LegDistribution, type LegFigures } from '../estimates/leg-figures.ts';
import { type LossEvidence, lossEstimate } from '../estimates/loss-evidence.ts';
import type { Fact, FactKind } from '../facts/fact.ts';
import type { Facts } from '../facts/facts.ts';

/** Neighbours are about as far from a depot as each other: so much do their round trips differ. */
const BETWEEN_NEIGHBOURS = 0.7;
/** Most ways lose next to nothing, one of eight a hundred times as much: of those to ends that nobody has measured. */
const UNKNOWN_LOSS = { value: 5e-6, spread: 2.8 } as const;
/** What was sent weighs as much as what is assumed when it is so many bytes, or so many of it got lost: some twenty segments. */
const TELLING = { sentBytes: 8_000_000, lostBytes: 30_000 } as const;

interface EndTableInit<Value extends LegFigures> {
  readonly facts: Facts;
  /** Its keys are `<depot> <end>`. */
  readonly kind: FactKind<Value>;
  /** What counts of an end's rate and round trip where nothing is known. */
  readonly assumedBps: number;
  readonly assumedRtt: Prior;
  /** A larger network around an end, where one is known: its ends are neighbours. */
  readonly neighbourhood: (end: string, value: Value) => string | undefined;
}

/**
 * The legs between depots and ends of downloads, client networks or origins, as depots measured them; a replica of facts. What is not
 * measured, or long ago, is expected to be as that depot's legs to the end's neighbours are, and then as all legs of the RTT class.
 */
export class EndTable<Value extends LegFigures> {
  readonly #init: EndTableInit<Value>;
  readonly #priors: LearnedPriors;
  /** By end and depot. */
  readonly #measured = new Map<string, Map<string, Fact<Value>>>();
  /** Sums of the logarithms of round trips, by neighbourhood and depot. */
  readonly #neighbours = new Map<string, Map<string, { ends: number; logs: number }>>();

  constructor(init: EndTableInit<Value>) {
    this.#init = init;
    this.#priors = new LearnedPriors(init.assumedBps);
    init.facts.store.watch(init.kind, (now, before) => this.#refresh((now ?? before)?.key));
  }

  /** Ends of which anything is known. */
  get size(): number {
    return this.#measured.size;
  }

  /** What depots have measured of an end, by depot. */
  known(end: string): ReadonlyMap<string, Fact<Value>> {
    return this.#measured.get(end) ?? NOTHING;
  }

  /** The depots that have measured something in a neighbourhood. */
  near(neighbourhood: string): Iterable<string> {
    return this.#neighbours.get(neighbourhood)?.keys() ?? [];
  }

  /** What is known of the leg between a depot and an end; `neighbourhood` where the end itself does not tell it. */
  distribution(depot: string, end: string, nowMs: number, neighbourhood?: string): LegDistribution {
    const fact = this.#measured.get(end)?.get(depot);
    const passedMs = fact ? Math.max(0, nowMs - fact.timeMs) : 0;
    const { rtt, goodput, loss } = fact?.value ?? {};
    const rttMs = estimateOf(rtt, passedMs, this.#rttPrior(depot, neighbourhood), END_LIVES.rttMs);
    const goodputPrior = this.#priors.goodput(rttMs.value);
    const evident = lossEstimate(loss, passedMs, this.#priors.loss(rttMs.value), END_LIVES.lossMs);
    return {
      rttMs,
      goodputBps: estimateOf(goodput, passedMs, goodputPrior, END_LIVES.goodputMs),
      lossRate: between(UNKNOWN_LOSS, evident, tellingShare(loss, passedMs)),
    };
  }

  #rttPrior(depot: string, neighbourhood: string | undefined): Prior {
    const near = neighbourhood === undefined ? undefined : this.#neighbours.get(neighbourhood)?.get(depot);
    if (!near) return this.#init.assumedRtt;
    const { within } = this.#init.assumedRtt;
    return { value: Math.exp(near.logs / near.ends), between: BETWEEN_NEIGHBOURS, within, source: 'derived' };
  }

  /** Takes over what the newest source says of a leg. */
  #refresh(key: string | undefined): void {
    if (key === undefined) return;
    const space = key.indexOf(' ');
    const [depot, end] = [key.slice(0, space), key.slice(space + 1)];
    const ofEnd = this.#measured.get(end);
    const before = ofEnd?.get(depot);
    const now = this.#init.facts.store.newest(this.#init.kind, key);
    if (before) this.#count(depot, end, before, -1);
    if (now) {
      if (ofEnd) ofEnd.set(depot, now);
      else this.#measured.set(end, new Map([[depot, now]]));
      this.#count(depot, end, now, 1);
      return;
    }
    ofEnd?.delete(depot);
    if (ofEnd?.size === 0) this.#measured.delete(end);
  }

  #count(depot: string, end: string, { value }: Fact<Value>, times: 1 | -1): void {
    this.#priors.count(memberOf(value), times);
    const wider = this.#init.neighbourhood(end, value);
    if (wider === undefined) return;
    const byDepot = this.#neighbours.get(wider) ?? new Map<string, { ends: number; logs: number }>();
    const sums = byDepot.get(depot) ?? { ends: 0, logs: 0 };
    sums.ends += times;
    sums.logs += times * Math.log(value.rtt.value);
    if (sums.ends > 0) byDepot.set(depot, sums);
    else byDepot.delete(depot);
    if (byDepot.size > 0) this.#neighbours.set(wider, byDepot);
    else this.#neighbours.delete(wider);
  }
}

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

/** How much of what is known of losses is evidence. */
function tellingShare(loss: LossEvidence | undefined, passedMs: number): number {
  const { sentBytes = 0, lostBytes = 0, ageMs = 0 } = loss ?? {};
  const left = Math.exp(-(ageMs + passedMs) / END_LIVES.lossMs);
  const sent = ((left * sentBytes) / TELLING.sentBytes) ** 2;
  const lost = ((left * lostBytes) / TELLING.lostBytes) ** 2;
  return Math.max(sent / (1 + sent), lost / (1 + lost));
}

/** Between two estimates, nearer to the second one by a share. */
function between(one: { readonly value: number; readonly spread: number }, other: Estimate, share: number) {
  return {
    ...other,
    value: one.value ** (1 - share) * other.value ** share,
    spread: one.spread * (1 - share) + other.spread * share,
  };
}

function memberOf({ rtt, goodput, loss }: LegFigures): ClassMember {
  const { sentBytes = 0, lostBytes = 0 } = loss ?? {};
  return { rttMs: rtt.value, goodputBps: goodput?.value, sentBytes, lostBytes };
}
