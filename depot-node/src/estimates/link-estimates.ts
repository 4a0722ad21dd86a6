import { type LinkReport, MAX_RTT_MS } from '@longhaul/shared';
import { LEAST_PART, QUEUED_TIMES } from './filled-way.ts';
import type { LegDelta } from './leg-meter.ts';

/** Fewer bytes say nothing of a loss below one in a thousand packets. */
const MIN_LOSS_BYTES = 10_000_000;
/** Neighbours remembered; an overlay is smaller. */
const MAX_NEIGHBOURS = 1000;
/**
 * Looks at legs to one neighbour that are kept between two looks at all; with more, what they showed so far
 * is worked out before.
 */
const MOST_DELTAS = 1000;
interface Estimate {
  /** Of the legs since the last report. */
  minRttMs: number | undefined;
  goodputBps: number | undefined;
  leastGoodputBps: number | undefined;
  /** Of those to a depot, what they got through together, and what while they filled the link. */
  totalBps: number;
  fullBps: number;
  /** Evidence of loss; half of it outlives each report. */
  sentBytes: number;
  retransmittedBytes: number;
  /** Of these, what the last report has told. */
  told: { readonly sentBytes: number; readonly retransmittedBytes: number };
}

interface NotedDelta {
  readonly client: string | undefined;
  readonly delta: LegDelta;
}

/** What one leg carried for a while. */
interface RateOfLeg {
  readonly fromMs: number;
  readonly toMs: number;
  readonly rateBps: number;
  /** It may be more. */
  readonly isLeast: boolean;
}

/** The most that legs carried at once: those that were there one after the other share nothing. */
function togetherBps(rates: readonly Omit<RateOfLeg, 'isLeast'>[]): number {
  const changes = rates.flatMap(({ fromMs, toMs, rateBps }) => [
    { atMs: fromMs, byBps: rateBps },
    { atMs: toMs, byBps: -rateBps },
  ]);
  // What ends makes room before the next one begins.
  changes.sort((one, other) => one.atMs - other.atMs || one.byBps - other.byBps);
  let nowBps = 0;
  return changes.reduce((mostBps, { byBps }) => {
    nowBps += byBps;
    return Math.max(mostBps, nowBps);
  }, 0);
}

/**
 * What the legs to and from each neighbour depot, or each client network, say of the way between. Legs to a
 * depot that run at the same time share a link with others': the best of them is the nearest to what one
 * alone would get, and where they fill it that is more; what they got through together is what the link
 * carries at least, and all that it carries where they fill it. Those to one client share its line: together
 * they show what it carries. The clients of a network have each their own: it is known by the fastest one.
 */
export class LinkEstimates {
  readonly #byDepot = new Map<string, Estimate>();
  readonly #ends: 'depots' | 'client-networks';
  /** What legs to one neighbour did since the last look at all of them. */
  readonly #deltas = new Map<Estimate, NotedDelta[]>();

  constructor(ends: 'depots' | 'client-networks') {
    this.#ends = ends;
  }

  /**
   * Takes in what a leg that leads to `depot` did since it was last noted; of a client network, by the
   * address of the client.
   */
  note(depot: string, delta: LegDelta, client?: string): void {
    const known = this.#byDepot.get(depot) ?? this.#add(depot);
    const { minRttMs } = delta;
    if (minRttMs !== undefined) known.minRttMs = Math.min(minRttMs, known.minRttMs ?? minRttMs);
    if (!delta.isOvershot) {
      known.sentBytes += delta.sentBytes;
      known.retransmittedBytes += delta.retransmittedBytes;
    }
    const deltas = this.#deltas.get(known) ?? [];
    deltas.push({ client, delta });
    this.#deltas.set(known, deltas);
    if (deltas.length === MOST_DELTAS) this.endLook();
  }

  /** Ends a look at all legs. */
  endLook(): void {
    for (const [known, deltas] of this.#deltas) {
      if (this.#ends === 'depots')
        takeDownLink(
          known,
          deltas.map(({ delta }) => delta),
        );
      else takeDownLines(known, deltas);
    }
    this.#deltas.clear();
  }

  /** The links measured since the last call. */
  take(): LinkReport[] {
    this.endLook();
    const reports: LinkReport[] = [];
    for (const [depot, estimate] of this.#byDepot) {
      const { minRttMs, goodputBps, leastGoodputBps, totalBps, fullBps, sentBytes, retransmittedBytes } =
        estimate;
      if (minRttMs === undefined || minRttMs > MAX_RTT_MS) continue;
      const isLossKnown = sentBytes >= MIN_LOSS_BYTES;
      const { told } = estimate;
      const newBytes = Math.round(sentBytes - told.sentBytes);
      const newlyLostBytes = Math.round(retransmittedBytes - told.retransmittedBytes);
      reports.push({
        to: depot,
        rttMs: minRttMs,
        ...(isLossKnown ? { lossRate: Math.min(1, retransmittedBytes / sentBytes) } : {}),
        ...(newBytes > 0 ? { sentBytes: newBytes, retransmittedBytes: Math.max(0, newlyLostBytes) } : {}),
        ...(goodputBps === undefined ? {} : { goodputBps }),
        ...(leastGoodputBps === undefined ? {} : { leastGoodputBps }),
        ...(totalBps > Math.max(goodputBps ?? 0, leastGoodputBps ?? 0) ? { totalBps } : {}),
        // What carried more a moment before, or after, was not full, or is no more what it was.
        ...(fullBps > 0 && fullBps >= (1 - LEAST_PART) * totalBps ? { fullBps } : {}),
      });
      estimate.minRttMs = undefined;
      estimate.goodputBps = undefined;
      estimate.leastGoodputBps = undefined;
      estimate.totalBps = 0;
      estimate.fullBps = 0;
      if (isLossKnown) {
        estimate.sentBytes /= 2;
        estimate.retransmittedBytes /= 2;
      }
      estimate.told = { sentBytes: estimate.sentBytes, retransmittedBytes: estimate.retransmittedBytes };
    }
    return reports;
  }

  #add(depot: string): Estimate {
    const estimate = {
      minRttMs: undefined,
      goodputBps: undefined,
      leastGoodputBps: undefined,
      totalBps: 0,
      fullBps: 0,
      sentBytes: 0,
      retransmittedBytes: 0,
      told: { sentBytes: 0, retransmittedBytes: 0 },
    };
    const oldest = this.#byDepot.size >= MAX_NEIGHBOURS ? this.#byDepot.keys().next().value : undefined;
    if (oldest !== undefined) this.#byDepot.delete(oldest);
    this.#byDepot.set(depot, estimate);
    return estimate;
  }
}

/** What a leg brought by what the network let it; nothing of one that rests. */
function rateOf({ fromMs, toMs, recentRateBps, leastRateBps }: LegDelta): RateOfLeg | undefined {
  const rateBps = recentRateBps ?? leastRateBps;
  return rateBps === undefined ? undefined : { fromMs, toMs, rateBps, isLeast: recentRateBps === undefined };
}

function takeDownLines(known: Estimate, deltas: readonly NotedDelta[]): void {
  const byClient = Map.groupBy(deltas, ({ client }) => client);
  for (const ofOne of byClient.values()) {
    const rates = ofOne.flatMap(({ delta }) => rateOf(delta) ?? []);
    if (rates.length > 0)
      takeDown(
        known,
        togetherBps(rates),
        rates.every(({ isLeast }) => isLeast),
      );
  }
}

function takeDownLink(known: Estimate, deltas: readonly LegDelta[]): void {
  // Of hundreds most rest.
  const carrying = deltas.filter(({ deliveredBps = 0 }) => deliveredBps > 0);
  // One that has begun in a full queue knows no shorter round trip by itself.
  const { minRttMs = Number.POSITIVE_INFINITY } = known;
  const isQueued = ({ rttMs = 0 }: LegDelta) => rttMs > QUEUED_TIMES * minRttMs;
  const isShared = (delta: LegDelta) =>
    isQueued(delta) && carrying.some((other) => other !== delta && sharesWith(delta, other));
  for (const delta of deltas) {
    const rate = rateOf(delta);
    if (rate) takeDown(known, rate.rateBps, rate.isLeast || isShared(delta));
  }
  const totalBps = deliveredTogetherBps(carrying);
  known.totalBps = Math.max(known.totalBps, totalBps);
  // What waits for its receiver, or for something to send, says nothing of the link, and leaves room on it.
  const filling = carrying.filter((delta) => delta.isHeldByNetwork && isQueued(delta));
  const isFull = filling.some(isShared) && deliveredTogetherBps(filling) >= (1 - LEAST_PART) * totalBps;
  if (isFull) known.fullBps = Math.max(known.fullBps, totalBps);
}

function deliveredTogetherBps(legs: readonly LegDelta[]): number {
  return togetherBps(
    legs.map(({ fromMs, toMs, deliveredBps = 0 }) => ({ fromMs, toMs, rateBps: deliveredBps })),
  );
}

/** Whether another leg was there at the same time, and took a part worth naming. */
function sharesWith(delta: LegDelta, other: LegDelta): boolean {
  const isBeside = other.fromMs < delta.toMs && other.toMs > delta.fromMs;
  return isBeside && (other.deliveredBps ?? 0) > LEAST_PART * (delta.deliveredBps ?? 0);
}

function takeDown(known: Estimate, rateBps: number, isLeast: boolean): void {
  const figure = isLeast ? 'leastGoodputBps' : 'goodputBps';
  known[figure] = Math.max(rateBps, known[figure] ?? 0);
}
