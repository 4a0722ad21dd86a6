import {
  type Chain,
  type ChainPromise,
  type DecisionReason,
  type LegEstimate,
  MAX_CHAIN_DEPOTS,
  ok,
  type Prediction,
  type Result,
  refuse,
} from '@longhaul/shared';
import { CLIENT, ORIGIN, type PlannerConfig } from '../config.ts';
import type { Decision } from '../events.ts';
import { chainLegs, legEnds, legOf, predict, promiseOf, type Senders } from './chain-legs.ts';
import { ChainSearch, type PlanningDepot, type RatedChain } from './chain-search.ts';
import { chooseAlternatives } from './choose-alternatives.ts';
import { AS_GOOD_AS_BEST, chooseLanes, laneChoices } from './choose-lanes.ts';
import { chooseToLearn, type Exploring } from './choose-to-learn.ts';
import { type DirectEstimate, estimateDirect } from './direct-estimate.ts';
import type { EndLinks } from './end-links.ts';
import { expectedSeconds, scenarioSeconds, secondsAsKnown } from './expected-seconds.ts';
import { type HeldWay, heldFirst, leastGain } from './held-ways.ts';
import { knowledgeOf } from './leg-knowledge.ts';
import { NO_DOUBT } from './leg-scenarios.ts';
import type { DownloadEnds, LinkEstimate, LinkView } from './link-view.ts';
import { OverlayGraph } from './overlay-graph.ts';
import { OverlayLeg } from './overlay-leg.ts';
import type { RouteBasis } from './route-basis.ts';
import { explainLanes, explainLeftOut, explainRoute } from './route-reasons.ts';
import { SearchSpace } from './search-space.ts';
import { whyDirect } from './why-direct.ts';

export interface RouteQuery {
  readonly sizeBytes: number;
  /** Nobody knows the size: a chain is taken where it gains over all sizes that a file often has, up to this one. */
  readonly isSizeAssumed?: boolean;
  readonly originTls: boolean;
  /** Whom it is for, and where from; left out, `client` and `origin` stand for everybody's. */
  readonly ends?: DownloadEnds;
  /** Exactly these depots, in the order the bytes pass: origin to client, the opposite of a chain's order. */
  readonly via?: readonly string[];
  readonly avoid?: readonly string[];
  /** No chain is wanted, however fast. */
  readonly isDirectPreferred?: boolean;
  /** What clients of this network got last from this origin. */
  readonly held?: HeldWay;
  /** Said where this download may be used to learn. */
  readonly exploring?: Exploring | undefined;
  /** How often each depot of a chain fails where all that has come is then lost; left out where only a pause is. */
  readonly depotBreaksPerSecond?: number;
  /** Exactly so many lanes where a chain is taken; without it as many as pay, or one with `via`. */
  readonly lanes?: number;
}

/** A running download that its entry depot wants another way for. */
export interface RerouteQuery {
  readonly sizeBytes: number;
  readonly originTls: boolean;
  readonly ends?: DownloadEnds;
  readonly entry: string;
  /** Depots that failed. */
  readonly avoid: readonly string[];
  /** The lanes that the download runs with. */
  readonly lanes: number;
}

/** Chains for one ticket, the best first, and what they promise. */
export interface PromisedChains {
  readonly chains: readonly Chain[];
  readonly promises: readonly ChainPromise[];
}

/** The planner's decision for one download. Chains have their entry depot first. */
export interface Route {
  readonly decision: Decision;
  readonly decisionReason: DecisionReason;
  /** Empty for `direct`. */
  readonly chain: Chain;
  readonly alternatives: readonly Chain[];
  /** Of the chain, then of the alternatives, all with the route's lanes. */
  readonly promises: readonly ChainPromise[];
  /** 1 for `direct`. */
  readonly lanes: number;
  readonly prediction: Prediction;
  readonly direct: Prediction;
  /** The mean over what is unsure; 0 for direct and for chains that were asked for. */
  readonly expectedSeconds: number;
  /** What the prediction was worked out from. */
  readonly basis: RouteBasis;
  /** Sentences for people. */
  readonly reasons: readonly string[];
}

/**
 * Sizes of files of which nobody knows the size, as shares of the assumed one: from a hundred kilobytes to a hundred
 * megabytes. A client that has asked the master has paid for the redirect either way, and then small files gain most.
 */
const USUAL_SHARES: readonly number[] = [1, 0.1, 0.01, 0.001];

/**
 * What a chain must reach of the direct way by what is known alone, where that is worked out from what depots measured of both ends. The direct way is taken
 * to be as short as in one of four cases, and hardly lossy: a chain that reaches so much of that is as fast in the median, and many times faster where it is not so.
 */
const LEAST_GAIN_AS_KNOWN = 0.9;

/** How much faster a chain must be in the mean where nobody has measured one of its legs: only such a download teaches what it is like. */
const LEAST_GAIN_GUESSED = 1.02;

/** Chains that are compared for one download by what is unsure of them: the fastest by the point estimates. */
const MOST_COMPARED = 16;

/** Chooses the chain with the shortest predicted completion time, or `direct` where none clearly wins. */
export class Planner {
  readonly #config: PlannerConfig;
  readonly #links: LinkView;
  readonly #ends: Pick<EndLinks, 'between'> | undefined;
  readonly #senders: Senders;
  readonly #graph: OverlayGraph;

  /** Without `ends`, the links of `client` and `origin` are those of every download. */
  constructor(config: PlannerConfig, links: LinkView, ends?: Pick<EndLinks, 'between'>) {
    const { originSender, depotSender } = config.assumptions;
    this.#config = config;
    this.#links = links;
    this.#ends = ends;
    this.#senders = { origin: originSender, depot: depotSender };
    this.#graph = new OverlayGraph(links, this.#senders);
  }

  /** Plans one download over `depots`; `bad-options` when `via` or `lanes` asks for what cannot be had. */
  plan(query: RouteQuery, depots: readonly PlanningDepot[], nowMs: number): Result<Route> {
    const { maxLanes } = this.#config;
    if (query.lanes !== undefined && query.lanes > maxLanes) {
      return refuse('bad-options', `lanes takes 1 to ${maxLanes}`);
    }
    const usable = depots.filter((depot) => depot.state === 'up' && !query.avoid?.includes(depot.id));
    if (query.via?.length) return this.#planVia(query, query.via, usable, nowMs);
    return ok(this.#decide(query, depots, usable, nowMs));
  }

  /**
   * Chains for a running download, all from its entry depot on and past the depots that failed. `no-other-chain` when there
   * is none but the entry depot alone, which needs no plan.
   */
  reroute(query: RerouteQuery, depots: readonly PlanningDepot[], nowMs: number): Result<PromisedChains> {
    const { entry, avoid, lanes } = query;
    if (avoid.includes(entry)) return refuse('bad-request', 'avoid names the asking depot');
    // The asking depot serves the client already, whatever its state.
    const usable = depots.filter(({ id, state }) => id === entry || (state === 'up' && !avoid.includes(id)));
    const view = this.#viewOf(query, usable, nowMs);
    const clientLink = (id: string) =>
      view.estimate(CLIENT, id, nowMs) ?? (id === entry ? this.#assumedLink() : undefined);
    const search = new ChainSearch(this.#space(query, view, [lanes], usable, nowMs, clientLink));
    const ranked = search.best(2, { entry });
    const [best] = ranked;
    if (!best || ranked.every(({ chain }) => chain.length < 2)) return refuse('no-other-chain');
    const rated = [best, ...this.#alternatives(best, search, false)];
    return ok({
      chains: rated.map(({ chain }) => chain),
      promises: rated.map(({ legs }) => promiseOf(legs, lanes)),
    });
  }

  #decide(
    query: RouteQuery,
    depots: readonly PlanningDepot[],
    usable: readonly PlanningDepot[],
    nowMs: number,
  ): Route {
    const view = this.#viewOf(query, usable, nowMs);
    // Lanes are ranges.
    const asked = view.takesRanges === false ? { ...query, lanes: query.lanes ?? 1 } : query;
    const lanesToTry = laneChoices(this.#config, query.sizeBytes, asked.lanes);
    const searchOver = (over: readonly PlanningDepot[]) =>
      over.length > 0 ? new ChainSearch(this.#space(query, view, lanesToTry, over, nowMs)) : undefined;
    const search = searchOver(usable);
    const fastest = search?.best(MOST_COMPARED) ?? [];
    const expected = (rated: RatedChain) => expectedOf(query, rated);
    const suit = (rated: RatedChain) => (isGuessed(rated) ? withLanes(rated, lanesToTry, expected) : rated);
    const rate = (chain: Chain) =>
      searchOver(usable.filter(({ id }) => chain.includes(id)))
        ?.best(MOST_COMPARED)
        .filter((rated) => rated.chain.join() === chain.join())
        .map(suit)[0];
    const ordered = byExpectedTime(fastest.map(suit), expected);
    const ranked = heldFirst(ordered, query.held, query.sizeBytes, { expected, rate });
    const [best, runnerUp] = ranked;
    const direct = this.#direct(query, view, best?.parts ?? [], nowMs);
    const gainOf = (rated: RatedChain) => this.#gain(asked, rated, direct.part, depots, expectedSeconds);
    const gain = best ? gainOf(best) : 0;
    const { minimumGain } = this.#config;
    const leastOf = (rated: RatedChain) =>
      Math.min(
        leastGain(minimumGain, rated.chain, query.held),
        isGuessed(rated) ? LEAST_GAIN_GUESSED : minimumGain,
      );
    const wins = (rated: RatedChain) =>
      gainOf(rated) >= leastOf(rated) &&
      (direct.source !== 'ends' ||
        this.#gain(asked, rated, direct.part, depots, secondsAsKnown) >= LEAST_GAIN_AS_KNOWN);
    const { isDirectPreferred = false } = query;
    const taken = best && !isDirectPreferred && wins(best) ? best : undefined;
    const directTimes = () =>
      direct.source === 'link' ? scenarioSeconds(directOf(query, direct.part)) : undefined;
    const toLearn = isDirectPreferred
      ? undefined
      : chooseToLearn({
          ranked: ordered,
          chosen: taken,
          chosenTimes: query.exploring && (taken ? scenarioSeconds(ratedOf(query, taken)) : directTimes()),
          times: (rated) => scenarioSeconds(ratedOf(query, rated)),
          exploring: query.exploring,
        });
    const chosen = toLearn ?? taken;
    const wouldWin = (over: readonly PlanningDepot[]): boolean => {
      const [other] = searchOver(over)?.best(1) ?? [];
      return other !== undefined && wins(other);
    };
    const { avoid = [], sizeBytes } = query;
    const config = this.#config;
    const decisionReason = toLearn
      ? 'to-learn'
      : chosen
        ? 'chain-faster'
        : whyDirect({ config, depots, avoid, ranked, directLegs: direct.legs, wouldWin, isDirectPreferred });
    const alternatives = chosen && search ? this.#alternatives(chosen, search, true) : [];
    const lanes = chosen?.lanes ?? 1;
    const predictDirect = () => direct.predict(sizeBytes);
    return {
      decision: chosen ? 'chain' : 'direct',
      decisionReason,
      chain: chosen?.chain ?? [],
      alternatives: alternatives.map(({ chain }) => chain),
      promises: [chosen?.legs ?? direct.legs, ...alternatives.map(({ legs }) => legs)].map((legs) =>
        promiseOf(legs, lanes),
      ),
      lanes,
      basis: {
        legs: chosen?.legs ?? direct.legs,
        setUp: chosen ? setUpOf(query, chosen.chain, depots) : direct.setUp,
        direct: direct.basis,
      },
      expectedSeconds: chosen ? expected(chosen) : 0,
      // Only who asks for reasons waits for them.
      get prediction() {
        if (!chosen) return predictDirect();
        const knowledge = chosen.links.map(knowledgeOf);
        return predict({ ...chosen, knowledge, sizeBytes, setUp: setUpOf(query, chosen.chain, depots) });
      },
      get direct() {
        return predictDirect();
      },
      get reasons() {
        return [
          ...explainRoute({
            isLanesAsked: query.lanes !== undefined,
            best,
            runnerUp,
            decisionReason,
            minimumGain,
            gain,
            isSizeAssumed: query.isSizeAssumed ?? false,
            direct: { seconds: predictDirect().seconds, source: direct.source },
            chainLinks: chosen?.links ?? best?.links ?? [],
            toLearn,
            isHeld: best !== ordered[0],
          }),
          ...explainLeftOut({ depots, avoid, isReached: search?.isReached ?? (() => false) }),
        ];
      },
    };
  }

  /** How many times faster a chain is than direct; of a file of which nobody knows the size, the mean over usual sizes. */
  #gain(
    query: RouteQuery,
    rated: RatedChain,
    direct: DirectEstimate['part'],
    depots: readonly PlanningDepot[],
    secondsOf: typeof expectedSeconds,
  ): number {
    const { sizeBytes, isSizeAssumed, lanes } = query;
    const { chain, legs } = rated;
    const setUp = setUpOf(query, chain, depots);
    const sizes = (isSizeAssumed ? USUAL_SHARES : [1]).map((share) => share * sizeBytes);
    const logs = sizes.map((size) => {
      const choices = laneChoices(this.#config, size, lanes);
      // Of a leg that nobody knows lanes are insurance: fewer may be enough for what is likeliest.
      const suited = isGuessed(rated)
        ? { lanes: Math.min(rated.lanes, Math.max(...choices)) }
        : chooseLanes(legs, size, setUp, choices);
      const sized = { ...query, sizeBytes: size };
      const over = secondsOf(ratedOf(sized, { ...rated, lanes: suited.lanes }));
      return Math.log(secondsOf(directOf(sized, direct)) / over);
    });
    return Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length);
  }

  #planVia(
    query: RouteQuery,
    via: readonly string[],
    usable: readonly PlanningDepot[],
    nowMs: number,
  ): Result<Route> {
    if (via.length > MAX_CHAIN_DEPOTS || new Set(via).size < via.length) {
      return refuse('bad-options', `via takes up to ${MAX_CHAIN_DEPOTS} different depots`);
    }
    const chain = via.toReversed();
    const view = this.#viewOf(query, usable, nowMs);
    const missing = chain.find((id) => !usable.some((depot) => depot.id === id));
    if (missing !== undefined) return refuse('bad-options', `the depot ${missing} is not up`);
    const linkBetween = (one: string, other: string) => view.estimate(one, other, nowMs);
    const assumed = this.#assumedLink();
    const legs = chainLegs(chain, (nearClient, nearOrigin) => {
      return legOf(linkBetween(nearClient, nearOrigin) ?? assumed, nearOrigin, this.#senders);
    });
    if (!legs) throw new Error('a leg has no estimate, although assumptions stand in');
    const setUp = setUpOf(query, chain, usable);
    const { lanes = 1 } = query;
    const links = legEnds(chain).map(([one, other]) => linkBetween(one, other));
    const knowledge = links.map(knowledgeOf);
    const prediction = predict({ chain, legs, knowledge, sizeBytes: query.sizeBytes, setUp, lanes });
    const parts = legEnds(chain).map(
      (ends, index) => new OverlayLeg(links[index] ?? assumed, ends, this.#senders),
    );
    const direct = this.#direct(query, view, parts, nowMs);
    const unknown = legEnds(chain).filter((_, index) => !links[index]);
    const reasons = [
      'The chain was chosen by the client (via).',
      ...explainLanes({ chain, legs, lanes }, query.lanes !== undefined),
      ...unknown.map(
        ([one, other]) => `No estimate of the link ${one} - ${other}: assumptions are used for it.`,
      ),
    ];
    const promises = [promiseOf(legs, lanes)];
    return ok({
      decision: 'chain',
      decisionReason: 'chain-asked',
      chain,
      alternatives: [],
      promises,
      lanes,
      prediction,
      direct: direct.predict(query.sizeBytes),
      expectedSeconds: 0,
      basis: { legs, setUp, direct: direct.basis },
      reasons,
    });
  }

  #direct(query: RouteQuery, view: LinkView, chain: readonly OverlayLeg[], nowMs: number) {
    const { assumptions } = this.#config;
    const { leg, source, knowledge, part } = estimateDirect(view, chain, assumptions, this.#senders, nowMs);
    const legs: readonly LegEstimate[] = [leg];
    const setUp = { clientTls: query.originTls, originTls: query.originTls };
    return {
      legs,
      part,
      setUp,
      basis: { legs, setUp, source },
      source,
      predict: (sizeBytes: number) => predict({ chain: [], legs, knowledge: [knowledge], sizeBytes, setUp }),
    };
  }

  #space(
    {
      sizeBytes,
      originTls,
      depotBreaksPerSecond = 0,
    }: Pick<RouteQuery, 'sizeBytes' | 'originTls' | 'depotBreaksPerSecond'>,
    view: LinkView,
    lanesToTry: readonly number[],
    usable: readonly PlanningDepot[],
    nowMs: number,
    clientLink?: (id: string) => LinkEstimate | undefined,
  ): SearchSpace {
    this.#graph.refresh(nowMs);
    const legOver = (link: LinkEstimate | undefined, ends: readonly [string, string]) =>
      link && new OverlayLeg(link, ends, this.#senders, () => view.doubt?.(...ends, nowMs) ?? NO_DOUBT);
    const [clients, origins] = [view.linkedWith?.(CLIENT), view.linkedWith?.(ORIGIN)];
    const linkOfClient = (id: string) =>
      (clients?.has(id) ?? true) ? view.estimate(CLIENT, id, nowMs) : undefined;
    const depots = usable.map(({ id, tls, roomBps }) => ({
      id,
      tls,
      client: legOver((clientLink ?? linkOfClient)(id), [CLIENT, id]),
      origin:
        (origins?.has(id) ?? true) ? legOver(view.estimate(id, ORIGIN, nowMs), [id, ORIGIN]) : undefined,
      ...(roomBps === undefined ? {} : { roomBps }),
    }));
    const { maxDepots } = this.#config;
    return new SearchSpace(this.#graph, depots, {
      maxDepots,
      sizeBytes,
      originTls,
      laneChoices: lanesToTry,
      depotBreaksPerSecond,
    });
  }

  #alternatives(best: RatedChain, search: ChainSearch, canBeginElsewhere: boolean): RatedChain[] {
    const { maxAlternatives: most, minimumGain } = this.#config;
    return chooseAlternatives({ best, search, canBeginElsewhere, most, minimumGain });
  }

  /** The links as they are for this download. */
  #viewOf({ ends }: Pick<RouteQuery, 'ends'>, usable: readonly PlanningDepot[], nowMs: number): LinkView {
    if (!this.#ends || !ends) return this.#links;
    this.#graph.refresh(nowMs);
    const ids = new Set(usable.map(({ id }) => id));
    const overlay = { around: (id: string) => this.#graph.around(id), isUsable: (id: string) => ids.has(id) };
    return this.#ends.between(ends, overlay, nowMs);
  }

  #assumedLink(): LinkEstimate {
    const { rttMs, lossRate, rateBps, windowBytes } = this.#config.assumptions;
    return { rttMs, lossRate, rateBps, windowBytes, goodputBps: undefined, ageMs: undefined };
  }
}

/** The mean time of a chain with its lanes over all that may be. */
function expectedOf(query: RouteQuery, rated: RatedChain): number {
  return expectedSeconds(ratedOf(query, rated));
}

/** A chain with its lanes, as its times are worked out. */
function ratedOf(
  { sizeBytes, originTls, depotBreaksPerSecond = 0 }: RouteQuery,
  { chain, parts, lanes, clientTls, roomPerSecond }: RatedChain,
) {
  const setUp = { clientTls, originTls };
  return {
    parts,
    lanes,
    sizeBytes,
    setUp,
    roomPerSecond,
    breaksPerSecond: chain.length * depotBreaksPerSecond,
  };
}

/** The direct way likewise. */
function directOf({ sizeBytes, originTls }: RouteQuery, direct: DirectEstimate['part']) {
  const setUp = { clientTls: originTls, originTls };
  const free = { roomPerSecond: Number.POSITIVE_INFINITY, breaksPerSecond: 0 };
  return { parts: [direct], lanes: 1, sizeBytes, setUp, ...free };
}

/** Whether nobody has measured one of its legs. */
function isGuessed({ links }: RatedChain): boolean {
  return links.some(({ source }) => source !== undefined);
}

/** The chain with the fewest lanes that are about as good as the best, over what may be. */
function withLanes(
  rated: RatedChain,
  lanesToTry: readonly number[],
  expected: (rated: RatedChain) => number,
): RatedChain {
  const tried = lanesToTry.map((lanes) => ({ lanes, seconds: expected({ ...rated, lanes }) }));
  const best = Math.min(...tried.map(({ seconds }) => seconds));
  const { lanes = rated.lanes } = tried.find(({ seconds }) => seconds <= best * AS_GOOD_AS_BEST) ?? {};
  return { ...rated, lanes };
}

function byExpectedTime(
  fastest: readonly RatedChain[],
  expected: (rated: RatedChain) => number,
): RatedChain[] {
  // Those as good as each other stay in the order of their point estimates.
  return fastest
    .map((rated) => ({ rated, seconds: expected(rated) }))
    .toSorted((one, other) => one.seconds - other.seconds)
    .map(({ rated }) => rated);
}

function setUpOf(
  { originTls }: Pick<RouteQuery, 'originTls'>,
  chain: Chain,
  depots: readonly PlanningDepot[],
) {
  const entry = depots.find((depot) => depot.id === chain[0]);
  return { clientTls: entry?.tls ?? false, originTls };
}
