import type { ClientReport } from '@longhaul/shared';
import * as z from 'zod';
import { type Figure, fellFrom, measuredOf, unfallen } from '../estimates/figure.ts';
import {
  END_LIVES,
  type LegDistribution,
  legFiguresSchema,
  MEASURED_LIFE_MS,
  withReport,
} from '../estimates/leg-figures.ts';
import type { Fact, FactKind } from '../facts/fact.ts';
import { Facts } from '../facts/facts.ts';
import type { ClientAliases } from './client-aliases.ts';
import { neighbourhoodOf } from './client-networks.ts';
import { type ClientQueue, queueFigures, queueOf, withQueue } from './client-queue.ts';
import { type ClientWindow, windowFigures, windowOf, withWindows } from './client-window.ts';
import { CrowdedDepots } from './crowded-depots.ts';
import { EndTable } from './end-table.ts';
import { siteOf } from './measured-by.ts';

/** Ways from a depot to a client network that are remembered, about 500 bytes each. */
const MOST_WAYS = 100_000;
/** What a usual line gives where nothing is known of one. */
const ASSUMED_BPS = 50e6;
/**
 * The lines of a network's clients differ: what is slower than this share of what is known is another one,
 * whose download may take hours and says little of the others. One that is believed too slow costs its client
 * all that depots can win, since direct shares it; one that is believed too fast costs nothing.
 */
const OTHER_LINE = 0.5;
/**
 * So many measurements say what a network had before a depot's line was crowded: the first one may be what is
 * usual.
 */
const LEAST_KNOWN = 2;

const clientFiguresSchema = z.looseObject({
  ...legFiguresSchema.shape,
  ...windowFigures,
  ...queueFigures,
});
type ClientFigures = z.output<typeof clientFiguresSchema>;

/** What a depot has measured towards a client network, by `<depot> <prefix>`: it sends. */
const CLIENT_MEASURED = {
  name: 'client-measured',
  schema: clientFiguresSchema,
  keys: /^\S{1,64} [0-9a-f.:]{2,45}\/(?:24|48)$/,
  most: MOST_WAYS,
  whenFull: 'forget-oldest',
  lifeMs: MEASURED_LIFE_MS,
  isKept: true,
} satisfies FactKind<unknown>;

/** What was known when a report came, and how long ago it was so. */
interface Before {
  readonly known: ClientFigures | undefined;
  readonly passedMs: number;
  readonly nowMs: number;
}

export const CLIENT_FACTS = [CLIENT_MEASURED];

/** The ways from depots to the networks of their clients (/24, or /48 of IPv6), as real transfers showed them. */
export class ClientTable {
  readonly #ends: EndTable<ClientFigures>;
  readonly #crowded = new CrowdedDepots();
  readonly #aliases: Pick<ClientAliases, 'of' | 'ofEach' | 'hasMet'> | undefined;

  /**
   * @param sentElsewhereBps the most that a depot was seen to send to others than clients, in bits per second.
   * @param aliases under which other networks depots know the clients of one.
   */
  constructor(
    facts = new Facts({ kinds: CLIENT_FACTS }),
    sentElsewhereBps?: (depot: string) => number,
    aliases?: Pick<ClientAliases, 'of' | 'ofEach' | 'hasMet'>,
  ) {
    this.#aliases = aliases;
    this.#ends = new EndTable({
      facts,
      kind: CLIENT_MEASURED,
      assumedBps: ASSUMED_BPS,
      isSender: true,
      ...(sentElsewhereBps ? { sentElsewhereBps } : {}),
      neighbourhood: neighbourhoodOf,
    });
  }

  get size(): number {
    return this.#ends.size;
  }

  /** Takes in what a depot measured on its connections to a client network since its last report. */
  report(depot: string, told: ClientReport, nowMs: number): void {
    this.#ends.update(depot, told.prefix, nowMs, (said, passedMs) => {
      const { report, known } = this.#ofNetwork(depot, told, { known: said, passedMs, nowMs });
      const figures = withReport(known, report, passedMs, END_LIVES, { slowerShare: OTHER_LINE });
      const isFirst = known?.goodput === undefined;
      const begun =
        isFirst && figures.goodput ? { goodput: this.#begun(depot, figures.goodput, report) } : undefined;
      const windows = withWindows(known, report, passedMs);
      const queue = withQueue(known, report, passedMs);
      return { ...figures, ...begun, ...windows, ...queue };
    });
  }

  /**
   * What a depot sends to each network that gets far less than it is known to, bits per second, while its own
   * line is crowded; else `undefined`.
   */
  crowdedBps(depot: string, nowMs: number): number | undefined {
    return this.#crowded.eachBps(depot, nowMs);
  }

  /**
   * What a report says of its network, and what was known of that. Where the line of the depot is crowded,
   * what is slow, lost or waits is the depot's: direct downloads do not meet it, and nothing of it is left
   * once the crowd has gone. One that grows slowly is seen when what is known has come down with it: so a
   * rate is held against the most of late, and that is known again.
   */
  #ofNetwork(
    depot: string,
    report: ClientReport,
    { known, passedMs, nowMs }: Before,
  ): { readonly report: ClientReport; readonly known: ClientFigures | undefined } {
    const { prefix, rttMs, goodputBps: bps } = report;
    const figure = measuredOf(known?.goodput);
    const mostBps = figure && (fellFrom(figure, passedMs, END_LIVES.goodputMs) ?? figure.value);
    const isSlower = bps !== undefined && bps < OTHER_LINE * (mostBps ?? this.#ends.usualBps(rttMs));
    if (bps !== undefined && (figure?.weight ?? 0) >= LEAST_KNOWN)
      this.#crowded.note(depot, prefix, { bps, isSlower, atMs: nowMs });
    if (this.crowdedBps(siteOf(depot) ?? depot, nowMs) === undefined) return { report, known };
    const { sentBytes: _sent, retransmittedBytes: _lost, queueMs: _waits, goodputBps, ...others } = report;
    const isLess = isSlower || (bps ?? 0) < (figure?.value ?? 0);
    return {
      report: goodputBps === undefined || isLess ? others : { ...others, goodputBps },
      known:
        known && figure && isSlower
          ? { ...known, goodput: unfallen(figure, passedMs, END_LIVES.goodputMs) }
          : known,
    };
  }

  /**
   * The first line of a network that is seen counts no more than a usual one where it is so much slower: it
   * may be another one. A depot that sends to nobody faster is not taken for faster by that.
   */
  #begun(depot: string, goodput: Figure, { rttMs }: ClientReport): Figure {
    const usualBps = this.#ends.usualBps(rttMs);
    if (goodput.value >= OTHER_LINE * usualBps) return goodput;
    const mostBps = this.#ends.mostSentBps(depot) || usualBps;
    const value = Math.min(Math.sqrt(goodput.value * usualBps), Math.max(goodput.value, mostBps));
    return { ...goodput, value };
  }

  /** Forgets what a depot has measured: it is not believed any more. */
  forgetFrom(depot: string): void {
    this.#ends.forgetFrom(depot);
  }

  /** What depots have measured of a client network, by depot; of those that have not, what they have of its alias. */
  known(prefix: string): ReadonlyMap<string, Fact<ClientFigures>> {
    const own = this.#ends.known(prefix);
    const alias = this.#aliasOf(prefix);
    const seen = alias === undefined ? NOTHING : this.#ends.known(alias);
    const said = this.#said(prefix).filter(([depot, fact]) => seen.get(depot) !== fact);
    if (said.length === 0 && seen.size === 0) return own;
    return said.length === 0 && own.size === 0 ? seen : new Map([...seen, ...said, ...own]);
  }

  /** How much is known of a client network: more when there is more. */
  measuredBy(prefix: string): number {
    const alias = this.#aliasOf(prefix);
    const ofAlias = alias === undefined ? 0 : this.#ends.known(alias).size;
    return this.#ends.known(prefix).size + ofAlias + this.#said(prefix).length;
  }

  /** Whether a depot has measured a client network, or where it comes from. */
  isKnownTo(depot: string, prefix: string): boolean {
    return this.#ends.known(this.#seenAs(depot, prefix)).has(depot);
  }

  /** Whether a client of a network has come to a depot that knows it by another one. */
  hasMet(depot: string, prefix: string): boolean {
    return this.#aliases?.hasMet(depot, prefix) === true;
  }

  /** The depots that have measured a client network, the nearest first. */
  nearestFirst(prefix: string): readonly string[] {
    const known = this.known(prefix);
    const asOne = [prefix, this.#aliasOf(prefix) ?? prefix].find((end) => this.#ends.known(end) === known);
    const measured = asOne === undefined ? [...known].toSorted(byRtt) : this.#ends.nearestFirst(asOne);
    return measured.map(([depot]) => depot);
  }

  /** The depots that have measured neighbours of a client network. */
  near(prefix: string): Iterable<string> {
    const wider = neighbourhoodOf(this.#mostlyAs(prefix));
    return wider === undefined ? [] : this.#ends.near(wider);
  }

  /**
   * What the line of a client network may carry, in bits per second, where what `depot` sent to it may be all
   * that this one can send; else `undefined`.
   */
  untoldLineBps(depot: string, prefix: string, nowMs: number): number | undefined {
    return this.#ends.untoldLineBps(depot, this.#seenAs(depot, prefix), nowMs);
  }

  /** What waits in queues that others fill on its way to a client network. */
  queue(prefix: string, nowMs: number): ClientQueue {
    return queueOf(this.#told(prefix), nowMs);
  }

  /** The receive window of a network's clients, as far as depots have seen it; else, and at most, what is assumed. */
  window(prefix: string, assumedBytes: number, nowMs: number): ClientWindow {
    const facts = this.#told(prefix).map(([, fact]) => fact);
    return windowOf(facts, assumedBytes, nowMs);
  }

  #told(prefix: string): (readonly [by: string, fact: Fact<ClientFigures>])[] {
    const alias = this.#aliasOf(prefix);
    const ends = alias === undefined ? [prefix] : [prefix, alias];
    return [...ends.flatMap((end) => [...this.#ends.witnesses(end)]), ...this.#said(prefix)];
  }

  /** What depots have measured of where they themselves saw a network's clients come from. */
  #said(prefix: string): [depot: string, fact: Fact<ClientFigures>][] {
    const seen = this.#aliases?.ofEach(prefix);
    // Of most networks there is nothing, and each request asks.
    if (!seen || seen.size === 0) return [];
    return [...seen].flatMap(([depot, seenAs]) => {
      const fact = this.#ends.known(seenAs).get(depot);
      return fact ? [[depot, fact]] : [];
    });
  }

  /** What is known of the leg on which `depot` sends to a client network, by its prefix. */
  distribution(depot: string, prefix: string, nowMs: number): LegDistribution {
    const seen = this.#seenAs(depot, prefix);
    return this.#ends.distribution(depot, seen, nowMs, neighbourhoodOf(seen));
  }

  /** The network under which is known what a depot has measured of one. */
  #seenAs(depot: string, prefix: string): string {
    if (this.#ends.known(prefix).has(depot)) return prefix;
    const others = [this.#aliases?.ofEach(prefix).get(depot), this.#aliasOf(prefix)];
    const seen = others.find((end) => end !== undefined && this.#ends.known(end).has(depot));
    return seen ?? this.#mostlyAs(prefix);
  }

  /**
   * The same of depots that have measured neither: where one has measured the network itself, its neighbours
   * are the nearer ones.
   */
  #mostlyAs(prefix: string): string {
    return this.#isMeasured(prefix) ? prefix : (this.#aliasOf(prefix) ?? prefix);
  }

  /**
   * The network of the other family under which depots know the clients of one; one that a single depot tells
   * of gives way to what is measured.
   */
  #aliasOf(prefix: string): string | undefined {
    const alias = this.#aliases?.of(prefix);
    return alias && (alias.isAgreed || !this.#isMeasured(prefix)) ? alias.prefix : undefined;
  }

  /** Whether a depot has measured a network; a master only knows how far it is from there. */
  #isMeasured(prefix: string): boolean {
    for (const by of this.#ends.known(prefix).keys()) if (siteOf(by) === undefined) return true;
    return false;
  }
}

function byRtt([, one]: [string, Fact<ClientFigures>], [, other]: [string, Fact<ClientFigures>]): number {
  return one.value.rtt.value - other.value.rtt.value;
}

const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();
