import type { ClientReport } from '@longhaul/shared';
import * as z from 'zod';
import { type Figure, figureSchema, later, observed, type Prior } from '../estimates/figure.ts';
import { END_LIVES, type LegDistribution, legFiguresSchema, withReport } from '../estimates/leg-figures.ts';
import type { Fact, FactKind } from '../facts/fact.ts';
import { Facts } from '../facts/facts.ts';
import { firstOf, SpeakerRoom } from '../facts/speaker-room.ts';
import { formatPrefix, readPrefix, truncate } from '../prefixes/address.ts';
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
/** Who fills a client's line does so for some minutes, or all evening. */
const QUEUE_LIFE_MS = 3_600_000;
/** A queue that was seen once may be over: it counts as this many others say that there is none. */
const NO_QUEUES = 1;
/** Bits of a network whose parts are taken for neighbours. */
const NEIGHBOURHOOD_BITS = { v4: 16, v6: 32 } as const;

const clientFiguresSchema = z.looseObject({
  ...legFiguresSchema.shape,
  ...windowFigures,
  /** How long packets wait in queues that others fill, and a millisecond. */
  queue: figureSchema.optional(),
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
    const queue = queueWith(known?.value.queue, report, passedMs);
    const value = { ...figures, ...begun, ...windows, ...(queue ? { queue } : {}) };
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

  /**
   * How long what depots send to a client network waits in queues that others fill, in ms: before its line all of them wait. Who waits least counts: what
   * one alone waits for is before its own.
   */
  queueMs(prefix: string, nowMs: number): number {
    const waits = [...this.#ends.witnesses(prefix)].flatMap(([, { value, timeMs }]) => {
      if (!value.queue) return [];
      const ageMs = value.queue.ageMs + Math.max(0, nowMs - timeMs);
      if (ageMs > QUEUE_LIFE_MS) return [];
      const weight = value.queue.weight * Math.exp(-ageMs / QUEUE_LIFE_MS);
      return [(Math.max(0, value.queue.value - 1) * weight) / (weight + NO_QUEUES)];
    });
    return waits.length > 0 ? Math.min(...waits) : 0;
  }

  /** The receive window of a network's clients, as far as depots have seen it; else, and at most, what is assumed. */
  window(prefix: string, assumedBytes: number, nowMs: number): ClientWindow {
    const told = [...this.#ends.witnesses(prefix)].map(([, fact]) => fact);
    return windowOf(told, assumedBytes, nowMs);
  }

  /** What is known of the leg on which `depot` sends to a client network, by its prefix. */
  distribution(depot: string, prefix: string, nowMs: number): LegDistribution {
    return this.#ends.distribution(depot, prefix, nowMs, neighbourhoodOf(prefix));
  }
}

/** A shorter wait counts at once: a queue that is believed for too long has chains taken that are slower than the direct way. */
function queueWith(known: Figure | undefined, { queueMs }: ClientReport, passedMs: number) {
  if (queueMs === undefined) return known && later(known, passedMs);
  const before = known && known.value > 1 + queueMs ? { ...known, value: 1 + queueMs } : known;
  return observed(before, 1 + queueMs, passedMs, QUEUE_LIFE_MS);
}

function neighbourhoodOf(text: string): string | undefined {
  const prefix = readPrefix(text);
  if (typeof prefix === 'string') return undefined;
  const length = prefix.isV6 ? NEIGHBOURHOOD_BITS.v6 : NEIGHBOURHOOD_BITS.v4;
  return formatPrefix({ ...truncate(prefix, length), length });
}
