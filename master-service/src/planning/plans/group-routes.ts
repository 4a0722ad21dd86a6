import { MAX_ALTERNATIVES } from '@longhaul/shared';
import type { EntryGroupConfig } from '../../config.ts';
import type { EntryGroups } from '../../tickets/entry-groups.ts';
import type { Planner } from '../decision/planner.ts';
import type { RerouteQuery, Route } from '../decision/route.ts';
import type { PlanningDepot } from '../search/planning-depot.ts';

/**
 * Depots of a group beside the entry depot that get chains of their own in a ticket; further ones ask the
 * master when a client comes.
 */
const MOST_MEMBER_CHAINS = 2;

interface MemberDepot extends PlanningDepot {
  /** The entry group whose tickets it serves, as it says. */
  readonly entryGroup: string | undefined;
}

interface GroupRoutesInit {
  readonly groups: EntryGroups;
  readonly planner: Pick<Planner, 'reroute'>;
  readonly registry: {
    readonly views: (nowMs: number) => readonly MemberDepot[];
    readonly view: (id: string, nowMs: number) => MemberDepot | undefined;
  };
}

/** Routes that begin at a group of depots instead of one. */
export class GroupRoutes {
  readonly #init: GroupRoutesInit;

  constructor(init: GroupRoutesInit) {
    this.#init = init;
  }

  /** The group that clients of an entry depot are led to. */
  groupOf(entry: string | undefined, nowMs: number): EntryGroupConfig | undefined {
    const { groups, registry } = this.#init;
    return entry === undefined ? undefined : groups.of(registry.view(entry, nowMs));
  }

  /**
   * The route with chains from other depots of its group beside it, so that each has one of its own: `query`
   * is for all of them.
   */
  fromAllOf(
    group: EntryGroupConfig,
    route: Route,
    query: Omit<RerouteQuery, 'entry' | 'lanes'>,
    nowMs: number,
  ): Route {
    const { groups, planner, registry } = this.#init;
    const isThere = (id: string) => [route.chain, ...route.alternatives].some(([entry]) => entry === id);
    const others = group.depots.filter((id) => {
      const depot = registry.view(id, nowMs);
      const isWanted = !isThere(id) && !query.avoid.includes(id);
      return isWanted && depot?.state === 'up' && groups.of(depot) === group;
    });
    const { lanes } = route;
    const added = others.slice(0, MOST_MEMBER_CHAINS).flatMap((entry) => {
      const planned = planner.reroute({ ...query, entry, lanes }, registry.views(nowMs), nowMs);
      const [chain] = planned.ok ? planned.value.chains : [];
      const [promise] = planned.ok ? planned.value.promises : [];
      return chain && promise ? [{ chain, promise }] : [];
    });
    const kept = Math.min(route.alternatives.length, MAX_ALTERNATIVES - added.length);
    return {
      ...route,
      alternatives: [...route.alternatives.slice(0, kept), ...added.map(({ chain }) => chain)],
      promises: [...route.promises.slice(0, 1 + kept), ...added.map(({ promise }) => promise)],
    };
  }
}
