import { CLIENT, type EndName, type LinkReport, ORIGIN } from '@longhaul/shared';
import type { LinkConfig } from '../../config.ts';
import type { Estimate } from '../../estimates/estimate.ts';
import { estimateOf, type Figure, fellFrom, type Prior } from '../../estimates/figure.ts';
import { fitsLegFigures } from '../../estimates/fits-leg-figures.ts';
import { type ClassMember, LearnedPriors } from '../../estimates/learned-priors.ts';
import {
  type LegDistribution,
  type LegFigures,
  LINK_LIVES,
  legFiguresSchema,
  withReport,
} from '../../estimates/leg-figures.ts';
import { type LossEvidence, lossEstimate, lossRateOf } from '../../estimates/loss-evidence.ts';
import { areNear } from '../../estimates/near-leg-figures.ts';
import { OWN_LINE, OwnLines, type SeenLine, type SeenRate } from '../../estimates/own-lines.ts';
import { shortLegFigures } from '../../estimates/short-leg-figures.ts';
import { type Fact, type FactKind, isYounger } from '../../facts/fact.ts';
import { Facts } from '../../facts/facts.ts';
import { firstOf, SpeakerRoom } from '../../facts/speaker-room.ts';
import { OF_THE_SITE_MS } from '../../measuring/client-rtts.ts';
import { type LegDoubt, NO_DOUBT } from './leg-scenarios.ts';
import type { LinkEstimate, LinkView } from './link-view.ts';
import { MOST_APART, RttDisputes } from './rtt-disputes.ts';
import { UNREACHED_FACTS, UnreachedPairs } from './unreached-pairs.ts';

/**
 * A report older than this does not count by itself any more: what is measured goes over to what is
 * configured, or usual, and a round trip says nothing more of a link that is configured.
 */
export const REPORT_LIFE_MS = 600_000;
/** Nothing is left of older measurements. */
const MEASURED_LIFE_MS = 7 * 86_400_000;
/** Links whose measurements are kept, each direction for itself: 1000 depots with 50 neighbours each. */
const MOST_LINKS = 100_000;
/** How much what an operator has typed in may be off. */
const CONFIGURED_BETWEEN = 0.3;
/** How much the round trips differ that one link has one time after the other. */
const RTT_WITHIN = 0.1;
/** How much the round trips of links differ of which nothing is known: a factor of three. */
const RTT_BETWEEN = 1.1;
/** What the ends of a link measured so long after each other may be two routes. */
const DISPUTED_FOR_MS = 7_200_000;
/** So many times shorter than one end says is the round trip at most by what the other one says. */
const MOST_SHORTENED = 1.2;
/**
 * A link of which only the round trip is known counts for so long after somebody has measured that: in an
 * overlay of a thousand depots each meets all others within less.
 */
const UNTESTED_LIFE_MS = 21_600_000;
/** How much the rates of such links differ, by what depots stand at: a factor of two or so. */
const UNTESTED_SPREAD = 0.5;
/** Stands for no loss at all, where a logarithm is taken of it. */
const LEAST_LOSS = 1e-9;
/** In the other direction a link may be another one: so much is added to the spread. */
const BACKWARD_SPREAD = 0.5;
/** What is assumed where nobody says anything: a connection across an ocean, at the rate of a usual line. */
const ASSUMED = { rttMs: 100, rateBps: 100e6 };

/**
 * What a depot has measured of its link to another one, by `<this depot> <other depot>`. It sends, but for
 * the round trip.
 */
const LINK_MEASURED = {
  name: 'link-measured',
  schema: legFiguresSchema,
  fits: fitsLegFigures,
  isNear: areNear,
  toTell: shortLegFigures,
  keys: /^\S{1,64} \S{1,64}$/,
  most: MOST_LINKS,
  whenFull: 'forget-oldest',
  lifeMs: MEASURED_LIFE_MS,
  isKept: true,
} satisfies FactKind<unknown>;

export const LINK_FACTS: readonly FactKind<unknown>[] = [LINK_MEASURED, ...UNREACHED_FACTS];

type Measured = Fact<LegFigures>;

type Listener = (one: string, other: string, nowMs: number) => void;

/**
 * The links the planner knows: what depots measured, each direction for itself, and what is configured, which
 * counts where nothing is measured or the link is `fixed`. What was measured is a replica of facts.
 */
export class LinkTable implements LinkView {
  readonly #configured = new Map<string, LinkConfig>();
  /** Of each of them, as it is planned with where nothing is measured: the same object each time. */
  readonly #typed = new Map<LinkConfig, LinkEstimate>();
  readonly #linked = { client: new Set<string>(), origin: new Set<string>() };
  /** By sender and receiver. */
  readonly #measured = new Map<string, Measured>();
  readonly #priors = new LearnedPriors(ASSUMED.rateBps);
  readonly #lines = new OwnLines();
  readonly #windowBytes: number;
  readonly #facts: Facts;
  readonly #disputes = new RttDisputes();
  readonly #room: SpeakerRoom;
  /** Depots that live, and cannot be connected to by others. */
  readonly unreached: UnreachedPairs;
  readonly #listeners: Listener[] = [];

  constructor(links: readonly LinkConfig[], windowBytes: number, facts = new Facts({ kinds: LINK_FACTS })) {
    for (const link of links) {
      this.#configured.set(pairKey(...link.between), link);
      this.#noteEnds(...link.between);
    }
    this.#windowBytes = windowBytes;
    this.#facts = facts;
    this.#room = new SpeakerRoom({ facts, kind: LINK_MEASURED, speakerOf: firstOf });
    facts.store.watch(LINK_MEASURED, (now, before) => this.#refresh(now, before));
    this.unreached = new UnreachedPairs(facts, (...changed) => this.#tell(...changed));
  }

  /** Takes in what the depot `from` measured on its connections to another depot since its last report. */
  report(from: string, report: LinkReport, nowMs: number): void {
    const key = `${from} ${report.to}`;
    // Whichever master was told it: a depot that comes from another one has measured as much as before.
    const known = this.#facts.store.newest(LINK_MEASURED, key);
    const passedMs = known ? Math.max(0, nowMs - known.timeMs) : 0;
    this.#room.makeRoomFor(key);
    const expectedBps = this.#expected(report.to, from, report.rttMs).value;
    const expected = { expectedBps, isBound: expectedBps < this.usualBps(report.rttMs) };
    const figures = withReport(known?.value, report, passedMs, LINK_LIVES, expected);
    this.#facts.learn(LINK_MEASURED, key, figures, nowMs);
  }

  /** Forgets what a depot has measured: it is not believed any more. */
  forgetFrom(depot: string): void {
    const keys = [...this.#measured.keys()].filter((key) => key.startsWith(`${depot} `));
    for (const key of keys) this.#facts.store.forget(LINK_MEASURED, key);
  }

  /**
   * The estimate of the leg on which `other` sends to `one`; `undefined` when RTT or rate are unknown, or
   * `one`, which makes the connection, cannot reach `other`. Each figure is what `other` measured; where it
   * has not lately, what `one` measured in the other direction.
   */
  estimate(one: string, other: string, nowMs: number): LinkEstimate | undefined {
    if (this.unreached.has(one, other, nowMs)) return undefined;
    const link = this.#configured.get(pairKey(one, other));
    const known = this.#directions(one, other, nowMs);
    // Most links of an overlay that somebody has described were never measured.
    if (known.length === 0) return link && this.#asConfigured(link);
    const isFresh = known.some(({ value, passedMs }) => value.rtt.ageMs + passedMs <= REPORT_LIFE_MS);
    if (!link) return this.#measuredAlone(one, other, known);
    return isFresh && !link.fixed ? this.#measuredOver(link, known) : this.#asConfigured(link);
  }

  /** What is known of the leg on which `other` sends to `one`, and how sure that is. */
  distribution(one: string, other: string, nowMs: number): LegDistribution {
    const link = this.#configured.get(pairKey(one, other));
    const known = link?.fixed ? [] : this.#directions(one, other, nowMs);
    const rtt = pooledRtt(known);
    const rttPrior = link ? typedPrior(link.rttMs, link, RTT_WITHIN) : ASSUMED_RTT;
    const rttMs = estimateOf(rtt?.figure, rtt?.passedMs ?? 0, rttPrior, LINK_LIVES.rttMs);
    const learned = this.#expected(one, other, rttMs.value);
    const goodput = known.find(({ value }) => value.goodput);
    const goodputBps = estimateOf(
      goodput?.value.goodput,
      goodput?.passedMs ?? 0,
      link ? typedPrior(link.rateBps, link, learned.within) : learned,
      LINK_LIVES.goodputMs,
    );
    return {
      rttMs,
      goodputBps: goodput?.isBackward
        ? backward(goodputBps, this.#mostBps(one, other, goodputBps.value))
        : goodputBps,
      isBackward: goodput?.isBackward,
      totalBps: moreThan(goodputBps.value, this.#together(one, other, known, rttMs.value)?.bps),
      doubtedBps: goodput?.value.goodput?.doubted,
      fellFromBps:
        goodput?.value.goodput && fellFrom(goodput.value.goodput, goodput.passedMs, LINK_LIVES.goodputMs),
      lossRate: link?.fixed ? fixedLoss(link) : this.#loss(known, link, rttMs.value),
    };
  }

  /** The depots that have measured the leg on which `other` sends to `one`, the sender first. */
  measuredBy(one: string, other: string): string[] {
    if (this.#configured.get(pairKey(one, other))?.fixed) return [];
    return [other, one].filter((from) => this.#measured.has(`${from} ${from === one ? other : one}`));
  }

  /**
   * Whether two depots are at one site, as both of them have measured, or, where neither has, as it is typed
   * in: by its own word alone nobody is another one's neighbour.
   */
  areAtOneSite(one: string, other: string): boolean {
    if (one === other) return true;
    const link = this.#configured.get(pairKey(one, other));
    const told = [`${one} ${other}`, `${other} ${one}`].map((key) => this.#measured.get(key));
    if (link?.fixed || told.every((fact) => !fact)) return link !== undefined && link.rttMs <= OF_THE_SITE_MS;
    return told.every((fact) => fact !== undefined && fact.value.rtt.value <= OF_THE_SITE_MS);
  }

  /** Whether the round trips that a depot tells are those that its neighbours tell. */
  isBelieved(depot: string): boolean {
    return this.#disputes.isBelieved(depot);
  }

  /** How unsure {@link estimate} is; what is configured counts as it is. */
  doubt(one: string, other: string, nowMs: number): LegDoubt {
    const link = this.estimate(one, other, nowMs);
    if (link?.ageMs === undefined) return NO_DOUBT;
    const { rttMs, lossRate, goodputBps } = this.distribution(one, other, nowMs);
    const leastBps =
      link.goodputBps === undefined
        ? this.#together(one, other, this.#directions(one, other, nowMs), rttMs.value)?.bps
        : undefined;
    return {
      rtt: rttMs.spread,
      loss: lossRate.spread,
      rate: rateDoubt(link, goodputBps.spread),
      ...(leastBps === undefined ? {} : { leastBps }),
    };
  }

  /** What one connection over a link of such a length usually carries, in bits per second. */
  usualBps(rttMs: number): number {
    return this.#priors.goodput(rttMs).value;
  }

  /** The most that a depot was seen to send to another one, in bits per second; 0 where nothing is known. */
  mostSentBps(depot: string): number {
    return this.#lines.mostSentBps(depot);
  }

  /**
   * The most that a depot was seen to receive from another one, or to send, in bits per second; 0 where
   * nothing is known.
   */
  mostReceivedBps(depot: string): number {
    return this.#lines.mostReceivedBps(depot);
  }

  /**
   * What was seen of the lines of both ends of the leg on which `other` sends to `one`, as far as that may
   * bound so much: of what `other` sends, and `one` receives.
   */
  linesOf(one: string, other: string, askedBps: number): readonly SeenLine[] {
    return this.#lines.of(other, one, askedBps);
  }

  /** Whether what is configured of a link stands whatever is measured. */
  isFixed(one: string, other: string): boolean {
    return this.#configured.get(pairKey(one, other))?.fixed ?? false;
  }

  /** The other ends of links that anything is known of, or was; those of clients and origins. */
  linkedWith(end: EndName): ReadonlySet<string> {
    return this.#linked[end];
  }

  #noteEnds(one: string, other: string): void {
    for (const end of [CLIENT, ORIGIN] as const) {
      if (one === end) this.#linked[end].add(other);
      if (other === end) this.#linked[end].add(one);
    }
  }

  /** All pairs of which anything is known, or was. */
  *pairs(): Iterable<readonly [one: string, other: string]> {
    const measured = [...this.#measured.keys()].map((key) => pairKey(...endsOf(key)));
    for (const key of new Set([...this.#configured.keys(), ...measured])) yield endsOf(key);
  }

  /** Has `listener` told of each pair whose estimate may have changed. */
  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  /** Takes over what the newest source says of a direction. */
  #refresh(said: Measured | undefined, saidBefore: Measured | undefined): void {
    const changed = said ?? saidBefore;
    if (!changed) return;
    const { key } = changed;
    const [from, to] = endsOf(key);
    const before = this.#measured.get(key);
    // What is younger than the newest is the newest: no source need be looked up.
    const isNewest = said && (!before || isYounger(said, before));
    const now = isNewest ? said : this.#facts.store.newest(LINK_MEASURED, key);
    this.#priors.replace(from, before && memberOf(before), now && memberOf(now));
    this.#lines.replace(from, to, now && seenOf(now));
    if (now) this.#measured.set(key, now);
    else this.#measured.delete(key);
    const backward = this.#measured.get(`${to} ${from}`)?.value.rtt;
    this.#disputes.note(from, to, now && backward && { oneMs: now.value.rtt.value, otherMs: backward.value });
    this.#noteEnds(from, to);
    this.#tell(from, to, changed.timeMs);
  }

  #tell(...changed: Parameters<Listener>): void {
    for (const listener of this.#listeners) listener(...changed);
  }

  /** What one connection is expected to carry from `other` to `one`, where nobody has measured that. */
  #expected(one: string, other: string, rttMs: number): Prior {
    const usual = this.#priors.goodput(rttMs);
    const mostBps = this.#mostBps(one, other, usual.value);
    return mostBps < usual.value ? { ...usual, value: mostBps, source: 'derived' } : usual;
  }

  /**
   * The most that it may carry by what its two ends were seen to send and to receive elsewhere, where that is
   * less than is asked for.
   */
  #mostBps(one: string, other: string, askedBps: number): number {
    const telling = this.linesOf(one, other, askedBps).filter(({ links }) => links >= OWN_LINE.telling);
    return OWN_LINE.times * Math.min(...telling.map(({ mostBps }) => mostBps));
  }

  /**
   * What several connections get through together, as {@link together}: of what was seen in the other
   * direction no more than the lines carry in this one.
   */
  #together(one: string, other: string, known: readonly Direction[], rttMs: number): Together | undefined {
    const seen = together(known, this.#expected(one, other, rttMs));
    return seen?.isBackward
      ? { ...seen, bps: Math.min(seen.bps, this.#mostBps(one, other, seen.bps)) }
      : seen;
  }

  /** What both ends have measured, the sender first. */
  #directions(one: string, other: string, nowMs: number): readonly Direction[] {
    const forward = this.#measured.get(`${other} ${one}`);
    const backward = this.#measured.get(`${one} ${other}`);
    if (!forward && !backward) return NO_DIRECTIONS;
    const directionOf = ({ value, timeMs }: Measured, isBackward: boolean) => ({
      value,
      passedMs: nowMs - timeMs,
      isBackward,
    });
    return [
      ...(forward ? [directionOf(forward, false)] : []),
      ...(backward ? [directionOf(backward, true)] : []),
    ];
  }

  #loss(known: readonly Direction[], link: LinkConfig | undefined, rttMs: number): Estimate {
    const loss = known.find(({ value }) => value.loss);
    const priorMean = link?.lossRate || this.#priors.loss(rttMs);
    return lossEstimate(loss?.value.loss, loss?.passedMs ?? 0, priorMean, LINK_LIVES.lossMs);
  }

  /**
   * Of a link that nobody has configured: it is known as long as anything is left of its goodput, and before
   * anybody has that while its round trip is measured. Most links of an overlay are wider than what crosses
   * them, so that no transfer and no short test shows what they carry.
   */
  #measuredAlone(one: string, other: string, known: readonly Direction[]): LinkEstimate | undefined {
    const rtt = pooledRtt(known);
    if (!rtt) return undefined;
    const goodput = known.find(({ value }) => value.goodput);
    const loss = known.find(({ value }) => value.loss);
    const figure = goodput?.value.goodput;
    const link = {
      rttMs: rtt.figure.value,
      lossRate: loss?.value.loss ? lossRateOf(loss.value.loss) : 0,
      windowBytes: this.#windowBytes,
      ageMs: oldest(ageOf(rtt), ageOf(goodput, figure), ageOf(loss, loss?.value.loss)),
    };
    if (!goodput || !figure) {
      if (rtt.figure.ageMs + rtt.passedMs > UNTESTED_LIFE_MS) return undefined;
      const expected = this.#expected(one, other, link.rttMs);
      const rateBps = Math.max(expected.value, this.#together(one, other, known, link.rttMs)?.bps ?? 0);
      return { ...link, rateBps, goodputBps: undefined, rateSource: expected.source };
    }
    const isFresh = figure.ageMs + goodput.passedMs <= REPORT_LIFE_MS;
    // What is expected is not asked for in vain: each link that changes may change it.
    const seenBps = isFresh
      ? figure.value
      : estimateOf(figure, goodput.passedMs, this.#expected(one, other, link.rttMs), LINK_LIVES.goodputMs)
          .value;
    const goodputBps = goodput.isBackward ? Math.min(seenBps, this.#mostBps(one, other, seenBps)) : seenBps;
    const total = this.#together(one, other, known, link.rttMs);
    if (total === undefined || total.bps <= goodputBps) return { ...link, rateBps: goodputBps, goodputBps };
    return { ...link, rateBps: total.bps, goodputBps, ageMs: oldest(link.ageMs, total.ageMs) };
  }

  #measuredOver(link: LinkConfig, known: readonly Direction[]): LinkEstimate {
    const fresh = (direction: Direction | undefined, figure: { readonly ageMs: number } | undefined) =>
      direction !== undefined && figure !== undefined && figure.ageMs + direction.passedMs <= REPORT_LIFE_MS;
    const rtt = pooledRtt(known.filter((direction) => fresh(direction, direction.value.rtt)));
    const rttMs = rtt?.figure.value ?? link.rttMs;
    const goodput = known.find(({ value }) => value.goodput);
    const goodputBps = this.#goodputOver(link, goodput, rttMs);
    const loss = known.find(({ value }) => value.loss);
    const isLossKnown = fresh(loss, loss?.value.loss) || this.#loss(known, link, rttMs).source === 'measured';
    const total = known.find((direction) => fresh(direction, direction.value.total));
    return {
      rttMs,
      lossRate: isLossKnown && loss?.value.loss ? lossRateOf(loss.value.loss) : link.lossRate,
      rateBps: Math.max(link.rateBps, goodputBps ?? 0, total?.value.total?.value ?? 0),
      windowBytes: link.windowBytes ?? this.#windowBytes,
      goodputBps,
      ageMs: oldest(
        ageOf(rtt),
        goodputBps === undefined ? undefined : ageOf(goodput, goodput?.value.goodput),
        isLossKnown ? ageOf(loss, loss?.value.loss) : undefined,
      ),
    };
  }

  /**
   * What was measured of a link that is typed in: it goes over to that as it grows old, and tells nothing
   * more when it counts less.
   */
  #goodputOver(link: LinkConfig, measured: Direction | undefined, rttMs: number): number | undefined {
    const figure = measured?.value.goodput;
    if (!measured || !figure) return undefined;
    if (figure.ageMs + measured.passedMs <= REPORT_LIFE_MS) return figure.value;
    const prior = typedPrior(link.rateBps, link, this.#priors.goodput(rttMs).within);
    const { value, source } = estimateOf(figure, measured.passedMs, prior, LINK_LIVES.goodputMs);
    return source === 'measured' ? value : undefined;
  }

  #asConfigured(link: LinkConfig): LinkEstimate {
    const known = this.#typed.get(link);
    if (known) return known;
    const { rttMs, lossRate, rateBps, windowBytes = this.#windowBytes } = link;
    const typed = { rttMs, lossRate, rateBps, windowBytes, goodputBps: undefined, ageMs: undefined };
    this.#typed.set(link, typed);
    return typed;
  }
}

/** How unsure the rate of a link is that is planned with: what is typed in is sure. */
function rateDoubt({ goodputBps, rateSource }: LinkEstimate, spread: number): number {
  if (goodputBps !== undefined) return spread;
  return rateSource === undefined ? 0 : Math.min(spread, UNTESTED_SPREAD);
}

/** What one end has measured. */
interface Direction {
  readonly value: Measured['value'];
  /** Since it was reported. */
  readonly passedMs: number;
  /** The receiver of the leg has measured it, when it sent. */
  readonly isBackward: boolean;
}

const NO_DIRECTIONS: readonly Direction[] = [];

interface PooledRtt {
  readonly figure: Figure;
  readonly passedMs: number;
}

const ASSUMED_RTT: Prior = {
  value: ASSUMED.rttMs,
  between: RTT_BETWEEN,
  within: RTT_WITHIN,
  source: 'assumed',
};

/** What the operator says of a figure. */
function typedPrior(value: number, link: LinkConfig, within: number): Prior {
  const doubt = link.fixed ? { between: 0, within: 0 } : { between: CONFIGURED_BETWEEN, within };
  return { value, ...doubt, source: 'configured' };
}

function fixedLoss({ lossRate }: LinkConfig): Estimate {
  const value = Math.max(lossRate, LEAST_LOSS);
  return { value, spread: 0, ageMs: undefined, samples: 0, source: 'configured' };
}

/**
 * The round trip is the same in both directions: what both ends measured, the newer and the more of it the
 * more. Where they are far apart the longer one counts, and it is never shorter by more than a fifth than one
 * of them says: nobody makes himself nearer.
 */
function pooledRtt(known: readonly Direction[]): PooledRtt | undefined {
  const [first, second] = known.toSorted((one, other) => one.passedMs - other.passedMs);
  if (!first) return undefined;
  const { passedMs } = first;
  if (!second) return { figure: first.value.rtt, passedMs };
  const isShorter = first.value.rtt.value < second.value.rtt.value;
  const [shorter, longer] = isShorter ? [first, second] : [second, first];
  const isOld = second.passedMs - passedMs > DISPUTED_FOR_MS;
  if (!isOld && shorter.value.rtt.value * MOST_APART < longer.value.rtt.value)
    return { figure: longer.value.rtt, passedMs: longer.passedMs };
  // One over the other: nothing is left of both by themselves when both are old.
  const ageOfRtt = ({ value: { rtt }, passedMs: sinceMs }: Direction) => rtt.ageMs + Math.max(0, sinceMs);
  const olderBy = (ageOfRtt(second) - ageOfRtt(first)) / REPORT_LIFE_MS;
  const share = 1 / (1 + (first.value.rtt.weight / second.value.rtt.weight) * Math.exp(olderBy));
  const value = first.value.rtt.value * (second.value.rtt.value / first.value.rtt.value) ** share;
  const leastMs = isOld ? 0 : longer.value.rtt.value / MOST_SHORTENED;
  return { figure: { ...first.value.rtt, value: Math.max(value, leastMs) }, passedMs };
}

interface Together {
  readonly bps: number;
  readonly ageMs: number;
  /** It was seen in the other direction. */
  readonly isBackward: boolean;
}

/**
 * What several connections get through together, which a link carries at least; `undefined` where nobody has
 * seen that.
 */
function together(known: readonly Direction[], prior: Prior): Together | undefined {
  // What one direction carries says nothing of another one that is measured.
  const direction = known.find(({ value }) => value.total ?? value.goodput);
  const total = direction?.value.total;
  if (!direction || !total) return undefined;
  const { passedMs, isBackward } = direction;
  const ageMs = Math.max(0, total.ageMs + passedMs);
  if (ageMs <= REPORT_LIFE_MS) return { bps: total.value, ageMs, isBackward };
  const { value, source } = estimateOf(total, passedMs, prior, LINK_LIVES.goodputMs);
  return source === 'measured' ? { bps: value, ageMs, isBackward } : undefined;
}

/** A rate where it is known and more than another. */
function moreThan(otherBps: number, bps: number | undefined): number | undefined {
  return bps !== undefined && bps > otherBps ? bps : undefined;
}

function memberOf({ value: { rtt, goodput, loss } }: Measured): ClassMember {
  const { sentBytes = 0, lostBytes = 0 }: Partial<LossEvidence> = loss ?? {};
  return { rttMs: rtt.value, goodputBps: goodput?.value, sentBytes, lostBytes };
}

/** What was seen to go over it. */
function seenOf({ value: { goodput, total } }: Measured): SeenRate | undefined {
  if (!goodput) return undefined;
  const { value, reached = value } = goodput;
  return { bps: Math.max(reached, total?.value ?? 0), isLeast: goodput.reached !== undefined };
}

/** What the other direction says of this one, whose lines carry so much at most. */
function backward(estimate: Estimate, mostBps: number): Estimate {
  return {
    ...estimate,
    value: Math.min(estimate.value, mostBps),
    spread: Math.hypot(estimate.spread, BACKWARD_SPREAD),
  };
}

/** The age of a figure now; of a round trip where none is named. */
function ageOf(
  from: { readonly passedMs: number; readonly figure?: Figure } | undefined,
  figure: { readonly ageMs: number } | undefined = from?.figure,
): number | undefined {
  return from && figure && Math.max(0, figure.ageMs + from.passedMs);
}

function oldest(...ages: readonly (number | undefined)[]): number | undefined {
  const known = ages.filter((ageMs) => ageMs !== undefined);
  return known.length > 0 ? Math.max(...known) : undefined;
}

function endsOf(key: string): readonly [string, string] {
  const [one = '', other = ''] = key.split(' ');
  return [one, other];
}

function pairKey(one: string, other: string): string {
  return one < other ? `${one} ${other}` : `${other} ${one}`;
}
