import {
  type Chain,
  type LegEstimate,
  MAX_CHAIN_DEPOTS,
  ok,
  type Prediction,
  type Result,
  refuse,
} from '@longhaul/shared';
import { CLIENT, ORIGIN, type PlannerConfig } from '../config.ts';
import type { DepotState } from '../depots/depot-registry.ts';
import type { Decision } from '../events.ts';
import { chainLegs, type LegBetween, legEnds, legOf, predict } from './chain-legs.ts';
import { type RatedChain, searchChains } from './chain-search.ts';
import { estimateDirect } from './direct-estimate.ts';
import type { LinkEstimate, LinkTable } from './link-table.ts';
import { explainRoute } from './route-reasons.ts';

/** A registered depot as the planner sees it. */
export interface PlanningDepot {
  readonly id: string;
  /** Whether clients reach it by TLS. */
  readonly tls: boolean;
  readonly state: DepotState;
}

export interface RouteQuery {
  readonly sizeBytes: number;
  readonly originTls: boolean;
  /** Exactly these depots, in the order the bytes pass: origin to client, the opposite of a chain's order. */
  readonly via?: readonly string[];
  readonly avoid?: readonly string[];
}

/** The planner's decision for one download. Chains have their entry depot first. */
export interface Route {
  readonly decision: Decision;
  /** Empty for `direct`. */
  readonly chain: Chain;
  readonly alternatives: readonly Chain[];
  readonly prediction: Prediction;
  readonly direct: Prediction;
  /** Sentences for people. */
  readonly reasons: readonly string[];
}

/** Chooses the chain with the shortest predicted completion time, or `direct` where none clearly wins. */
export class Planner {
  readonly #config: PlannerConfig;
  readonly #links: LinkTable;

  constructor(config: PlannerConfig, links: LinkTable) {
    this.#config = config;
    this.#links = links;
  }

  /** Plans one download over `depots`; `bad-options` when `via` names a depot that cannot be used. */
  plan(query: RouteQuery, depots: readonly PlanningDepot[], nowMs: number): Result<Route> {
    const usable = depots.filter((depot) => depot.state === 'up' && !query.avoid?.includes(depot.id));
    const linkBetween = this.#rememberedLinks(nowMs);
    const legBetween: LegBetween = (nearClient, nearOrigin) => {
      const link = linkBetween(nearClient, nearOrigin);
      return link && legOf(link, nearOrigin, this.#senders());
    };
    if (query.via?.length) return this.#planVia(query, query.via, usable, linkBetween);
    const ranked = searchChains({
      depots: usable,
      maxDepots: this.#config.maxDepots,
      sizeBytes: query.sizeBytes,
      originTls: query.originTls,
      legBetween,
    });
    return ok(this.#decide(query, depots, usable, ranked, linkBetween));
  }

  #decide(
    query: RouteQuery,
    depots: readonly PlanningDepot[],
    usable: readonly PlanningDepot[],
    ranked: readonly RatedChain[],
    linkBetween: LinkBetween,
  ): Route {
    const [best, runnerUp] = ranked;
    const direct = this.#direct(query, best?.chain, linkBetween);
    const wins = best !== undefined && direct.prediction.seconds / best.seconds >= this.#config.minimumGain;
    const bestPrediction =
      best && predict(best.chain, best.legs, query.sizeBytes, this.#setUp(query, best.chain, usable));
    const chosen = wins ? best : undefined;
    return {
      decision: chosen ? 'chain' : 'direct',
      chain: chosen?.chain ?? [],
      alternatives: chosen ? this.#alternatives(chosen, ranked) : [],
      prediction: (chosen && bestPrediction) ?? direct.prediction,
      direct: direct.prediction,
      reasons: explainRoute({
        best,
        runnerUp,
        wins,
        minimumGain: this.#config.minimumGain,
        direct: { seconds: direct.prediction.seconds, source: direct.source },
        chainLinks: this.#linksOf(best?.chain, linkBetween),
        depots,
        avoid: query.avoid ?? [],
        linked: (one, other) => linkBetween(one, other) !== undefined,
      }),
    };
  }

  #planVia(
    query: RouteQuery,
    via: readonly string[],
    usable: readonly PlanningDepot[],
    linkBetween: LinkBetween,
  ): Result<Route> {
    if (via.length > MAX_CHAIN_DEPOTS || new Set(via).size < via.length) {
      return refuse('bad-options', `via takes up to ${MAX_CHAIN_DEPOTS} different depots`);
    }
    const chain = via.toReversed();
    const missing = chain.find((id) => !usable.some((depot) => depot.id === id));
    if (missing !== undefined) return refuse('bad-options', `the depot ${missing} is not up`);
    const assumed = this.#assumedLink();
    const legs = chainLegs(chain, (nearClient, nearOrigin) => {
      return legOf(linkBetween(nearClient, nearOrigin) ?? assumed, nearOrigin, this.#senders());
    });
    const prediction = predict(chain, legs ?? [], query.sizeBytes, this.#setUp(query, chain, usable));
    const { prediction: direct } = this.#direct(query, chain, linkBetween);
    const unknown = legEnds(chain).filter(([one, other]) => !linkBetween(one, other));
    const reasons = [
      'The chain was chosen by the client (via).',
      ...unknown.map(
        ([one, other]) => `No estimate of the link ${one} - ${other}: assumptions are used for it.`,
      ),
    ];
    return ok({ decision: 'chain', chain, alternatives: [], prediction, direct, reasons });
  }

  #direct(query: RouteQuery, bestChain: Chain | undefined, linkBetween: LinkBetween) {
    const { leg, source } = estimateDirect(
      linkBetween(CLIENT, ORIGIN),
      this.#linksOf(bestChain, linkBetween),
      this.#config.assumptions,
      this.#senders(),
    );
    const legs: LegEstimate[] = [leg];
    const setUp = { clientTls: query.originTls, originTls: query.originTls };
    return { prediction: predict([], legs, query.sizeBytes, setUp), source };
  }

  /** First another chain behind the same entry depot, then the best one that begins elsewhere. */
  #alternatives(best: RatedChain, ranked: readonly RatedChain[]): Chain[] {
    const [entry] = best.chain;
    const others = ranked.filter((rated) => rated !== best);
    const sameEntry = others.find((rated) => rated.chain[0] === entry);
    const otherEntry = others.find((rated) => rated.chain[0] !== entry);
    return [sameEntry, otherEntry]
      .filter((rated) => rated !== undefined)
      .slice(0, this.#config.maxAlternatives)
      .map((rated) => rated.chain);
  }

  #setUp(query: RouteQuery, chain: Chain, usable: readonly PlanningDepot[]) {
    const entry = usable.find((depot) => depot.id === chain[0]);
    return { clientTls: entry?.tls ?? false, originTls: query.originTls };
  }

  #linksOf(chain: Chain | undefined, linkBetween: LinkBetween): LinkEstimate[] {
    const links = chain ? legEnds(chain).map(([one, other]) => linkBetween(one, other)) : [];
    return links.filter((link) => link !== undefined);
  }

  #senders() {
    const { originSender, depotSender } = this.#config.assumptions;
    return { origin: originSender, depot: depotSender };
  }

  #assumedLink(): LinkEstimate {
    const { rttMs, lossRate, rateBps, windowBytes } = this.#config.assumptions;
    return { rttMs, lossRate, rateBps, windowBytes, goodputBps: undefined, ageMs: undefined };
  }

  // A search asks for the same link many times.
  #rememberedLinks(nowMs: number): LinkBetween {
    const known = new Map<string, LinkEstimate | undefined>();
    return (one, other) => {
      const key = `${one} ${other}`;
      if (!known.has(key)) known.set(key, this.#links.estimate(one, other, nowMs));
      return known.get(key);
    };
  }
}

type LinkBetween = (one: string, other: string) => LinkEstimate | undefined;
