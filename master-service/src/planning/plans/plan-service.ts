import {
  type Chain,
  clientAddress,
  depotBaseUrl,
  directLocation,
  type LegEvidence,
  type OriginUrl,
  ok,
  type PlanAnswer,
  type Result,
  refuse,
} from '@longhaul/shared';
import type { MasterConfig } from '../../config.ts';
import type { OriginProbes } from '../../measuring/origin-probes.ts';
import type { DownloadPolicy } from '../../policy/download-policy.ts';
import type { RateCaps } from '../../policy/rate-caps.ts';
import type { Whereabouts } from '../../prefixes/whereabouts.ts';
import type { EntryGroups } from '../../tickets/entry-groups.ts';
import type { TicketIssuer } from '../../tickets/ticket-issuer.ts';
import type { Planner } from '../decision/planner.ts';
import type { EndLinks } from '../links/end-links.ts';
import type { DownloadEnds } from '../links/link-view.ts';
import type { UnreachedPairs } from '../links/unreached-pairs.ts';
import type { PlanningDepot } from '../search/planning-depot.ts';
import { chooseSignalling } from './choose-signalling.ts';
import { leftEntries } from './coming-back.ts';
import { GroupRoutes } from './group-routes.ts';
import {
  charsOf,
  type Decided,
  type DepotPlace,
  type DownloadRequest,
  type IssuedPlan,
  isSameWay,
  type KnownThen,
} from './issued-plan.ts';
import type { LearnedOfPairs } from './learned-of-pairs.ts';
import { answerOf } from './plan-answer.ts';
import { PlanCache, type PlanUse, planKey } from './plan-cache.ts';
import { PlanIssuer } from './plan-issuer.ts';
import { type PromisedDownload, promisedTo } from './promised-download.ts';
import { RouteChooser } from './route-chooser.ts';
import { estimateSize } from './size-estimate.ts';
import type { SizeMemory } from './size-memory.ts';
import { StandingPlans } from './standing-plans.ts';

interface KnownDepot extends PlanningDepot {
  readonly host: string;
  readonly port: number;
  /** The entry group whose tickets it serves, as it says. */
  readonly entryGroup: string | undefined;
}

/** The registered depots, with the states that they are in now. */
interface KnownDepots {
  readonly views: (nowMs: number) => readonly KnownDepot[];
  readonly view: (id: string, nowMs: number) => KnownDepot | undefined;
  readonly record: (id: string) => DepotPlace | undefined;
  readonly isUp: (id: string, nowMs: number) => boolean;
  /** How often one of them fails. */
  readonly failuresPerSecond: number;
  /** Takes note that a plan leads a download over a chain. */
  readonly notePromised: (chain: Chain, download: PromisedDownload, nowMs: number) => void;
}

interface PlanServiceInit extends LearnedOfPairs {
  readonly config: Pick<MasterConfig, 'planner'>;
  readonly policy: DownloadPolicy;
  readonly planner: Planner;
  readonly registry: KnownDepots;
  /** Connections between depots that cannot be made. */
  readonly unreached: Pick<UnreachedPairs, 'breaks'>;
  readonly sizes: SizeMemory;
  readonly tickets: TicketIssuer;
  readonly groups: EntryGroups;
  readonly whereabouts: Whereabouts;
  /** What is known of clients and origins. */
  readonly ends: Pick<EndLinks, 'stateOf'>;
  /** Has origins measured that nobody knows. */
  readonly probes: Pick<OriginProbes, 'want'>;
  readonly publicUrl: () => string;
  /** What each client may have; left out where that is not bounded. */
  readonly caps: RateCaps | undefined;
  /** Told of an entry depot whose client has come back for the rest of its file. */
  readonly onCameBack: (entry: string) => void;
  /** All that is known of the leg on which `from` sends to `to`, in a download between these ends. */
  readonly evidence?: (
    ends: DownloadEnds,
    to: string,
    from: string,
    nowMs: number,
  ) => LegEvidence | undefined;
  /** 0 to below 1, evenly; says which downloads may be used to learn. */
  readonly random?: () => number;
  /** Called with every plan that is given out for the first time. */
  readonly onIssued?: (issued: IssuedPlan, request: DownloadRequest, decided: Decided, nowMs: number) => void;
}

/** A request that policy and options permit. */
interface Admitted {
  readonly request: DownloadRequest;
  /** What its plan is given for. */
  readonly use: PlanUse;
  /** What its plan is kept by. */
  readonly key: string;
  /** What its client may have; `undefined` where that is not bounded. */
  readonly caps: RateCaps | undefined;
}

/** What a client got before for the same thing. */
interface Before {
  /** The plan that it may have again. */
  readonly held: IssuedPlan | undefined;
  /** Entry depots that it comes back from. */
  readonly left: readonly string[];
}

/** What was decided, and by what. */
interface DecidedBy extends Decided {
  readonly by: Pick<IssuedPlan, 'upDepots' | 'known' | 'left'>;
}

/** From a download request to a plan with its ticket: policy, size, route, ticket. */
export class PlanService {
  readonly #init: PlanServiceInit;
  readonly #issuer: PlanIssuer;
  readonly #chooser: RouteChooser;
  readonly #groupRoutes: GroupRoutes;
  readonly #standing: StandingPlans;
  readonly #cache = new PlanCache<IssuedPlan>();

  constructor(init: PlanServiceInit) {
    this.#init = init;
    this.#issuer = new PlanIssuer(init);
    this.#chooser = new RouteChooser(init);
    this.#groupRoutes = new GroupRoutes(init);
    this.#standing = new StandingPlans({ ...init, chooser: this.#chooser, groupRoutes: this.#groupRoutes });
  }

  /**
   * Plans a download. Requests of one client for the same thing within a minute get the same plan, as long as
   * its ticket is good for so many whole files and its depots are up, where it says. Refuses what policy,
   * caps and options refuse.
   */
  plan(request: DownloadRequest, nowMs: number): Result<IssuedPlan> {
    const admitted = this.#admit(request, request.isPart ? 'part' : 'whole');
    if (!admitted.ok) return admitted;
    const before = this.#before(admitted.value, nowMs);
    this.#cache.noteCame(admitted.value.key, nowMs);
    if (before.held) return ok(before.held);
    const decided = this.#decideNow(admitted.value, before, nowMs);
    if (!decided.ok) return decided;
    const issued = this.#issue(admitted.value, decided.value, (plan) => plan, nowMs);
    if (issued.ok || issued.error.code !== 'rate-limited') return issued;
    const paid = this.#paidBefore(admitted.value, nowMs);
    return paid ? ok(paid) : issued;
  }

  /**
   * Plans as well, and says all that speaks for the plan. One that was given without is decided again, and
   * stays the same plan as long as the decision is the same.
   */
  explain(request: DownloadRequest, nowMs: number): Result<PlanAnswer> {
    const admitted = this.#admit(request, 'told');
    if (!admitted.ok) return admitted;
    const { key } = admitted.value;
    const before = this.#before(admitted.value, nowMs);
    const { held } = before;
    if (held) this.#cache.noteTold(key, nowMs);
    if (held?.answer) return ok(held.answer);
    const decided = this.#decideNow(admitted.value, before, nowMs);
    if (!decided.ok) return decided;
    const answerFor = (plan: IssuedPlan) => this.#answer(request, decided.value, plan, nowMs);
    if (held && isSameWay(held, decided.value.route)) return ok(answerFor(held));
    const explained = (plan: IssuedPlan) => ({ ...plan, answer: answerFor(plan) });
    const issued = this.#issue(admitted.value, decided.value, explained, nowMs);
    if (!issued.ok) return issued;
    this.#cache.noteTold(key, nowMs);
    return ok(issued.value.answer);
  }

  /** Where a client goes for which there is no time to plan: to the origin. Refuses what policy and caps refuse. */
  spare(url: OriginUrl, address: string, nowMs: number): Result<string> {
    const admission = this.#init.policy.admit(url, address);
    if (!admission.ok) return admission;
    const share = admission.value.metered ? this.#init.caps?.takePlan(address, nowMs) : undefined;
    return share && !share.ok ? share : ok(directLocation(url));
  }

  /** The plan that this client got for exactly this target, if it still holds: nothing else is looked at again. */
  again(address: string, target: string, isPart: boolean, nowMs: number): IssuedPlan | undefined {
    const kept = this.#cache.getAsked(`${address} ${target}`, isPart ? 'part' : 'whole', nowMs);
    return kept && this.#standing.stands(kept, address, nowMs) ? kept : undefined;
  }

  /** Looks again which depots are up, the next time that it matters: one of them has changed. */
  noteDepots(): void {
    this.#standing.noteDepots();
    this.noteLinks();
  }

  /** Decides again what was decided lately: more is known of a link, or of a depot. */
  noteLinks(): void {
    // Of a large overlay something changes all the time, and what was decided is good for a second.
    if (this.#standing.areDepotsFew) this.#chooser.noteChange();
  }

  /** Refuses what policy and options refuse; `use` is what the plan is given for. */
  #admit(request: DownloadRequest, use: PlanUse): Result<Admitted> {
    const { policy, config } = this.#init;
    const { url, options, kind, clientAddress: address } = request;
    const admission = policy.admit(url, address);
    if (!admission.ok) return admission;
    const isChosen = Boolean(options.via?.length) || options.lanes !== undefined;
    if (isChosen && !config.planner.allowVia) return refuse('via-not-allowed');
    const key = planKey({ client: clientAddress(address), url, options, kind });
    return ok({ request, use, key, caps: admission.value.metered ? this.#init.caps : undefined });
  }

  /** What the client got before for the same thing; an entry depot that it comes back from is looked after. */
  #before({ request, use, key }: Admitted, nowMs: number): Before {
    const kept = this.#cache.get(key, use, nowMs);
    const left = leftEntries(request, this.#cache.last(key), nowMs);
    const lastLeft = left.at(-1);
    if (lastLeft !== undefined) this.#init.onCameBack(lastLeft);
    const isHeld =
      kept && lastLeft === undefined && this.#standing.stands(kept, request.clientAddress, nowMs);
    return { held: isHeld ? kept : undefined, left };
  }

  /** Decides by what is known now, away from depots that the client has left; counted as a plan of its share. */
  #decideNow({ request, caps }: Admitted, { held, left }: Before, nowMs: number): Result<DecidedBy> {
    const share = caps?.takePlan(request.clientAddress, nowMs);
    if (share && !share.ok) return share;
    this.#wantProbes(request, nowMs);
    const known = this.#standing.knownNow(request, nowMs);
    const elsewhere = left.length === 0 ? undefined : this.#decideElsewhere(request, left, known, nowMs);
    const decided = elsewhere ?? this.#decide(request, held, known, nowMs);
    return decided.ok ? ok({ ...decided.value, by: { ...known, left } }) : decided;
  }

  /** Makes the plan of what was decided, `finished` with what is told of it, and keeps it for who asks again. */
  #issue<Plan extends IssuedPlan>(
    { request, use, key, caps }: Admitted,
    decided: DecidedBy,
    finished: (plan: IssuedPlan) => Plan,
    nowMs: number,
  ): Result<Plan> {
    const { clientAddress: address, target } = request;
    const issued = this.#issuer.issue(request, decided, caps, decided.by, nowMs);
    if (!issued.ok) return issued;
    const plan = finished(issued.value);
    this.#init.onIssued?.(plan, request, decided, nowMs);
    if (plan.decision === 'chain')
      this.#init.registry.notePromised(plan.chain, promisedTo(address, decided), nowMs);
    const asked = target === undefined ? undefined : `${address} ${target}`;
    this.#cache.set(key, plan, { chars: charsOf(plan), wholes: plan.wholes, use }, nowMs, asked);
    return ok(plan);
  }

  /**
   * What this client last got for the same thing, where it comes for more of it and its ticket is still good:
   * all of that was charged then.
   */
  #paidBefore({ request, key }: Admitted, nowMs: number): IssuedPlan | undefined {
    const { isPart, clientAddress: address } = request;
    const plan = this.#cache.last(key)?.plan;
    if (!isPart || !plan || nowMs >= 1000 * (plan.endOfLifeSeconds ?? 0)) return undefined;
    return this.#standing.stands(plan, address, nowMs) ? plan : undefined;
  }

  /**
   * A chain from another entry depot than the client has left, where one would win; else from another than
   * the last one.
   */
  #decideElsewhere(
    request: DownloadRequest,
    left: readonly string[],
    known: KnownThen,
    nowMs: number,
  ): Result<Decided> | undefined {
    for (const entries of [left, left.slice(-1)]) {
      const avoid = [...(request.options.avoid ?? []), ...entries];
      const options = { ...request.options, avoid };
      const decided = this.#decide({ ...request, options }, undefined, known, nowMs);
      if (decided.ok && decided.value.route.decision === 'chain') return decided;
    }
    return undefined;
  }

  #answer(request: DownloadRequest, decided: Decided, plan: IssuedPlan, nowMs: number): PlanAnswer {
    const { publicUrl, evidence, registry } = this.#init;
    const origin = this.#chooser.originOf(request);
    const ends = { client: request.clientAddress, origin };
    return answerOf(request, decided, plan, {
      publicUrl: publicUrl(),
      origin,
      evidence: (to, from) => evidence?.(ends, to, from, nowMs),
      baseUrlOf: (id) => {
        const depot = registry.view(id, nowMs);
        return depot && depotBaseUrl(depot);
      },
      nowMs,
    });
  }

  #decide(
    request: DownloadRequest,
    given: IssuedPlan | undefined,
    known: KnownThen,
    nowMs: number,
  ): Result<Decided> {
    const { url, options, kind } = request;
    const size = estimateSize(request, this.#init.sizes, this.#init.config.planner.assumedSizeBytes);
    const client = this.#init.whereabouts.placeOfClient(request.clientAddress, nowMs);
    const planned = this.#chooser.choose(request, { size, client, given, ...known }, nowMs);
    if (!planned.ok) return planned;
    const { chain } = planned.value;
    const signalling = chooseSignalling({ wanted: options.signalling, kind, url, chain });
    // Step by step a client is led from depot to depot, each by its own name; a tunnel is one connection anyway.
    const mayBeGroups = kind === 'get' && signalling.ticketKind === 'get';
    const named = mayBeGroups ? this.#groupRoutes.groupOf(chain[0], nowMs) : undefined;
    const group = named?.tls === false && this.#chooser.needsTlsEntry(request) ? undefined : named;
    if (!group) return ok({ size, client, route: planned.value, signalling, group });
    const query = this.#chooser.rerouteQuery(request, { size, client }, nowMs);
    const route = this.#groupRoutes.fromAllOf(group, planned.value, query, nowMs);
    return ok({ size, client, route, signalling, group });
  }

  /**
   * Has measured where a download is asked for, and where its bytes come from, if several depots say where
   * that is: none alone has others knock where it likes. That the list of origins does not name it says
   * nothing, as with redirects.
   */
  #wantProbes(request: DownloadRequest, nowMs: number): void {
    const { policy, probes } = this.#init;
    const { url, clientAddress: address } = request;
    probes.want(url, address, nowMs);
    const led = this.#chooser.ledTo(request);
    if (led?.isAgreed && policy.checkTarget(led).ok) probes.want(led, address, nowMs);
  }
}
