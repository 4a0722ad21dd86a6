import { type AddressFamily, CLIENT, type LegEstimate, ORIGIN, publicFamily } from '@longhaul/shared';
import type { PlannerConfig } from '../../config.ts';
import type { EndLinks } from '../links/end-links.ts';
import { NO_DOUBT } from '../links/leg-scenarios.ts';
import type { LinkEstimate, LinkView } from '../links/link-view.ts';
import { predict, type Senders } from '../search/chain-legs.ts';
import { ChainSearch } from '../search/chain-search.ts';
import { estimateDirect } from '../search/direct-estimate.ts';
import type { OverlayGraph } from '../search/overlay-graph.ts';
import { OverlayLeg } from '../search/overlay-leg.ts';
import type { PlanningDepot } from '../search/planning-depot.ts';
import { SearchSpace } from '../search/search-space.ts';
import type { RouteQuery } from './route.ts';

/** What every download is planned by. */
export interface PlannerMap {
  readonly config: PlannerConfig;
  readonly links: LinkView;
  /** Left out, the links of `client` and `origin` are those of every download. */
  readonly ends: Pick<EndLinks, 'between'> | undefined;
  readonly senders: Senders;
  readonly graph: OverlayGraph;
  /** Legs to ends that are typed in, with what searches have worked out of them. */
  readonly typedLegs: WeakMap<LinkEstimate, OverlayLeg>;
}

/** What is asked of a map. */
interface MapQuery
  extends Pick<
    RouteQuery,
    'sizeBytes' | 'originTls' | 'needsTlsEntry' | 'depotBreaksPerSecond' | 'ends' | 'calibration' | 'notExits'
  > {
  /** The depot that the client is at already; left out where it is still to be chosen. */
  readonly entry?: string;
}

/** The direct way of a download: its legs, where they are known from, and what it takes. */
export type DirectWay = ReturnType<DownloadMap['direct']>;

/** The overlay as it is for one download at one moment: its links, searches over them, and the direct way. */
export class DownloadMap {
  readonly view: LinkView;
  readonly #base: PlannerMap;
  readonly #query: MapQuery;
  readonly #nowMs: number;
  /** By which the client asks; `undefined` where nobody knows how it is seen on the internet. */
  readonly #family: AddressFamily | undefined;

  /** `usable` are the depots that it may pass. */
  constructor(base: PlannerMap, query: MapQuery, usable: readonly PlanningDepot[], nowMs: number) {
    const { graph, links, ends } = base;
    this.#base = base;
    this.#query = query;
    this.#nowMs = nowMs;
    this.#family = publicFamily(query.ends?.client ?? '');
    graph.refresh(nowMs);
    if (!ends || !query.ends) {
      this.view = links;
      return;
    }
    const byId = new Map(usable.map((depot) => [depot.id, depot]));
    const overlay = {
      around: (id: string) => graph.around(id),
      isUsable: (id: string) => byId.has(id),
      isInReach: (id: string) => {
        const depot = byId.get(id);
        return depot !== undefined && this.isSecureEnough(depot) && this.#fitsFamily(depot);
      },
      isEntryGiven: query.entry !== undefined,
    };
    this.view = ends.between(query.ends, overlay, nowMs);
  }

  /** What is known of the link between two ends. */
  link(one: string, other: string): LinkEstimate | undefined {
    return this.view.estimate(one, other, this.#nowMs);
  }

  /** Whether two depots are at one site. */
  readonly areAtOneSite = (one: string, other: string): boolean =>
    one === other || this.view.areAtOneSite?.(one, other) === true;

  /** What stands in for a link of which nothing is known. */
  get assumedLink(): LinkEstimate {
    const { rttMs, lossRate, rateBps, windowBytes } = this.#base.config.assumptions;
    return { rttMs, lossRate, rateBps, windowBytes, goodputBps: undefined, ageMs: undefined };
  }

  /**
   * Whether the client can be led to a depot: that speaks TLS where it must, and may be reached by the family
   * by which the client asks, or clients of its network have come there.
   */
  isEntry(depot: PlanningDepot): boolean {
    if (!this.isSecureEnough(depot)) return false;
    return this.#fitsFamily(depot) || this.view.pair?.hasCome(depot.id) === true;
  }

  /** Whether the leg to a client from a depot would have all the secrecy that the download asks for. */
  isSecureEnough({ tls }: Pick<PlanningDepot, 'tls'>): boolean {
    return tls || this.#query.needsTlsEntry !== true;
  }

  /** Whether a chain may end with a depot: it has not told of late that it cannot connect to the origin. */
  isExit(id: string): boolean {
    return this.#query.notExits?.has(id) !== true;
  }

  /**
   * Those of these depots over which the client is led, where it is known which lie near it; `undefined`
   * where any may.
   */
  knownEntries(over: readonly PlanningDepot[]): ReadonlySet<string> | undefined {
    const near = this.view.pair?.entries;
    const usable = near && this.#entriesOf(over, near);
    return usable && usable.length > 0 ? new Set(usable) : undefined;
  }

  /** Those of these depots that may be much nearer to the client than all that have measured it. */
  unmetEntries(over: readonly PlanningDepot[]): ReadonlySet<string> {
    const unmet = this.view.pair?.unmet;
    return new Set(unmet?.size ? this.#entriesOf(over, unmet) : []);
  }

  /**
   * Looks for chains over these depots, with one of these numbers of lanes; `clientLink` says what clients
   * have to a depot.
   */
  search(
    over: readonly PlanningDepot[],
    laneChoices: readonly number[],
    clientLink?: (id: string) => LinkEstimate | undefined,
  ): ChainSearch {
    const { view } = this;
    const { senders, graph, config, typedLegs } = this.#base;
    const { sizeBytes, originTls, depotBreaksPerSecond = 0 } = this.#query;
    const legOver = (link: LinkEstimate | undefined, ends: readonly [string, string]) => {
      const kept = link && typedLegs.get(link);
      if (!link || kept) return kept;
      // What is measured, or worked out, is another one for each plan.
      if (link.ageMs !== undefined || link.source !== undefined)
        return new OverlayLeg(link, ends, senders, () => view.doubt?.(...ends, this.#nowMs) ?? NO_DOUBT);
      const doubt = view.doubt?.(...ends, this.#nowMs) ?? NO_DOUBT;
      const leg = new OverlayLeg(link, ends, senders, () => doubt);
      if (doubt === NO_DOUBT) typedLegs.set(link, leg);
      return leg;
    };
    const [clients, origins] = [view.linkedWith?.(CLIENT), view.linkedWith?.(ORIGIN)];
    const linkOfClient = (depot: PlanningDepot) =>
      (clients?.has(depot.id) ?? true) && this.isEntry(depot) ? this.link(CLIENT, depot.id) : undefined;
    const linkOfOrigin = (id: string) =>
      (origins?.has(id) ?? true) && this.isExit(id) ? this.link(id, ORIGIN) : undefined;
    const depots = over.map((depot) => {
      const { id, tls, roomBps } = depot;
      const toClient = clientLink ? clientLink(id) : linkOfClient(depot);
      const client = legOver(toClient, [CLIENT, id]);
      return { id, tls, client, origin: legOver(linkOfOrigin(id), [id, ORIGIN]), roomBps };
    });
    const { maxDepots } = config;
    const question = { maxDepots, sizeBytes, originTls, laneChoices, depotBreaksPerSecond };
    return new ChainSearch(new SearchSpace(graph, depots, question));
  }

  /** The direct way, put together from the parts of a chain where nothing else is known. */
  direct(parts: readonly OverlayLeg[]) {
    const { config, senders } = this.#base;
    const { originTls } = this.#query;
    const known = estimateDirect(this.view, parts, config.assumptions, senders, this.#nowMs);
    const { leg, source, knowledge, part } = known;
    // What is known of the way itself is known by what came over it.
    const calibration = source === 'link' ? undefined : this.#query.calibration;
    const legs: readonly LegEstimate[] = [leg];
    const setUp = { clientTls: originTls, originTls };
    return {
      legs,
      part,
      setUp,
      basis: { legs, setUp, source },
      source,
      calibration,
      predict: (sizeBytes: number) =>
        predict({ chain: [], legs, knowledge: [knowledge], sizeBytes, setUp, calibration }),
    };
  }

  /** Whether a depot may be reached by the family by which the client asks. */
  #fitsFamily({ onlyFamily }: PlanningDepot): boolean {
    return onlyFamily === undefined || this.#family === undefined || onlyFamily === this.#family;
  }

  #entriesOf(over: readonly PlanningDepot[], among: ReadonlySet<string>): string[] {
    return over.flatMap((depot) => (among.has(depot.id) && this.isEntry(depot) ? [depot.id] : []));
  }
}
