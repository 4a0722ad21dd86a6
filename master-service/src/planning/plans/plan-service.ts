import {
  type Chain,
  clientAddress,
  clientPrefix,
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
import { PlanCache, planKey, SAME_PLAN_MS } from './plan-cache.ts';
import { PlanIssuer } from './plan-issuer.ts';
import { type PromisedDownload, promisedTo } from './promised-download.ts';
import { type Asked, RouteChooser } from './route-chooser.ts';
import { estimateSize } from './size-estimate.ts';
import type { SizeMemory } from './size-memory.ts';

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

/** The depots that were up at a moment. */
interface UpDepots {
  readonly ids: string;
  readonly count: number;
  readonly atMs: number;
}

/**
 * A client that comes sooner after it was told its way has lost nothing: download managers begin all their
 * connections within a second.
 */
const COMES_BACK_AFTER_MS = 1_000;
/**
 * Whoever asks for a plan proves its way before it comes for it: the add-on takes up to its deadline of some
 * seconds, twice.
 */
const COMES_FOR_IT_MS = 15_000;
/** Entry depots that a client is not led back to: more than that have not failed together. */
const MOST_LEFT = 3;
/** Which depots are up is looked at so often, and whenever one is heard of: each look goes through all of them. */
const UP_FOR_MS = 100;
/**
 * So few depots change seldom, and plans over them are cheap: decisions are made anew whenever one of them is
 * heard.
 */
const FEW_DEPOTS = 64;

/** From a download request to a plan with its ticket: policy, size, route, ticket. */
export class PlanService {
  readonly #init: PlanServiceInit;
  readonly #issuer: PlanIssuer;
  readonly #chooser: RouteChooser;
  readonly #groupRoutes: GroupRoutes;
  readonly #cache = new PlanCache<IssuedPlan>();
  #up: UpDepots = { ids: '', count: 0, atMs: Number.NEGATIVE_INFINITY };

  constructor(init: PlanServiceInit) {
    this.#init = init;
    this.#issuer = new PlanIssuer(init);
    this.#chooser = new RouteChooser(init);
    this.#groupRoutes = new GroupRoutes(init);
  }

  /**
   * Plans a download. Requests of one client for the same thing within a minute get the same plan, as long as
   * its ticket is good for so many whole files and its depots are up, where it says. Refuses what policy,
   * caps and options refuse.
   */
  plan(request: DownloadRequest, nowMs: number): Result<IssuedPlan> {
    return this.#plan(request, nowMs, false);
  }

  /**
   * Plans as well, and says all that speaks for the plan. One that was given without is decided again, and
   * stays the same plan as long as the decision is the same.
   */
  explain(request: DownloadRequest, nowMs: number): Result<PlanAnswer> {
    const plan = this.#plan(request, nowMs, true);
    if (!plan.ok) return plan;
    if (!plan.value.answer) throw new Error('a plan that was to be explained is not');
    return ok(plan.value.answer);
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
    return kept && this.#stillHolds(kept, address, nowMs) ? kept : undefined;
  }

  /** Looks again which depots are up, the next time that it matters: one of them has changed. */
  noteDepots(): void {
    this.#up = { ...this.#up, atMs: Number.NEGATIVE_INFINITY };
    this.noteLinks();
  }

  /** Decides again what was decided lately: more is known of a link, or of a depot. */
  noteLinks(): void {
    // Of a large overlay something changes all the time, and what was decided is good for a second.
    if (this.#up.count <= FEW_DEPOTS) this.#chooser.noteChange();
  }

  #plan(request: DownloadRequest, nowMs: number, isExplained: boolean): Result<IssuedPlan> {
    const { policy, config } = this.#init;
    const { url, options, kind, clientAddress: address, target } = request;
    const admission = policy.admit(url, address);
    if (!admission.ok) return admission;
    const isChosen = Boolean(options.via?.length) || options.lanes !== undefined;
    if (isChosen && !config.planner.allowVia) return refuse('via-not-allowed');
    const key = planKey({ client: clientAddress(address), url, options, kind });
    const use = isExplained ? 'told' : request.isPart ? 'part' : 'whole';
    const kept = this.#cache.get(key, use, nowMs);
    const left = request.isResume ? this.#leftEntries(key, request, nowMs) : [];
    const held = kept && left.length === 0 && this.#stillHolds(kept, address, nowMs) ? kept : undefined;
    if (isExplained && held) this.#cache.noteTold(key, nowMs);
    else if (!isExplained) this.#cache.noteCame(key, nowMs);
    if (held && (held.answer || !isExplained)) return ok(held);
    const caps = admission.value.metered ? this.#init.caps : undefined;
    const share = caps?.takePlan(address, nowMs);
    if (share && !share.ok) return share;
    this.#wantProbes(request, nowMs);
    const known = this.#knownNow(request, nowMs);
    const elsewhere = left.length === 0 ? undefined : this.#decideElsewhere(request, left, known, nowMs);
    const decided = elsewhere ?? this.#decide(request, held, known, nowMs);
    if (!decided.ok) return decided;
    const explained = (plan: IssuedPlan) =>
      isExplained ? { ...plan, answer: this.#answer(request, decided.value, plan, nowMs) } : plan;
    if (held && isSameWay(held, decided.value.route)) return ok(explained(held));
    const issued = this.#issuer.issue(request, decided.value, caps, { ...known, left }, nowMs);
    if (!issued.ok) {
      const before = issued.error.code === 'rate-limited' ? this.#paidBefore(key, request, nowMs) : undefined;
      return before ? ok(before) : issued;
    }
    const plan = explained(issued.value);
    this.#init.onIssued?.(plan, request, decided.value, nowMs);
    if (plan.decision === 'chain')
      this.#init.registry.notePromised(plan.chain, promisedTo(address, decided.value), nowMs);
    const asked = target === undefined ? undefined : `${address} ${target}`;
    this.#cache.set(key, plan, { chars: charsOf(plan), wholes: plan.wholes, use }, nowMs, asked);
    if (isExplained) this.#cache.noteTold(key, nowMs);
    return ok(plan);
  }

  /**
   * The entry depots that a client comes back from, which had one for the same thing; none where it only asks
   * once more. The last one is looked after.
   */
  #leftEntries(key: string, { options }: DownloadRequest, nowMs: number): readonly string[] {
    const last = this.#cache.last(key);
    const [entry] = last?.plan.chain ?? [];
    if (!last || entry === undefined || options.via?.length) return [];
    const isLed = Math.abs(nowMs - last.toldAtMs) < (last.isAwaited ? COMES_FOR_IT_MS : COMES_BACK_AFTER_MS);
    if (isLed) return [];
    this.#init.onCameBack(entry);
    const agoMs = Math.abs(nowMs - last.madeAtMs);
    const before = agoMs < SAME_PLAN_MS ? last.plan.left.filter((id) => id !== entry) : [];
    return [...before, entry].slice(-MOST_LEFT);
  }

  /**
   * What this client last got for the same thing, where it comes for more of it and its ticket is still good:
   * all of that was charged then.
   */
  #paidBefore(
    key: string,
    { isPart, clientAddress: address }: DownloadRequest,
    nowMs: number,
  ): IssuedPlan | undefined {
    const plan = this.#cache.last(key)?.plan;
    if (!isPart || !plan || nowMs >= 1000 * (plan.endOfLifeSeconds ?? 0)) return undefined;
    return this.#stillHolds(plan, address, nowMs) ? plan : undefined;
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
    const client = this.#init.whereabouts.placeOf(request.clientAddress, nowMs, true);
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

  // A direct answer holds only as long as the same depots are up: with another one, or when more is measured
  // of its ends, there may be a chain.
  #stillHolds(plan: IssuedPlan, address: string, nowMs: number): boolean {
    const { decision, chain, upDepots, known, kind, host, port, isAsked } = plan;
    const asked = { url: { host, port }, clientAddress: address, kind };
    const { registry, wishes, unreached } = this.#init;
    if (decision === 'chain' && !isAsked && wishes && !wishes.isEmpty) {
      const network = clientPrefix(address);
      if (wishes.prefersDirect(network, host, nowMs)) return false;
      if (wishes.avoidedBy(network, nowMs).some((id) => chain.includes(id))) return false;
    }
    if (decision === 'direct') {
      const now = this.#knownNow(asked, nowMs);
      return upDepots === now.upDepots && known === now.known;
    }
    if (!isAsked && this.#chooser.notExits(asked, nowMs).has(chain.at(-1) ?? '')) return false;
    const isWhole = !unreached.breaks(chain, nowMs) && chain.every((id) => registry.isUp(id, nowMs));
    return isWhole && this.#leadsWhereDepotsAre(plan, nowMs);
  }

  /**
   * Whether the depots that a plan names are still where it says: a restart may bring one up elsewhere, or
   * out of its entry group.
   */
  #leadsWhereDepotsAre({ places, group, chain }: IssuedPlan, nowMs: number): boolean {
    if (group !== undefined && this.#groupRoutes.groupOf(chain[0], nowMs)?.id !== group) return false;
    return places.every(({ id, host, port, tls }) => {
      const now = this.#init.registry.record(id);
      return now?.host === host && now.port === port && now.tls === tls;
    });
  }

  /** What a plan for these ends is made by, so that it can be told later whether that has changed. */
  #knownNow(asked: Asked, nowMs: number): KnownThen {
    const { ends } = this.#init;
    const { host } = asked.url;
    const origin = this.#chooser.originOf(asked);
    const led = origin === host ? '' : ` ${origin} ${ends.stateOf({ origin })}`;
    const notExits = [...this.#chooser.notExits(asked, nowMs)].map((id) => ` -${id}`).join('');
    const known = `${ends.stateOf({ client: asked.clientAddress, origin: host })}${led}${notExits}`;
    return { upDepots: this.#upDepots(nowMs), known };
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

  #upDepots(nowMs: number): string {
    if (Math.abs(nowMs - this.#up.atMs) >= UP_FOR_MS) {
      const up = this.#init.registry.views(nowMs).filter((depot) => depot.state === 'up');
      this.#up = { ids: up.map((depot) => depot.id).join(), count: up.length, atMs: nowMs };
    }
    return this.#up.ids;
  }
}
