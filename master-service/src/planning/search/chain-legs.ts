import {
  type Chain,
  type ChainPromise,
  CLIENT,
  CONGESTION_CONTROLS,
  type CongestionControl,
  chainSeconds,
  isHeldBackByLoss,
  type LegEstimate,
  type LegKnowledge,
  leastSure,
  legGoodput,
  ORIGIN,
  type Prediction,
  SEGMENT_BYTES,
  type SetUp,
  setUpSeconds,
  USUAL_CONGESTION_CONTROL,
} from '@longhaul/shared';
import { knownAs } from '../links/leg-knowledge.ts';
import type { LinkEstimate } from '../links/link-view.ts';

/** The congestion control that origins and depots send with. */
export interface Senders {
  readonly origin: CongestionControl;
  readonly depot: CongestionControl;
}

/** Gives the leg between two neighbours of a chain; the one nearer to the origin sends. */
export type LegBetween = (nearClient: string, nearOrigin: string) => LegEstimate | undefined;

/** A connection that was measured at this share of a link's capacity fills it: estimates are no better. */
const FILLING_SHARE = 0.8;

/**
 * Makes a leg of a link: the sender is the end nearer to the origin; a measured goodput overrides the models. It is one
 * connection's: lanes that share a link are each measured at a part of what it carries.
 */
export function legOf(link: LinkEstimate, nearOrigin: string, senders: Senders): LegEstimate {
  const { lossRate, rateBps, goodputBps, queueMs = 0 } = link;
  const windowBytes = link.likelyWindowBytes ?? link.windowBytes;
  const rttMs = link.rttMs + queueMs;
  const sender = nearOrigin === ORIGIN ? (link.sender ?? senders.origin) : senders.depot;
  const leg = { rttMs, lossRate, rateBps, windowBytes, sender };
  if (goodputBps === undefined) return leg;
  const fillsLink = goodputBps >= FILLING_SHARE * rateBps;
  return { ...leg, rateBps: fillsLink ? goodputBps : rateBps, connectionBps: goodputBps };
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

interface PredictionInit {
  /** Empty for direct. */
  readonly chain: Chain;
  readonly legs: readonly LegEstimate[];
  /** How the figures of each leg are known. */
  readonly knowledge: readonly LegKnowledge[];
  readonly sizeBytes: number;
  readonly setUp: SetUp;
  readonly lanes?: number;
  /** How many times as long downloads of the pair of ends take as the model says. */
  readonly calibration?: number | undefined;
}

/** What is predicted for a chain (or for `direct`, the chain of length 0), leg by leg, and how it is known. */
export function predict(init: PredictionInit): Prediction {
  const { chain, legs, knowledge, sizeBytes, setUp, lanes = 1, calibration = 1 } = init;
  const goodputs = legs.map((leg, index) => legGoodput(leg, index === 0 ? 1 : lanes));
  return {
    seconds: calibration * chainSeconds(legs, sizeBytes, setUp, lanes),
    ...(calibration === 1 ? {} : { calibration }),
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
      ...(knowledge[index] ?? knownAs('assumed')),
    })),
    source: leastSure(knowledge.flatMap(({ rttSource, goodputSource }) => [rttSource, goodputSource])),
  };
}

/**
 * Which leg limits the lanes of a chain: of those behind the entry depot, over which each lane has a connection of its
 * own, the one whose connection carries least. The only leg where there is no other.
 */
export function limitingLeg(legs: readonly LegEstimate[]): number {
  const goodputs = legs.map((leg, index) =>
    index === 0 && legs.length > 1 ? Number.POSITIVE_INFINITY : legGoodput(leg).goodputBps,
  );
  return goodputs.indexOf(Math.min(...goodputs));
}

/** What the ticket tells the entry depot of a chain. */
export function promiseOf(legs: readonly LegEstimate[], lanes: number): ChainPromise {
  const worst = legs[limitingLeg(legs)];
  const goodputs = legs.map((leg, index) => legGoodput(leg, index === 0 ? 1 : lanes).goodputBps);
  return {
    rateBps: Math.min(...goodputs),
    worstRttMs: worst?.rttMs ?? 0,
    worstLossRate: worst ? promisedLossRate(worst) : 0,
  };
}

/** What tells the entry depot how much one connection of a leg carries: with 0 it begins with one alone. */
function promisedLossRate(leg: LegEstimate): number {
  const { connectionBps, rateBps } = leg;
  const { response } = CONGESTION_CONTROLS[USUAL_CONGESTION_CONTROL];
  if (connectionBps === undefined) return isHeldBackByLoss(leg) ? leg.lossRate : 0;
  if (connectionBps >= rateBps || response.holds === 'rate') return 0;
  // A promise has whole milliseconds.
  const rttSeconds = Math.max(1, Math.round(leg.rttMs)) / 1000;
  return response.lossRate((connectionBps * rttSeconds) / (8 * SEGMENT_BYTES), rttSeconds);
}
