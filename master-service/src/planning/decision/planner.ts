import { CLIENT, ok, type Result, refuse } from '@longhaul/shared';
import type { PlannerConfig } from '../../config.ts';
import type { EndLinks } from '../links/end-links.ts';
import type { LinkView } from '../links/link-view.ts';
import { promiseOf } from '../search/chain-legs.ts';
import { OverlayGraph } from '../search/overlay-graph.ts';
import type { PlanningDepot } from '../search/planning-depot.ts';
import { chooseAlternatives } from './choose-alternatives.ts';
import { decideRoute } from './decide-route.ts';
import { DownloadMap, type PlannerMap } from './download-map.ts';
import { DownloadTimes, fastestFirst, MOST_COMPARED } from './download-times.ts';
import type { PromisedChains, RerouteQuery, Route, RouteQuery } from './route.ts';
import { routeVia } from './route-via.ts';

/** Chooses the chain with the shortest predicted completion time, or `direct` where none clearly wins. */
export class Planner {
  readonly #base: PlannerMap;

  /** Without `ends`, the links of `client` and `origin` are those of every download. */
  constructor(config: PlannerConfig, links: LinkView, ends?: Pick<EndLinks, 'between'>) {
    const { originSender, depotSender } = config.assumptions;
    const senders = { origin: originSender, depot: depotSender };
    this.#base = {
      config,
      links,
      ends,
      senders,
      graph: new OverlayGraph(links, senders),
      typedLegs: new WeakMap(),
    };
  }

  /** Plans one download over `depots`; `bad-options` when `via` or `lanes` asks for what cannot be had. */
  plan(query: RouteQuery, depots: readonly PlanningDepot[], nowMs: number): Result<Route> {
    const { config, senders } = this.#base;
    const { via = [], avoid, lanes } = query;
    if (lanes !== undefined && lanes > config.maxLanes) {
      return refuse('bad-options', `lanes takes 1 to ${config.maxLanes}`);
    }
    const usable = depots.filter((depot) => depot.state === 'up' && !avoid?.includes(depot.id));
    const map = new DownloadMap(this.#base, query, usable, nowMs);
    if (via.length > 0) return routeVia({ senders, query, via, map, usable });
    return ok(decideRoute({ config, query, map, depots, usable }));
  }

  /**
   * Chains for a running download, all from its entry depot on and past the depots that failed.
   * `no-other-chain` when there is none but the entry depot alone, which needs no plan.
   */
  reroute(query: RerouteQuery, depots: readonly PlanningDepot[], nowMs: number): Result<PromisedChains> {
    const { entry, avoid, lanes } = query;
    if (avoid.includes(entry)) return refuse('bad-request', 'avoid names the asking depot');
    // The asking depot serves the client already, whatever its state.
    const usable = depots.filter(({ id, state }) => id === entry || (state === 'up' && !avoid.includes(id)));
    const map = new DownloadMap(this.#base, query, usable, nowMs);
    const clientLink = (id: string) => map.link(CLIENT, id) ?? (id === entry ? map.assumedLink : undefined);
    const search = map.search(usable, [lanes], clientLink);
    // As a plan is made: the entry depot alone, on a leg that nobody has measured, counts with the times in
    // which that is slow.
    const { expected } = new DownloadTimes({ config: this.#base.config, query, depots: usable });
    const ranked = fastestFirst(search.best(MOST_COMPARED, { entry }), expected);
    const [best] = ranked;
    if (!best || ranked.every(({ chain }) => chain.length < 2)) return refuse('no-other-chain');
    const { maxAlternatives: most, minimumGain } = this.#base.config;
    const others = chooseAlternatives({ best, search, canBeginElsewhere: false, most, minimumGain });
    const rated = [best, ...others];
    return ok({
      chains: rated.map(({ chain }) => chain),
      promises: rated.map(({ legs }) => promiseOf(legs, lanes)),
    });
  }
}
