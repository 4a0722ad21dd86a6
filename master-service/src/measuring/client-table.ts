import type { ClientReport } from '@longhaul/shared';
import * as z from 'zod';
import type { Figure, Prior } from '../estimates/figure.ts';
import { END_LIVES, type LegDistribution, legFiguresSchema, withReport } from '../estimates/leg-figures.ts';
import type { Fact, FactKind } from '../facts/fact.ts';
import { Facts } from '../facts/facts.ts';
import { firstOf, SpeakerRoom } from '../facts/speaker-room.ts';
import { formatPrefix, readPrefix, truncate } from '../prefixes/address.ts';
import { queueFigures, queueMsOf, withQueue } from './client-queue.ts';
import { type ClientWindow, windowFigures, windowOf, withWindows } from './client-window.ts';
import { EndTable } from './end-table.ts';

/** Ways from a depot to a client network that are remembered, about 500 bytes each. */
const MOST_WAYS = 100_000;
/** Nothing is left of older measurements. */
const MEASURED_LIFE_MS = 7 * 86_400_000;
/** What a usual line gives where nothing is known of one. */
const ASSUMED_BPS = 50e6;
/** A client that nobody knows is some tens of milliseconds away, or several hundred. */
const ASSUMED_RTT: Prior = { value: 50, between: 1, within: 0.2, source: 'assumed' };
/**
 * The lines of a network's clients differ: what is slower than this share of what is known is another one, whose download may take hours and says little of
 * the others. One that is believed too slow costs its client all that depots can win, since direct shares it; one that is believed too fast costs nothing.
 */
const OTHER_LINE = 0.5;
/** Bits of a network whose parts are taken for neighbours. */
const NEIGHBOURHOOD_BITS = { v4: 16, v6: 32 } as const;

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

export const CLIENT_FACTS = [CLIENT_MEASURED];

/** The ways from depots to the networks of their clients (/24, or /48 of IPv6), as real transfers showed them. */
export class ClientTable {
  readonly #facts: Facts;
  readonly #ends: EndTable<ClientFigures>;
  readonly #room: SpeakerRoom;

  /** @param sentElsewhereBps the most that a depot was seen to send to others than clients, in bits per second. */
  constructor(facts = new Facts({ kinds: CLIENT_FACTS }), sentElsewhereBps?: (depot: string) => number) {
    this.#facts = facts;
    this.#ends = new EndTable({
      facts,
      kind: CLIENT_MEASURED,
      assumedBps: ASSUMED_BPS,
      assumedRtt: ASSUMED_RTT,
      isSender: true,
      ...(sentElsewhereBps ? { sentElsewhereBps } : {}),
      neighbourhood: neighbourhoodOf,
    });
    this.#room = new SpeakerRoom({ facts, kind: CLIENT_MEASURED, speakerOf: firstOf });
  }

  get size(): number {
    return this.#ends.size;
  }

  /** Takes in what a depot measured on its connections to a client network since its last report. */
  report(depot: string, report: ClientReport, nowMs: number): void {
    const key = `${depot} ${report.prefix}`;
    const known = this.#facts.store.newest(CLIENT_MEASURED, key);
    const passedMs = known ? Math.max(0, nowMs - known.timeMs) : 0;
    this.#room.makeRoomFor(key);
    const figures = withReport(known?.value, report, passedMs, END_LIVES, { slowerShare: OTHER_LINE });
    const isFirst = known?.value.goodput === undefined;
    const begun =
      isFirst && figures.goodput ? { goodput: this.#begun(depot, figures.goodput, report) } : undefined;
    const windows = withWindows(known?.value, report, passedMs);
    const queue = withQueue(known?.value, report, passedMs);
    const value = { ...figures, ...begun, ...windows, ...queue };
    this.#facts.learn(CLIENT_MEASURED, key, value, nowMs);
  }

  /**
   * The first line of a network that is seen counts no more than a usual one where it is so much slower: it may be another one. A depot that sends to nobody faster
   * is not taken for faster by that.
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

  /** What depots have measured of a client network, by depot. */
  known(prefix: string): ReadonlyMap<string, Fact<ClientFigures>> {
    return this.#ends.known(prefix);
  }

  /** The depots that have measured a client network, the nearest first. */
  nearestFirst(prefix: string): readonly string[] {
    return this.#ends.nearestFirst(prefix).map(([depot]) => depot);
  }

  /** The depots that have measured neighbours of a client network. */
  near(prefix: string): Iterable<string> {
    const wider = neighbourhoodOf(prefix);
    return wider === undefined ? [] : this.#ends.near(wider);
  }

  /** What the line of a client network may carry beyond what the only depot sent to it that has, and has sent no more to anybody; else `undefined`. */
  untoldLineBps(prefix: string, nowMs: number): number | undefined {
    return this.#ends.untoldLineBps(prefix, nowMs);
  }

  /** How long what depots send to a client network waits in queues that others fill, in ms. */
  queueMs(prefix: string, nowMs: number): number {
    return queueMsOf(this.#told(prefix), nowMs);
  }

  /** The receive window of a network's clients, as far as depots have seen it; else, and at most, what is assumed. */
  window(prefix: string, assumedBytes: number, nowMs: number): ClientWindow {
    return windowOf(this.#told(prefix), assumedBytes, nowMs);
  }

  #told(prefix: string): Fact<ClientFigures>[] {
    return [...this.#ends.witnesses(prefix)].map(([, fact]) => fact);
  }

  /** What is known of the leg on which `depot` sends to a client network, by its prefix. */
  distribution(depot: string, prefix: string, nowMs: number): LegDistribution {
    return this.#ends.distribution(depot, prefix, nowMs, neighbourhoodOf(prefix));
  }
}

function neighbourhoodOf(text: string): string | undefined {
  const prefix = readPrefix(text);
  if (typeof prefix === 'string') return undefined;
  const length = prefix.isV6 ? NEIGHBOURHOOD_BITS.v6 : NEIGHBOURHOOD_BITS.v4;
  return formatPrefix({ ...truncate(prefix, length), length });
}
