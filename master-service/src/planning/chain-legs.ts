import {
  type Chain,
  type CongestionControl,
  chainSeconds,
  type LegEstimate,
  legGoodput,
  type Prediction,
  type SetUp,
  setUpSeconds,
} from '@longhaul/shared';
import { CLIENT, ORIGIN } from '../config.ts';
import type { LinkEstimate } from './link-table.ts';

/** The congestion control that origins and depots send with. */
export interface Senders {
  readonly origin: CongestionControl;
  readonly depot: CongestionControl;
}

/** Gives the leg between two neighbours of a chain; the one nearer to the origin sends. */
export type LegBetween = (nearClient: string, nearOrigin: string) => LegEstimate | undefined;

/** Makes a leg of a link: the sender is the end nearer to the origin; a measured goodput overrides the models. */
export function legOf(link: LinkEstimate, nearOrigin: string, senders: Senders): LegEstimate {
  const { rttMs, lossRate, rateBps, windowBytes, goodputBps } = link;
  const sender = nearOrigin === ORIGIN ? senders.origin : senders.depot;
  if (goodputBps === undefined) return { rttMs, lossRate, rateBps, windowBytes, sender };
  // A measured goodput contains what loss and windows did to it; the models must not count them a second time.
  const filledBytes = Math.ceil((goodputBps * rttMs) / 8000);
  return {
    rttMs,
    lossRate: 0,
    rateBps: goodputBps,
    windowBytes: Math.max(windowBytes, filledBytes),
    sender,
  };
}

/** The ends of a chain's legs, from the client on: client-D1, D1-D2, ..., Dk-origin. */
export function legEnds(chain: Chain): readonly (readonly [string, string])[] {
  const stops = [CLIENT, ...chain, ORIGIN];
  return stops.slice(1).map((stop, index) => [stops[index] ?? CLIENT, stop] as const);
}

/** All legs of a chain, from the client on; `undefined` when one of them is unknown. */
export function chainLegs(chain: Chain, legBetween: LegBetween): LegEstimate[] | undefined {
  const legs = legEnds(chain).map(([nearClient, nearOrigin]) => legBetween(nearClient, nearOrigin));
  return legs.every((leg) => leg !== undefined) ? legs : undefined;
}

/** What is predicted for a chain (or for `direct`, the chain of length 0), leg by leg. */
export function predict(
  chain: Chain,
  legs: readonly LegEstimate[],
  sizeBytes: number,
  setUp: SetUp,
): Prediction {
  const goodputs = legs.map((leg) => legGoodput(leg));
  return {
    seconds: chainSeconds(legs, sizeBytes, setUp),
    goodputBps: Math.min(...goodputs.map((goodput) => goodput.goodputBps)),
    setUpSeconds: setUpSeconds(
      legs.map((leg) => leg.rttMs),
      setUp,
    ),
    legs: legEnds(chain).map(([nearClient, nearOrigin], index) => ({
      from: nearOrigin,
      to: nearClient,
      rttMs: legs[index]?.rttMs ?? 0,
      goodputBps: goodputs[index]?.goodputBps ?? 0,
      limit: goodputs[index]?.limit ?? 'rate',
    })),
  };
}
