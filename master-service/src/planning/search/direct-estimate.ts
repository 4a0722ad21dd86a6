import {
  CLIENT,
  type LegEstimate,
  type LegKnowledge,
  type LegShape,
  legShape,
  ORIGIN,
} from '@longhaul/shared';
import type { PlannerConfig } from '../../config.ts';
import { knowledgeOf, knownAs } from '../links/leg-knowledge.ts';
import { NO_DOUBT, SCENARIOS } from '../links/leg-scenarios.ts';
import type { LinkEstimate, LinkView, PairKnowledge } from '../links/link-view.ts';
import { legOf, type Senders } from './chain-legs.ts';
import { OverlayLeg } from './overlay-leg.ts';

export interface DirectEstimate {
  readonly leg: LegEstimate;
  /**
   * Where it comes from: the client-origin link, the best chain's links, these and what depots measured of
   * both ends, or nothing but assumptions.
   */
  readonly source: 'link' | 'chain' | 'ends' | 'assumed';
  readonly knowledge: LegKnowledge;
  readonly part: Pick<OverlayLeg, 'shape' | 'scenarios' | 'isInDoubt'>;
}

/**
 * Where a depot lies beside the way nobody knows. All directions are as likely, so that R^2 lies at (1 -
 * cos(pi q)) / 2 of the way from the square of the least round trip to that of the most, for the quantile q:
 * in the middle ...
 */
const MIDDLE_TURN = 0.5;
/** ... at the lower quarter, which a chain is held against that nobody has tried ... */
const LOWER_TURN = 0.146;
/**
 * ... and at the middles of eight parts, one for each scenario, in an order that has nothing to do with those
 * of other figures.
 */
const SCENARIO_TURNS: readonly number[] = [3, 6, 1, 4, 7, 0, 5, 2].map(
  (part) => (1 - Math.cos((Math.PI * (part + 0.5)) / 8)) / 2,
);
/**
 * Windows that do not grow, of a client or of an origin, are not rare, and hardly a depot sees them: over its
 * short legs they hold nothing back. In one of the scenarios the direct way has such a window, of the usual
 * size of buffers that are set by hand, unless both ends were seen to have a larger one.
 */
const SMALL_WINDOW = { scenario: 3, bytes: 262_144 } as const;

/**
 * What an origin that gives way to losses gets of what a depot on BBR does, where others fill the client's
 * line: it begins in a full queue, and heals at the speed of the whole round trip. In the lab 0.34 to 0.54
 * with two long flows beside it, 0.18 to 0.48 with six.
 */
const SHARE_OF_FILLED = 0.4;

/**
 * What is known of the direct way. Without a link of its own it is put together from the legs of a depot that
 * lies beside one of its ends, else from the best chain's parts (from the client on). Its round trip lies
 * between the bounds of the triangles with both ends, or, where one end is hardly known, is that of a walk
 * whose turns nobody knows; of configured links it is their sum. It has the losses of all of them, by its
 * length, the narrowest rate and the client's own window.
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
  const { link: near } = clientPart;
  const { lineBps, rateBps, queueMs = 0, windowBytes, likelyWindowBytes = windowBytes } = near;
  // What a depot cannot send the origin may.
  const wider = lineBps === undefined ? 1 : lineBps / rateBps;
  const withoutQueue = queueMs > 0 ? near.rttMs / (near.rttMs + queueMs) : 1;
  const ofOrigin = timesGiven(parts.at(-1)?.link, pair);
  const isOfLine = near.rateSource === 'measured' && lineBps === undefined;
  const givesWay = senders.depot === 'bbr' && sender !== 'bbr';
  const leftBps =
    pair?.isLineFilled && isOfLine && givesWay ? SHARE_OF_FILLED * rateBps : Number.POSITIVE_INFINITY;
  const ofEnds = (leg: LegEstimate, place: number) => {
    if (place === 0) return { ...leg, rateBps: wider * leg.rateBps, rttMs: withoutQueue * leg.rttMs };
    return place === parts.length - 1 ? { ...leg, rateBps: ofOrigin * leg.rateBps } : leg;
  };
  const derive = (legs: readonly LegEstimate[], turn: number) => {
    const known = { ...derivedLeg(legs.map(ofEnds), isByEnds ? pair : undefined, turn), sender };
    // Its last part and its receiver are the same, and so are what fills the one and the window of the other.
    // Both may be others' of the network, so that a chain is held against a way without them, too.
    if (turn === LOWER_TURN) return { ...known, windowBytes };
    const filled = { rttMs: known.rttMs + queueMs, rateBps: Math.min(known.rateBps, leftBps) };
    return { ...known, ...filled, windowBytes: likelyWindowBytes };
  };
  const smallBytes = Math.max(SMALL_WINDOW.bytes, pair?.shownWindowBytes ?? 0);
  const part = new DerivedPart(parts, derive, smallBytes);
  const leg = derive(
    parts.map((one) => one.leg),
    MIDDLE_TURN,
  );
  return { leg, source: isByEnds ? 'ends' : 'chain', knowledge: knownAs('derived'), part };
}

/** How many times as much as is assumed of a leg that nobody has measured its origin was seen to give to others. */
function timesGiven(link: LinkEstimate | undefined, pair: PairKnowledge | undefined): number {
  const isAssumed = link?.rateSource === 'assumed' || link?.rateSource === 'derived';
  return isAssumed && link ? Math.max(1, (pair?.givenBps ?? 0) / link.rateBps) : 1;
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

function derivedLeg(legs: readonly LegEstimate[], pair: PairKnowledge | undefined, turn: number) {
  const sumMs = legs.reduce((sum, { rttMs }) => sum + rttMs, 0);
  const rttMs = pair ? pairRtt(legs, pair, turn) : sumMs;
  const lossRate = 1 - legs.reduce((passed, leg) => passed * (1 - leg.lossRate), 1);
  const rateBps = Math.min(...legs.map((leg) => leg.rateBps), pair?.heldBps ?? Number.POSITIVE_INFINITY);
  // What goes to a server nearby is lost at its ends.
  const isByLength = sumMs > 0 && !pair?.isInSeveralPlaces;
  return { rttMs, lossRate: isByLength ? lossRate * Math.min(1, rttMs / sumMs) : lossRate, rateBps };
}

function pairRtt(legs: readonly LegEstimate[], { rttBounds }: PairKnowledge, turn: number): number {
  const squares = rttBounds
    ? rttBounds.leastMs ** 2 * (1 - turn) + rttBounds.mostMs ** 2 * turn
    : legs.reduce((sum, { rttMs }) => sum + rttMs ** 2, 0);
  return Math.sqrt(squares);
}

type Derive = (legs: readonly LegEstimate[], turn: number) => LegEstimate;

/**
 * The direct way as it is in each of the scenarios of the chain that it is derived from; as known, rather
 * short than long.
 */
class DerivedPart {
  readonly isInDoubt = true;
  readonly #leg: LegEstimate;
  readonly #legs: readonly LegEstimate[];
  readonly #shapes: (readonly LegShape[] | undefined)[] = [];

  constructor(chain: readonly OverlayLeg[], derive: Derive, smallWindowBytes: number) {
    const parts = chain.map((part) => ({ leg: part.leg, scenarios: part.scenarioLegs() }));
    this.#leg = derive(
      parts.map(({ leg }) => leg),
      LOWER_TURN,
    );
    this.#legs = SCENARIOS.map((scenario) => {
      const legs = parts.map((part) => part.scenarios?.[scenario] ?? part.leg);
      const leg = derive(legs, SCENARIO_TURNS[scenario] ?? MIDDLE_TURN);
      const isSmall = scenario === SMALL_WINDOW.scenario;
      return isSmall ? { ...leg, windowBytes: Math.min(leg.windowBytes, smallWindowBytes) } : leg;
    });
  }

  shape(lanes: number): LegShape {
    return legShape(this.#leg, lanes);
  }

  scenarios(lanes: number): readonly LegShape[] {
    let shapes = this.#shapes[lanes];
    if (shapes === undefined) {
      shapes = this.#legs.map((leg) => legShape(leg, lanes));
      this.#shapes[lanes] = shapes;
    }
    return shapes;
  }
}
