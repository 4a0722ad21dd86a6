import {
  CONGESTION_CONTROLS,
  type CongestionControl,
  clientPrefix,
  isAddressLiteral,
  MAX_LANES,
  NETWORK_PREFIX,
  type OriginReport,
  SEGMENT_BYTES,
} from '@longhaul/shared';
import * as z from 'zod';
import { type Figure, figureSchema, followed, later, observed } from '../estimates/figure.ts';
import {
  END_LIVES,
  HINDERED_MS,
  type LegDistribution,
  legFiguresSchema,
  MEASURED_LIFE_MS,
  withReport,
} from '../estimates/leg-figures.ts';
import { type LossEvidence, lossEvidenceSchema, lossRateOf, withSent } from '../estimates/loss-evidence.ts';
import type { Fact, FactKind } from '../facts/fact.ts';
import { Facts } from '../facts/facts.ts';
import { ToldByDepots } from '../facts/told-by-depots.ts';
import { EndTable } from './end-table.ts';

/** Ways from a depot to an origin that are remembered, about 600 bytes each. */
const MOST_WAYS = 100_000;
/** What depots say of how an origin takes requests, about 200 bytes each. */
const MOST_TAKEN = 20_000;
/** What a usual server gives where nothing is known of one. */
const ASSUMED_BPS = 100e6;
/**
 * What the receiver counts as lost says something of the sender from so many losses on: before, its window
 * has not come down from the start.
 */
const TELLING_LOSSES = 100;
/** The same of connections that have forgotten their start: so many tell the loss rate by a fifth. */
const TELLING_WORN_LOSSES = 20;
/**
 * A sender that is so many times faster than losses leave to CUBIC is none, when its start is forgotten.
 * Before, a young CUBIC may be twenty times as fast ...
 */
const TOO_FAST_FOR_CUBIC = 4;
/** ... but one whose fastest second is not so many times as fast is nothing else. */
const LIKE_CUBIC = 4;

/**
 * What several were given that nothing held back is given again, by so much; it scatters more than what fills
 * a way, and others may have more use for it.
 */
const ROOM_FOR_SEVERAL = 2;

/** So much more than what filled it says that it carries more now: one second scatters about the mean of several. */
const WIDER = 1.25;

/** Servers of one place, behind different addresses, differ by less in the logarithm of their round trips. */
const MOVED = 0.4;

const prefix = z.string().regex(NETWORK_PREFIX);

/** What a depot has measured on its connections to an origin. The origin sends. */
const originFiguresSchema = z.looseObject({
  ...legFiguresSchema.shape,
  /** Of several connections together. */
  total: figureSchema.optional(),
  /** The same while they filled the way, which carries no more. */
  full: figureSchema.optional(),
  /** Of each of several connections, which nothing but the origin or the network held back. */
  ofSeveral: figureSchema.optional(),
  firstByte: figureSchema.optional(),
  /** Of single connections that have forgotten their start, with what they lost then. */
  worn: z.looseObject({ goodput: figureSchema, loss: lossEvidenceSchema }).optional(),
  prefix: prefix.optional(),
  /** The network that it was in before it moved, and how long ago that was seen. */
  moved: z.looseObject({ from: prefix, agoMs: z.number().min(0) }).optional(),
  limit: z.enum(['origin', 'network', 'receiver']).optional(),
});
export type OriginFigures = z.output<typeof originFiguresSchema>;

/** By `<depot> <host>`. */
const ORIGIN_MEASURED = {
  name: 'origin-measured',
  schema: originFiguresSchema,
  keys: /^\S{1,64} [a-z0-9.:_-]{1,255}$/,
  most: MOST_WAYS,
  whenFull: 'forget-oldest',
  lifeMs: MEASURED_LIFE_MS,
  isKept: true,
} satisfies FactKind<unknown>;

/** What an entry depot has seen of how an origin takes requests, by `<depot> <host>`. */
const ORIGIN_TAKES = {
  name: 'origin-takes',
  schema: z.looseObject({ ranges: z.boolean().optional(), ahead: z.boolean().optional() }),
  keys: ORIGIN_MEASURED.keys,
  most: MOST_TAKEN,
  whenFull: 'forget-oldest',
  lifeMs: MEASURED_LIFE_MS,
  isKept: true,
} satisfies FactKind<unknown>;

export const ORIGIN_FACTS = [ORIGIN_MEASURED, ORIGIN_TAKES];

/** How an origin is said to send and to take requests; what nobody can tell is left out. */
interface OriginManners {
  readonly sender?: CongestionControl;
  readonly takesRanges?: boolean;
  readonly takesAhead?: boolean;
}

/** The ways from depots to origins, by host, as real transfers and probes showed them. */
export class OriginTable {
  readonly #ends: EndTable<OriginFigures>;
  readonly #takes: ToldByDepots<z.output<(typeof ORIGIN_TAKES)['schema']>>;

  constructor(facts = new Facts({ kinds: ORIGIN_FACTS })) {
    this.#ends = new EndTable({
      facts,
      kind: ORIGIN_MEASURED,
      assumedBps: ASSUMED_BPS,
      isSender: false,
      neighbourhood: (_host, value) => value.prefix,
    });
    this.#takes = new ToldByDepots({ facts, kind: ORIGIN_TAKES });
  }

  get size(): number {
    return this.#ends.size;
  }

  /** Takes in what an origin showed a depot since its last report. */
  report(depot: string, report: OriginReport, nowMs: number): void {
    const { host, rttMs, takesRanges: ranges, takesAhead: ahead } = report;
    if (rttMs !== undefined) {
      this.#ends.update(depot, host, nowMs, (known, passedMs) => {
        const from = known && hasMoved(known, report) ? known.prefix : undefined;
        const figures = figuresWith(from === undefined ? known : undefined, { ...report, rttMs }, passedMs);
        return from === undefined ? figures : { ...figures, moved: { from, agoMs: 0 } };
      });
    }
    if (ranges === undefined && ahead === undefined) return;
    this.#takes.update(depot, host, nowMs, (known) => ({
      ...known,
      ...(ranges === undefined ? {} : { ranges }),
      ...(ahead === undefined ? {} : { ahead }),
    }));
  }

  /** Forgets what a depot has told: it is not believed any more. */
  forgetFrom(depot: string): void {
    this.#ends.forgetFrom(depot);
    this.#takes.forgetFrom(depot);
  }

  /** What depots have measured of an origin, by depot. */
  known(host: string): ReadonlyMap<string, Fact<OriginFigures>> {
    return this.#ends.known(host);
  }

  /** The same; of many depots some, evenly from the nearest on. */
  witnesses(host: string): Iterable<readonly [depot: string, fact: Fact<OriginFigures>]> {
    return this.#ends.witnesses(host);
  }

  /** The depots that have measured an origin, the nearest first. */
  nearestFirst(host: string): readonly string[] {
    return this.#ends.nearestFirst(host).map(([depot]) => depot);
  }

  /** The depots that have measured neighbours of an origin. */
  near(host: string): Iterable<string> {
    const network = this.prefixOf(host);
    return network === undefined ? [] : this.#ends.near(network);
  }

  /** What is known of the leg on which an origin sends to `depot`. */
  distribution(depot: string, host: string, nowMs: number): LegDistribution {
    const own = this.known(host).get(depot)?.value.prefix;
    return this.#ends.distribution(depot, host, nowMs, own ?? this.prefixOf(host));
  }

  /**
   * The network that most depots say that they reached an origin in, or that its address names; they may
   * differ, where it has several addresses.
   */
  prefixOf(host: string): string | undefined {
    if (isAddressLiteral(host)) return clientPrefix(host);
    const votes = new Map<string, number>();
    for (const [, { value }] of this.witnesses(host))
      if (value.prefix !== undefined) votes.set(value.prefix, 1 + (votes.get(value.prefix) ?? 0));
    const [first, second] = [...votes].toSorted(([, one], [, other]) => other - one);
    return first && first[1] > (second?.[1] ?? 0) ? first[0] : undefined;
  }

  /** What most depots that have seen it, and are believed, say of an origin: one alone does not outvote others. */
  manners(host: string, nowMs: number, isBelieved: (depot: string) => boolean = () => true): OriginManners {
    const told = <Value>(all: Iterable<readonly [depot: string, fact: Fact<Value>]>) =>
      [...all].flatMap(([depot, fact]) => (isBelieved(depot) ? [fact] : []));
    const taken = told(this.#takes.of(host));
    const known = told(this.witnesses(host));
    const takesRanges = majority(taken.map(({ value }) => value.ranges));
    const takesAhead = majority(taken.map(({ value }) => value.ahead));
    const isBbr = majority(votesOnLoss(known.map((fact) => seenLately(fact, nowMs))));
    return {
      ...(takesRanges === undefined ? {} : { takesRanges }),
      ...(takesAhead === undefined ? {} : { takesAhead }),
      ...(isBbr === undefined ? {} : { sender: isBbr ? 'bbr' : 'cubic' }),
    };
  }
}

/**
 * Whether an origin is in another network now, and so much nearer or further that what was measured there
 * says nothing of it.
 */
function hasMoved({ prefix, rtt }: OriginFigures, report: OriginReport): boolean {
  if (prefix === undefined || report.prefix === undefined || report.prefix === prefix) return false;
  return Math.abs(Math.log((report.rttMs ?? rtt.value) / rtt.value)) > MOVED;
}

function figuresWith(
  known: OriginFigures | undefined,
  report: OriginReport & { readonly rttMs: number },
  passedMs: number,
): OriginFigures {
  const { rttMs, goodputBps, receivedBytes, lostBytes, totalBps, firstByteMs } = report;
  const worn = report.worn
    ? wornWith(known?.worn, report.worn, passedMs)
    : known?.worn && wornLater(known.worn, passedMs);
  const sent = { sentBytes: receivedBytes, retransmittedBytes: lostBytes };
  const total = totalBps
    ? observed(known?.total, totalBps, passedMs, END_LIVES.goodputMs)
    : known?.total && later(known.total, passedMs);
  const full = fullWith(known?.full, report, passedMs);
  const ofSeveral = ofSeveralWith(known?.ofSeveral, report.several, passedMs);
  const firstByte = firstByteMs
    ? observed(known?.firstByte, firstByteMs, passedMs, END_LIVES.rttMs)
    : known?.firstByte && later(known.firstByte, passedMs);
  // A slow reader tells nothing of the origin, and takes nothing back that others have told.
  const limit = report.limit === 'receiver' ? (known?.limit ?? 'receiver') : (report.limit ?? known?.limit);
  const moved = known?.moved && { ...known.moved, agoMs: known.moved.agoMs + passedMs };
  const network = report.prefix ?? known?.prefix;
  return {
    ...withReport(known, { rttMs, goodputBps, ...sent }, passedMs, END_LIVES),
    ...(total ? { total } : {}),
    ...(full ? { full } : {}),
    ...(ofSeveral ? { ofSeveral } : {}),
    ...(firstByte ? { firstByte } : {}),
    ...(worn ? { worn } : {}),
    ...(network === undefined ? {} : { prefix: network }),
    ...(moved ? { moved } : {}),
    ...(limit === undefined ? {} : { limit }),
  };
}

/** What filled a way, as long as nothing has shown since that it carries more. */
function fullWith(
  known: Figure | undefined,
  { fullBps, totalBps = 0, goodputBps = 0 }: OriginReport,
  passedMs: number,
): Figure | undefined {
  const current = known && known.ageMs + passedMs <= HINDERED_MS ? known : undefined;
  if (fullBps !== undefined) return followed(current, fullBps, passedMs, END_LIVES.goodputMs);
  const isWider = current && Math.max(totalBps, goodputBps) > WIDER * current.value;
  return current && !isWider ? later(current, passedMs) : undefined;
}

/** What each of several was given: it bounds others, so that more counts at once, and less as a change does. */
function ofSeveralWith(
  known: Figure | undefined,
  told: OriginReport['several'],
  passedMs: number,
): Figure | undefined {
  if (!told) return known && later(known, passedMs);
  const current = known && known.ageMs + passedMs <= HINDERED_MS ? known : undefined;
  // Of more than one download has, as many as that have shown that they get it all.
  const eachBps = told.goodputBps / Math.min(told.connections, MAX_LANES);
  const before = current && eachBps < current.value ? current : undefined;
  return followed(before, eachBps, passedMs, END_LIVES.goodputMs);
}

type Worn = NonNullable<OriginFigures['worn']>;

function wornWith(
  known: Worn | undefined,
  { goodputBps, receivedBytes, lostBytes }: NonNullable<OriginReport['worn']>,
  passedMs: number,
): Worn {
  return {
    goodput: followed(known?.goodput, goodputBps, passedMs, END_LIVES.goodputMs),
    loss: withSent(known?.loss, { sentBytes: receivedBytes, lostBytes }, passedMs, END_LIVES.lossMs),
  };
}

function wornLater({ goodput, loss }: Worn, passedMs: number): Worn {
  return { goodput: later(goodput, passedMs), loss: { ...loss, ageMs: loss.ageMs + passedMs } };
}

/** What was measured of an origin, but for what showed long ago what it sends with: that may be another one now. */
function seenLately({ value, timeMs }: Fact<OriginFigures>, nowMs: number): OriginFigures {
  const { worn, ...others } = value;
  return worn && worn.goodput.ageMs + nowMs - timeMs > END_LIVES.lossMs ? others : value;
}

/**
 * Whether an origin sends faster than losses leave to CUBIC, as BBR does, by each depot; `undefined` where
 * nothing can be told. Where one got more than CUBIC would, those count little to which losses would leave
 * about as much as the origin gives to anybody.
 */
function votesOnLoss(known: readonly OriginFigures[]): readonly (boolean | undefined)[] {
  const votes = known.map((figures) => sendsAboveLoss(figures));
  if (!votes.some((vote) => vote?.isAbove)) return votes.map((vote) => vote?.isAbove);
  const mostBps = Math.max(...known.map(({ goodput }) => goodput?.value ?? 0));
  return votes.map((vote) =>
    vote && (vote.isAbove || vote.cubicBps < mostBps / 2) ? vote.isAbove : undefined,
  );
}

function sendsAboveLoss({
  rtt,
  goodput,
  loss,
  worn,
}: OriginFigures): { readonly isAbove: boolean; readonly cubicBps: number } | undefined {
  if (worn && isTelling(worn)) {
    const cubicBps = cubicBpsOf(worn.loss, rtt.value);
    // Of several that share a way each has little, whatever sends.
    if (worn.goodput.value > TOO_FAST_FOR_CUBIC * cubicBps) return { isAbove: true, cubicBps };
  }
  if (!goodput || !loss || loss.lostBytes < TELLING_LOSSES * SEGMENT_BYTES) return undefined;
  const cubicBps = cubicBpsOf(loss, rtt.value);
  return goodput.value < LIKE_CUBIC * cubicBps ? { isAbove: false, cubicBps } : undefined;
}

function isTelling({ loss }: Worn): boolean {
  return loss.lostBytes >= TELLING_WORN_LOSSES * SEGMENT_BYTES;
}

/**
 * What single connections brought when they had forgotten their start, in bits per second; `undefined` where
 * that is not known well, or was long ago.
 */
export function wornBpsOf(
  { value: { worn }, timeMs }: Fact<OriginFigures>,
  nowMs: number,
): number | undefined {
  if (!worn || worn.goodput.ageMs + nowMs - timeMs > END_LIVES.goodputMs) return undefined;
  return isTelling(worn) ? worn.goodput.value : undefined;
}

/** What a way carries that several connections have filled of late, in bits per second; `undefined` where none have. */
export function fullBpsOf(
  { value: { full }, timeMs }: Fact<OriginFigures>,
  nowMs: number,
): number | undefined {
  return full && full.ageMs + nowMs - timeMs <= HINDERED_MS ? full.value : undefined;
}

/**
 * The most that the connections of one download may expect together, by what each of fewer or as many was
 * given of late, in bits per second: it gets no more for being one of more. `undefined` where nobody has seen
 * several that nothing but the origin or the network held back.
 */
export function roomForSeveralBps(
  { value: { ofSeveral }, timeMs }: Fact<OriginFigures>,
  nowMs: number,
): number | undefined {
  if (!ofSeveral || ofSeveral.ageMs + nowMs - timeMs > HINDERED_MS) return undefined;
  return ROOM_FOR_SEVERAL * MAX_LANES * ofSeveral.value;
}

/**
 * What each of several connections was given at the same time, in bits per second, which nothing but the origin
 * or the network held back; `undefined` where nobody has seen that, or it was long ago.
 */
export function eachOfSeveralBps(
  { value: { ofSeveral }, timeMs }: Fact<OriginFigures>,
  nowMs: number,
): number | undefined {
  if (!ofSeveral || ofSeveral.ageMs + nowMs - timeMs > END_LIVES.goodputMs) return undefined;
  return ofSeveral.value;
}

/** What so many losses leave to one connection of CUBIC, bits per second. */
function cubicBpsOf(loss: LossEvidence, rttMs: number): number {
  const window = CONGESTION_CONTROLS.cubic.response.segments(lossRateOf(loss), rttMs / 1000);
  return (window * SEGMENT_BYTES * 8 * 1000) / rttMs;
}

function majority(votes: readonly (boolean | undefined)[]): boolean | undefined {
  const sum = votes.reduce((total, vote) => total + (vote === undefined ? 0 : vote ? 1 : -1), 0);
  return sum === 0 ? undefined : sum > 0;
}
