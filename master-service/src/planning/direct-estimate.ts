import { type LegEstimate, type LegKnowledge, type LegShape, legShape } from '@longhaul/shared';
import { CLIENT, ORIGIN, type PlannerConfig } from '../config.ts';
import { legOf, type Senders } from './chain-legs.ts';
import { knowledgeOf, knownAs } from './leg-knowledge.ts';
import { type LegDoubt, NO_DOUBT, SCENARIOS, scenarioOf } from './leg-scenarios.ts';
import type { LinkEstimate, LinkView, PairKnowledge } from './link-view.ts';
import { OverlayLeg } from './overlay-leg.ts';

export interface DirectEstimate {
  readonly leg: LegEstimate;
  /**
   * Where it comes from: the client-origin link, the best chain's links, these and what depots measured of both ends, or nothing but
   * assumptions.
   */
  readonly source: 'link' | 'chain' | 'ends' | 'assumed';
  readonly knowledge: LegKnowledge;
  readonly part: Pick<OverlayLeg, 'shape' | 'scenarios'>;
}

/** Where a depot lies beside the way nobody knows: all directions are as likely. Deviation of the logarithm for bounds e apart. */
const SPREAD_OF_BOUNDS = 0.3;

/**
 * What is known of the direct way. Without a link of its own it is put together from the legs of a depot that lies beside one of its ends, else from
 * the best chain's parts (from the client on). Its round trip lies
 * between the bounds of the triangles with both ends, or, where one end is hardly known, is that of a walk whose turns nobody knows; of
 * configured links it is their sum. It has the losses of all of them, by its length, the narrowest rate and the client's own window.
 */
export function estimateDirect(
  view: LinkView,
  chain: readonly OverlayLeg[],
  assumptions: PlannerConfig['assumptions'],
  senders: Senders,
  nowMs: number,
): DirectEstimate {
  const link = view.estimate(CLIENT, ORIGIN, nowMs);
  const parts = view.pair?.via === undefined ? chain : partsOver(view.pair.via, view, senders, nowMs);
  const [clientPart] = parts;
  if (link) {
    const doubt = () => view.doubt?.(CLIENT, ORIGIN, nowMs) ?? NO_DOUBT;
    const part = new OverlayLeg(link, [CLIENT, ORIGIN], senders, doubt);
    return { leg: legOf(link, ORIGIN, senders), source: 'link', knowledge: knowledgeOf(link), part };
  }
  if (!clientPart) {
    const { rttMs, lossRate, rateBps, windowBytes } = assumptions;
    const assumed: LinkEstimate = { rttMs, lossRate, rateBps, windowBytes, goodputBps: undefined, ageMs: 0 };
    const part = new OverlayLeg(assumed, [CLIENT, ORIGIN], senders);
    return { leg: part.leg, source: 'assumed', knowledge: knownAs('assumed'), part };
  }
  const { pair } = view;
  const sender = pair?.sender ?? senders.origin;
  const isByEnds =
    pair !== undefined && [clientPart, parts.at(-1)].some((part) => part && isOfThisEnd(part.link));
  const derive = (legs: readonly LegEstimate[]) => ({
    ...derivedLeg(legs, isByEnds ? pair : undefined),
    windowBytes: clientPart.link.windowBytes,
    sender,
  });
  const leg = derive(parts.map((part) => part.leg));
  const part = new DerivedPart(leg, parts, derive, isByEnds ? pair : undefined);
  return { leg, source: isByEnds ? 'ends' : 'chain', knowledge: knownAs('derived'), part };
}

/** The two legs over one depot. */
function partsOver(depot: string, view: LinkView, senders: Senders, nowMs: number): OverlayLeg[] {
  const ends = [
    [CLIENT, depot],
    [depot, ORIGIN],
  ] as const;
  return ends.flatMap(([one, other]) => {
    const link = view.estimate(one, other, nowMs);
    const doubt = () => view.doubt?.(one, other, nowMs) ?? NO_DOUBT;
    return link ? [new OverlayLeg(link, [one, other], senders, doubt)] : [];
  });
}

/** Whether a link is known of this download's end, not of everybody's. */
function isOfThisEnd({ ageMs, source }: LinkEstimate): boolean {
  return source !== undefined || ageMs !== undefined;
}

function derivedLeg(legs: readonly LegEstimate[], pair: PairKnowledge | undefined) {
  const sumMs = legs.reduce((sum, { rttMs }) => sum + rttMs, 0);
  const rttMs = pair ? pairRtt(legs, pair) : sumMs;
  const lossRate = 1 - legs.reduce((passed, leg) => passed * (1 - leg.lossRate), 1);
  const rateBps = Math.min(...legs.map((leg) => leg.rateBps), pair?.heldBps ?? Number.POSITIVE_INFINITY);
  return { rttMs, lossRate: lossRate * Math.min(1, rttMs / sumMs), rateBps };
}

function pairRtt(legs: readonly LegEstimate[], { rttBounds }: PairKnowledge): number {
  const squares = rttBounds
    ? (rttBounds.leastMs ** 2 + rttBounds.mostMs ** 2) / 2
    : legs.reduce((sum, { rttMs }) => sum + rttMs ** 2, 0);
  return Math.sqrt(squares);
}

/** The direct way as it is in each of the scenarios of the chain that it is derived from. */
class DerivedPart {
  readonly #leg: LegEstimate;
  readonly #scenarios: readonly LegEstimate[];

  constructor(
    leg: LegEstimate,
    chain: readonly OverlayLeg[],
    derive: (legs: readonly LegEstimate[]) => LegEstimate,
    pair: PairKnowledge | undefined,
  ) {
    this.#leg = leg;
    const parts = chain.map((part) => ({ leg: part.leg, scenarios: part.scenarioLegs() }));
    const doubt = doubtOf(pair);
    this.#scenarios = SCENARIOS.map((scenario) => {
      const legs = parts.map((part) => part.scenarios?.[scenario] ?? part.leg);
      return scenarioOf(derive(legs), doubt, `${CLIENT} ${ORIGIN}`, scenario);
    });
  }

  shape(lanes: number): LegShape {
    return legShape(this.#leg, lanes);
  }

  scenarios(lanes: number): readonly LegShape[] {
    return this.#scenarios.map((leg) => legShape(leg, lanes));
  }
}

function doubtOf(pair: PairKnowledge | undefined): LegDoubt {
  const { leastMs, mostMs } = pair?.rttBounds ?? { leastMs: 1, mostMs: 1 };
  return {
    ...NO_DOUBT,
    rtt: SPREAD_OF_BOUNDS * Math.min(1, Math.log(mostMs / Math.max(leastMs, mostMs / 20))),
  };
}
