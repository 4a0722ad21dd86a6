import type { LinkReport } from '@longhaul/shared';
import type { LegDelta } from './leg-meter.ts';

/** Fewer bytes say nothing of a loss below one in a thousand packets. */
const MIN_LOSS_BYTES = 10_000_000;
/** Neighbours remembered; an overlay is smaller. */
const MAX_NEIGHBOURS = 1000;
/** Rates of legs to one client network that are kept between two looks; with more, what they showed so far is worked out before. */
const MOST_RATES = 1000;
/** The largest round trip a master takes for one. */
const MAX_RTT_MS = 60_000;

interface Estimate {
  /** Of the legs since the last report. */
  minRttMs: number | undefined;
  goodputBps: number | undefined;
  leastGoodputBps: number | undefined;
  /** Of those to a depot, what they got through together. */
  totalBps: number;
  /** Evidence of loss; half of it outlives each report. */
  sentBytes: number;
  retransmittedBytes: number;
  /** Of these, what the last report has told. */
  told: { readonly sentBytes: number; readonly retransmittedBytes: number };
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
function togetherBps(rates: readonly RateOfLeg[]): number {
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
 * What the legs to and from each neighbour depot, or each client network, say of the way between. Legs to a depot that run at the same time share a
 * link with others': the best of them is the nearest to what one alone would get, and what they got through together is what the link carries at least.
 * Those to a client network share its line: together they show what it carries.
 */
export class LinkEstimates {
  readonly #byDepot = new Map<string, Estimate>();
  readonly #ends: 'depots' | 'client-networks';
  /** The rates of legs to one client network since the last look at all of them. */
  readonly #rates = new Map<Estimate, RateOfLeg[]>();

  constructor(ends: 'depots' | 'client-networks') {
    this.#ends = ends;
  }

  /** Takes in what a leg that leads to `depot` did since it was last noted. */
  note(depot: string, delta: LegDelta): void {
    const known = this.#byDepot.get(depot) ?? this.#add(depot);
    // One that rests says nothing anew.
    const { fromMs, toMs, recentRateBps: rateBps, leastRateBps, deliveredBps, minRttMs } = delta;
    if (minRttMs !== undefined) known.minRttMs = Math.min(minRttMs, known.minRttMs ?? minRttMs);
    if (rateBps !== undefined) this.#noteRate(known, { fromMs, toMs, rateBps, isLeast: false });
    if (leastRateBps !== undefined)
      this.#noteRate(known, { fromMs, toMs, rateBps: leastRateBps, isLeast: true });
    if (deliveredBps !== undefined && this.#ends === 'depots')
      this.#keepRate(known, { fromMs, toMs, rateBps: deliveredBps, isLeast: true });
    known.sentBytes += delta.sentBytes;
    known.retransmittedBytes += delta.retransmittedBytes;
  }

  /** Ends a look at all legs. */
  endLook(): void {
    for (const [known, rates] of this.#rates) {
      const rateBps = togetherBps(rates);
      if (this.#ends === 'depots') known.totalBps = Math.max(rateBps, known.totalBps);
      else
        takeDown(
          known,
          rateBps,
          rates.every(({ isLeast }) => isLeast),
        );
    }
    this.#rates.clear();
  }

  #noteRate(known: Estimate, rate: RateOfLeg): void {
    if (this.#ends === 'depots') takeDown(known, rate.rateBps, rate.isLeast);
    else this.#keepRate(known, rate);
  }

  #keepRate(known: Estimate, rate: RateOfLeg): void {
    const rates = this.#rates.get(known) ?? [];
    rates.push(rate);
    this.#rates.set(known, rates);
    if (rates.length === MOST_RATES) this.endLook();
  }

  /** The links measured since the last call. */
  take(): LinkReport[] {
    this.endLook();
    const reports: LinkReport[] = [];
    for (const [depot, estimate] of this.#byDepot) {
      const { minRttMs, goodputBps, leastGoodputBps, totalBps, sentBytes, retransmittedBytes } = estimate;
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
      });
      estimate.minRttMs = undefined;
      estimate.goodputBps = undefined;
      estimate.leastGoodputBps = undefined;
      estimate.totalBps = 0;
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

function takeDown(known: Estimate, rateBps: number, isLeast: boolean): void {
  const figure = isLeast ? 'leastGoodputBps' : 'goodputBps';
  known[figure] = Math.max(rateBps, known[figure] ?? 0);
}
