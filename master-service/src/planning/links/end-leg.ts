import type { CongestionControl, FigureSource } from '@longhaul/shared';
import type { LegDistribution } from '../../estimates/leg-figures.ts';
import type { RttBounds } from './agreed-bounds.ts';
import type { LegDoubt } from './leg-scenarios.ts';
import type { LinkEstimate } from './link-view.ts';

/** A depot counts as beside an end up to here: so small is the detour over it to anywhere. */
export const BESIDE_MS = 30;
/** From a depot to the clients or origins of its own site. */
const OWN_SITE = { rttMs: 5, spread: 0.7 } as const;

/**
 * A depot sends by BBR, which fills the queue on its way when it starts and when it tries for more: a part of
 * what it loses is its own doing, which a sender that holds back would not lose. The share of the logarithm,
 * between hardly any loss and all that it saw, that is taken for the way's.
 */
const OF_THE_WAY = { leastLoss: 5e-6, share: 0.6, spread: 1.2 } as const;

/** What is known of one depot's leg to an end. */
export interface EndLeg {
  readonly link: LinkEstimate;
  readonly doubt: LegDoubt;
  /** Between what the round trip must lie; left out where it is another end's, or everybody's. */
  readonly bounds?: RttBounds;
}

/** By depot. */
export type EndLegs = Map<string, EndLeg>;

/** The other depots that links of one lead to, with their round trips, for what triangles tell. */
export type Around = (depot: string) => Iterable<readonly [id: string, rttMs: number]>;

/** Whether somebody has measured a leg: it is neither typed in nor worked out. */
export function isMeasured({ link: { source, ageMs } }: EndLeg): boolean {
  return source === undefined && ageMs !== undefined;
}

/** What a leg carries, as far as it is known. */
interface Carried {
  readonly rateBps: number;
  readonly windowBytes: number;
  readonly likelyWindowBytes?: number;
  readonly goodputBps: number | undefined;
  readonly rateSource: FigureSource;
  readonly rateSpread: number;
  readonly lineBps?: number | undefined;
  readonly queueMs?: number;
  readonly sender?: CongestionControl | undefined;
}

/** The leg that these figures are of: of this end, or of others that stand for it. */
export function endLeg({ rttMs, lossRate }: LegDistribution, isOfThisEnd: boolean, carried: Carried): EndLeg {
  const { rateBps, windowBytes, likelyWindowBytes = windowBytes, goodputBps, rateSource } = carried;
  const { rateSpread, lineBps = 0, queueMs = 0, sender } = carried;
  const link = {
    rttMs: rttMs.value,
    lossRate: lossRate.value,
    rateBps,
    windowBytes,
    ...(likelyWindowBytes < windowBytes ? { likelyWindowBytes } : {}),
    goodputBps,
    ageMs: rttMs.ageMs,
    ...(isOfThisEnd ? {} : ({ source: rttMs.source === 'derived' ? 'derived' : 'assumed' } as const)),
    rateSource,
    ...(lineBps > rateBps ? { lineBps } : {}),
    ...(queueMs > 0 ? { queueMs } : {}),
    ...(sender ? { sender } : {}),
  };
  const doubt = { rtt: rttMs.spread, loss: lossRate.spread, rate: rateSpread };
  if (rttMs.source === 'assumed') return { link, doubt };
  const apart = isOfThisEnd ? 1 : Math.exp(rttMs.spread);
  return { link, doubt, bounds: { leastMs: rttMs.value / apart, mostMs: rttMs.value * apart } };
}

/** A round trip that is measured, and all else as it is typed in. */
export function withTyped(leg: EndLeg, typed: LinkEstimate | undefined): EndLeg {
  if (!typed) return leg;
  const { rttMs, ageMs } = leg.link;
  return { ...leg, link: { ...typed, rttMs, ageMs }, doubt: { rtt: leg.doubt.rtt, loss: 0, rate: 0 } };
}

/** What a depot saw, less what of its losses is its own doing. */
export function withoutOwnLosses(known: LegDistribution): LegDistribution {
  const { lossRate } = known;
  const { leastLoss, share, spread } = OF_THE_WAY;
  if (lossRate.value <= leastLoss) return known;
  const value = leastLoss * (lossRate.value / leastLoss) ** share;
  return { ...known, lossRate: { ...lossRate, value, spread: Math.max(spread, lossRate.spread) } };
}

/** A leg from a site to its own clients or origins. */
export function atSite({ link, doubt }: EndLeg): EndLeg {
  const { rttMs, spread } = OWN_SITE;
  const bounds = { leastMs: rttMs / Math.exp(spread), mostMs: rttMs * Math.exp(spread) };
  return { link: { ...link, rttMs, source: 'derived' }, doubt: { ...doubt, rtt: spread }, bounds };
}
