import { CLIENT, type EndName, type LinkReport, ORIGIN } from '@longhaul/shared';
import type { LinkConfig } from '../../config.ts';
import type { Estimate } from '../../estimates/estimate.ts';
import { estimateOf, fellFrom, type Prior } from '../../estimates/figure.ts';
import { type LegDistribution, LINK_LIVES } from '../../estimates/leg-figures.ts';
import { lossEstimate, lossRateOf } from '../../estimates/loss-evidence.ts';
import type { SeenLine } from '../../estimates/own-lines.ts';
import type { FactKind } from '../../facts/fact.ts';
import { Facts } from '../../facts/facts.ts';
import { partsOf } from '../../facts/two-part-keys.ts';
import { OF_THE_SITE_MS } from '../../measuring/client-rtts.ts';
import { ConfiguredLinks, fixedLoss, pairKey, typedPrior } from './configured-links.ts';
import { type LegDoubt, NO_DOUBT } from './leg-scenarios.ts';
import type { LinkExpectations } from './link-expectations.ts';
import type { LinkEstimate, LinkView } from './link-view.ts';
import { MEASURED_FACTS, MeasuredLinks } from './measured-links.ts';
import {
  ageOf,
  backward,
  type Direction,
  isFresh,
  oldest,
  pooledRtt,
  type Together,
  together,
} from './two-directions.ts';
import { UNREACHED_FACTS, UnreachedPairs } from './unreached-pairs.ts';

/** How much the round trips differ that one link has one time after the other. */
const RTT_WITHIN = 0.1;
/** How much the round trips of links differ of which nothing is known: a factor of three. */
const RTT_BETWEEN = 1.1;
/**
 * A link of which only the round trip is known counts for so long after somebody has measured that: in an
 * overlay of a thousand depots each meets all others within less.
 */
const UNTESTED_LIFE_MS = 21_600_000;
/** How much the rates of such links differ, by what depots stand at: a factor of two or so. */
const UNTESTED_SPREAD = 0.5;
/** What is assumed where nobody says anything: a connection across an ocean. */
const ASSUMED_RTT_MS = 100;

export const LINK_FACTS: readonly FactKind<unknown>[] = [...MEASURED_FACTS, ...UNREACHED_FACTS];

type Listener = (one: string, other: string, nowMs: number) => void;

/**
 * What the planner knows of the links between depots and to ends that are typed in: what depots measured, and
 * what is configured, which counts where nothing is measured or the link is `fixed`.
 */
export class LinkTable implements LinkView {
  readonly #configured: ConfiguredLinks;
  readonly #measured: MeasuredLinks;
  readonly #expectations: LinkExpectations;
  readonly #linked = { client: new Set<string>(), origin: new Set<string>() };
  readonly #windowBytes: number;
  /** Depots that live, and cannot be connected to by others. */
  readonly unreached: UnreachedPairs;
  readonly #listeners: Listener[] = [];

  constructor(links: readonly LinkConfig[], windowBytes: number, facts = new Facts({ kinds: LINK_FACTS })) {
    this.#configured = new ConfiguredLinks(links, windowBytes);
    for (const { between } of links) this.#noteEnds(...between);
    this.#windowBytes = windowBytes;
    this.#measured = new MeasuredLinks(facts, (from, to, nowMs) => {
      this.#noteEnds(from, to);
      this.#tell(from, to, nowMs);
    });
    this.#expectations = this.#measured.expectations;
    this.unreached = new UnreachedPairs(facts, (...changed) => this.#tell(...changed));
  }

  /** Takes in what the depot `from` measured on its connections to another depot since its last report. */
  report(from: string, report: LinkReport, nowMs: number): void {
    this.#measured.report(from, report, nowMs);
  }

  /** Forgets what a depot has measured: it is not believed any more. */
  forgetFrom(depot: string): void {
    this.#measured.forgetFrom(depot);
  }

  /** Forgets what others have measured of their links to a depot: it is somewhere else now. */
  forgetTowards(depot: string): void {
    this.#measured.forgetTowards(depot);
  }

  /**
   * The estimate of the leg on which `other` sends to `one`; `undefined` when RTT or rate are unknown, or
   * `one`, which makes the connection, cannot reach `other`. Each figure is what `other` measured; where it
   * has not lately, what `one` measured in the other direction.
   */
  estimate(one: string, other: string, nowMs: number): LinkEstimate | undefined {
    if (this.unreached.has(one, other, nowMs)) return undefined;
    const link = this.#configured.of(one, other);
    const known = this.#measured.directions(one, other, nowMs);
    // Most links of an overlay that somebody has described were never measured.
    if (known.length === 0) return link && this.#configured.estimateOf(link);
    if (!link) return this.#measuredAlone(one, other, known);
    const isMeasured = known.some((direction) => isFresh(direction, direction.value.rtt));
    return isMeasured && !link.fixed ? this.#measuredOver(link, known) : this.#configured.estimateOf(link);
  }

  /** What is known of the leg on which `other` sends to `one`, and how sure that is. */
  distribution(one: string, other: string, nowMs: number): LegDistribution {
    const link = this.#configured.of(one, other);
    const known = link?.fixed ? [] : this.#measured.directions(one, other, nowMs);
    const rtt = pooledRtt(known);
    const rttPrior = link ? typedPrior(link.rttMs, link, RTT_WITHIN) : ASSUMED_RTT;
    const rttMs = estimateOf(rtt?.figure, rtt?.passedMs ?? 0, rttPrior, LINK_LIVES.rttMs);
    const learned = this.#expectations.goodput(one, other, rttMs.value);
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
        ? backward(goodputBps, this.#expectations.mostBps(one, other, goodputBps.value))
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
    if (this.#configured.of(one, other)?.fixed) return [];
    return [other, one].filter((from) => this.#measured.of(from, from === one ? other : one) !== undefined);
  }

  /**
   * Whether two depots are at one site, as both of them have measured, or, where neither has, as it is typed
   * in: by its own word alone nobody is another one's neighbour.
   */
  areAtOneSite(one: string, other: string): boolean {
    if (one === other) return true;
    const link = this.#configured.of(one, other);
    const told = [this.#measured.of(one, other), this.#measured.of(other, one)];
    if (link?.fixed || told.every((figures) => !figures))
      return link !== undefined && link.rttMs <= OF_THE_SITE_MS;
    return told.every((figures) => figures !== undefined && figures.rtt.value <= OF_THE_SITE_MS);
  }

  /** Whether the round trips that a depot tells are those that its neighbours tell. */
  isBelieved(depot: string): boolean {
    return this.#measured.isBelieved(depot);
  }

  /** How unsure {@link estimate} is; what is configured counts as it is. */
  doubt(one: string, other: string, nowMs: number): LegDoubt {
    const link = this.estimate(one, other, nowMs);
    if (link?.ageMs === undefined) return NO_DOUBT;
    const { rttMs, lossRate, goodputBps } = this.distribution(one, other, nowMs);
    const leastBps =
      link.goodputBps === undefined
        ? this.#together(one, other, this.#measured.directions(one, other, nowMs), rttMs.value)?.bps
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
    return this.#expectations.usual(rttMs).value;
  }

  /** The most that a depot was seen to send to another one, in bits per second; 0 where nothing is known. */
  mostSentBps(depot: string): number {
    return this.#expectations.mostSentBps(depot);
  }

  /**
   * The most that a depot was seen to receive from another one, or to send, in bits per second; 0 where
   * nothing is known.
   */
  mostReceivedBps(depot: string): number {
    return this.#expectations.mostReceivedBps(depot);
  }

  /**
   * What was seen of the lines of both ends of the leg on which `other` sends to `one`, as far as that may
   * bound so much: of what `other` sends, and `one` receives.
   */
  linesOf(one: string, other: string, askedBps: number): readonly SeenLine[] {
    return this.#expectations.linesOf(one, other, askedBps);
  }

  /** Whether what is configured of a link stands whatever is measured. */
  isFixed(one: string, other: string): boolean {
    return this.#configured.of(one, other)?.fixed ?? false;
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
    const measured = [...this.#measured.pairs()].map((ends) => pairKey(...ends));
    for (const key of new Set([...this.#configured.keys(), ...measured])) yield partsOf(key);
  }

  /** Has `listener` told of each pair whose estimate may have changed. */
  onChange(listener: Listener): void {
    this.#listeners.push(listener);
  }

  #tell(...changed: Parameters<Listener>): void {
    for (const listener of this.#listeners) listener(...changed);
  }

  /**
   * What several connections get through together, as {@link together}: of what was seen in the other
   * direction no more than the lines carry in this one.
   */
  #together(one: string, other: string, known: readonly Direction[], rttMs: number): Together | undefined {
    const seen = together(known, this.#expectations.goodput(one, other, rttMs));
    return seen?.isBackward
      ? { ...seen, bps: Math.min(seen.bps, this.#expectations.mostBps(one, other, seen.bps)) }
      : seen;
  }

  #loss(known: readonly Direction[], link: LinkConfig | undefined, rttMs: number): Estimate {
    const loss = known.find(({ value }) => value.loss);
    const priorMean = link?.lossRate || this.#expectations.loss(rttMs);
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
      const expected = this.#expectations.goodput(one, other, link.rttMs);
      const rateBps = Math.max(expected.value, this.#together(one, other, known, link.rttMs)?.bps ?? 0);
      return { ...link, rateBps, goodputBps: undefined, rateSource: expected.source };
    }
    // What is expected is not asked for in vain: each link that changes may change it.
    const seenBps = isFresh(goodput, figure)
      ? figure.value
      : estimateOf(
          figure,
          goodput.passedMs,
          this.#expectations.goodput(one, other, link.rttMs),
          LINK_LIVES.goodputMs,
        ).value;
    const goodputBps = goodput.isBackward
      ? Math.min(seenBps, this.#expectations.mostBps(one, other, seenBps))
      : seenBps;
    const total = this.#together(one, other, known, link.rttMs);
    if (total === undefined || total.bps <= goodputBps) return { ...link, rateBps: goodputBps, goodputBps };
    return { ...link, rateBps: total.bps, goodputBps, ageMs: oldest(link.ageMs, total.ageMs) };
  }

  #measuredOver(link: LinkConfig, known: readonly Direction[]): LinkEstimate {
    const rtt = pooledRtt(known.filter((direction) => isFresh(direction, direction.value.rtt)));
    const rttMs = rtt?.figure.value ?? link.rttMs;
    const goodput = known.find(({ value }) => value.goodput);
    const goodputBps = this.#goodputOver(link, goodput, rttMs);
    const loss = known.find(({ value }) => value.loss);
    const isLossKnown =
      isFresh(loss, loss?.value.loss) || this.#loss(known, link, rttMs).source === 'measured';
    const total = known.find((direction) => isFresh(direction, direction.value.total));
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
    if (isFresh(measured, figure)) return figure.value;
    const prior = typedPrior(link.rateBps, link, this.#expectations.usual(rttMs).within);
    const { value, source } = estimateOf(figure, measured.passedMs, prior, LINK_LIVES.goodputMs);
    return source === 'measured' ? value : undefined;
  }
}

/** How unsure the rate of a link is that is planned with: what is typed in is sure. */
function rateDoubt({ goodputBps, rateSource }: LinkEstimate, spread: number): number {
  if (goodputBps !== undefined) return spread;
  return rateSource === undefined ? 0 : Math.min(spread, UNTESTED_SPREAD);
}

const ASSUMED_RTT: Prior = {
  value: ASSUMED_RTT_MS,
  between: RTT_BETWEEN,
  within: RTT_WITHIN,
  source: 'assumed',
};

/** A rate where it is known and more than another. */
function moreThan(otherBps: number, bps: number | undefined): number | undefined {
  return bps !== undefined && bps > otherBps ? bps : undefined;
}
