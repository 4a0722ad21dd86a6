import { clientPrefix } from '@longhaul/shared';
import type { EndLinks } from '../links/end-links.ts';
import type { UnreachedPairs } from '../links/unreached-pairs.ts';
import type { PlanningDepot } from '../search/planning-depot.ts';
import type { GroupRoutes } from './group-routes.ts';
import type { DepotPlace, IssuedPlan, KnownThen } from './issued-plan.ts';
import type { LearnedOfPairs } from './learned-of-pairs.ts';
import type { Asked, RouteChooser } from './route-chooser.ts';

interface StandingPlansInit extends Pick<LearnedOfPairs, 'wishes'> {
  readonly registry: {
    readonly views: (nowMs: number) => readonly PlanningDepot[];
    readonly record: (id: string) => DepotPlace | undefined;
    readonly isUp: (id: string, nowMs: number) => boolean;
  };
  /** Connections between depots that cannot be made. */
  readonly unreached: Pick<UnreachedPairs, 'breaks'>;
  /** What is known of clients and origins. */
  readonly ends: Pick<EndLinks, 'stateOf'>;
  readonly chooser: Pick<RouteChooser, 'originOf' | 'notExits'>;
  readonly groupRoutes: Pick<GroupRoutes, 'groupOf'>;
}

/** The depots that were up at a moment. */
interface UpDepots {
  readonly ids: string;
  readonly count: number;
  readonly atMs: number;
}

/** Which depots are up is looked at so often, and whenever one is heard of: each look goes through all of them. */
const UP_FOR_MS = 100;
/**
 * So few depots change seldom, and plans over them are cheap: decisions are made anew whenever one of them is
 * heard.
 */
const FEW_DEPOTS = 64;

/** Whether plans that were given still stand, by what they were made by. */
export class StandingPlans {
  readonly #init: StandingPlansInit;
  #up: UpDepots = { ids: '', count: 0, atMs: Number.NEGATIVE_INFINITY };

  constructor(init: StandingPlansInit) {
    this.#init = init;
  }

  /** Whether so few depots were up, when they were last looked at, that each change of one is worth new decisions. */
  get areDepotsFew(): boolean {
    return this.#up.count <= FEW_DEPOTS;
  }

  /** Looks again which depots are up, the next time that it matters: one of them has changed. */
  noteDepots(): void {
    this.#up = { ...this.#up, atMs: Number.NEGATIVE_INFINITY };
  }

  /** What a plan for these ends is made by, so that it can be told later whether that has changed. */
  knownNow(asked: Asked, nowMs: number): KnownThen {
    const { ends, chooser } = this.#init;
    const { host } = asked.url;
    const origin = chooser.originOf(asked);
    const led = origin === host ? '' : ` ${origin} ${ends.stateOf({ origin })}`;
    const notExits = [...chooser.notExits(asked, nowMs)].map((id) => ` -${id}`).join('');
    const known = `${ends.stateOf({ client: asked.clientAddress, origin: host })}${led}${notExits}`;
    return { upDepots: this.#upDepots(nowMs), known };
  }

  /** Whether the plan that the client at `address` got may be given to it again. */
  stands(plan: IssuedPlan, address: string, nowMs: number): boolean {
    const { decision, chain, upDepots, known, kind, host, port, isAsked } = plan;
    const asked = { url: { host, port }, clientAddress: address, kind };
    const { registry, wishes, unreached, chooser } = this.#init;
    if (decision === 'chain' && !isAsked && wishes && !wishes.isEmpty) {
      const network = clientPrefix(address);
      if (wishes.prefersDirect(network, host, nowMs)) return false;
      if (wishes.avoidedBy(network, nowMs).some((id) => chain.includes(id))) return false;
    }
    // A direct answer holds only as long as the same depots are up: with another one, or when more is measured
    // of its ends, there may be a chain.
    if (decision === 'direct') {
      const now = this.knownNow(asked, nowMs);
      return upDepots === now.upDepots && known === now.known;
    }
    if (!isAsked && chooser.notExits(asked, nowMs).has(chain.at(-1) ?? '')) return false;
    const isWhole = !unreached.breaks(chain, nowMs) && chain.every((id) => registry.isUp(id, nowMs));
    return isWhole && this.#leadsWhereDepotsAre(plan, nowMs);
  }

  /**
   * Whether the depots that a plan names are still where it says: a restart may bring one up elsewhere, or
   * out of its entry group.
   */
  #leadsWhereDepotsAre({ places, group, chain }: IssuedPlan, nowMs: number): boolean {
    const { groupRoutes, registry } = this.#init;
    if (group !== undefined && groupRoutes.groupOf(chain[0], nowMs)?.id !== group) return false;
    return places.every(({ id, host, port, tls }) => {
      const now = registry.record(id);
      return now?.host === host && now.port === port && now.tls === tls;
    });
  }

  #upDepots(nowMs: number): string {
    if (Math.abs(nowMs - this.#up.atMs) >= UP_FOR_MS) {
      const up = this.#init.registry.views(nowMs).filter((depot) => depot.state === 'up');
      this.#up = { ids: up.map((depot) => depot.id).join(), count: up.length, atMs: nowMs };
    }
    return this.#up.ids;
  }
}
