import {
  type Chain,
  clientAddress,
  DIRECT_FRAGMENT,
  depotBaseUrl,
  formatBytes,
  formatGetPath,
  formatOriginRelayTarget,
  type GetOptions,
  MAX_ALTERNATIVES,
  type OriginUrl,
  ok,
  originHref,
  type PlanAnswer,
  type Result,
  refuse,
  type TicketKind,
} from '@longhaul/shared';
import type { EntryGroupConfig, MasterConfig } from '../config.ts';
import type { DownloadPolicy } from '../policy/download-policy.ts';
import type { RateCaps } from '../policy/rate-caps.ts';
import type { Place, Whereabouts } from '../prefixes/whereabouts.ts';
import type { EntryGroups } from '../tickets/entry-groups.ts';
import { type TicketIssuer, urlHashOf } from '../tickets/ticket-issuer.ts';
import type { PlanningDepot } from './chain-search.ts';
import { chooseSignalling } from './choose-signalling.ts';
import { PlanCache, type PlanKey, SAME_PLAN_MS } from './plan-cache.ts';
import type { Planner, Route } from './planner.ts';
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
  /** How often one of them fails. */
  readonly failuresPerSecond: number;
}

interface PlanServiceInit {
  readonly config: Pick<MasterConfig, 'planner'>;
  readonly policy: DownloadPolicy;
  readonly planner: Planner;
  readonly registry: KnownDepots;
  readonly sizes: SizeMemory;
  readonly tickets: TicketIssuer;
  readonly groups: EntryGroups;
  readonly whereabouts: Whereabouts;
  readonly publicUrl: () => string;
  /** What each client may have; left out where that is not bounded. */
  readonly caps: RateCaps | undefined;
  /** Told of an entry depot whose client has come back for the rest of its file. */
  readonly onCameBack: (entry: string) => void;
}

export interface DownloadRequest {
  /** What was asked for, letter by letter, where that alone says which plan it is. */
  readonly target?: string;
  readonly url: OriginUrl;
  readonly options: GetOptions;
  readonly kind: TicketKind;
  readonly clientAddress: string;
  /** Whether the client has a beginning of the file, and wants all the rest. */
  readonly isResume?: boolean;
}

/** A plan as it is given out. */
export interface IssuedPlan {
  readonly jobId: string;
  readonly decision: Route['decision'];
  readonly chain: Chain;
  readonly alternatives: readonly Chain[];
  readonly lanes: number;
  /** Where the client is sent. */
  readonly location: string;
  /** The host that the file is from. */
  readonly host: string;
  /** The depots that were up when it was made. */
  readonly upDepots: string;
  /** Where else the same bytes are, best first: entry depots of alternatives, then the origin. */
  readonly duplicates: readonly string[];
  /** When its ticket's time to start ends, in seconds of the epoch. */
  readonly lastStartSeconds: number;
  /** The ticket of a tunnel, which is no part of its location. */
  readonly proxyTicket?: string;
  /** Entry depots that the client has come back from before it got this plan, the last one last. */
  readonly left: readonly string[];
  /** All that speaks for it, once somebody has asked. */
  readonly answer?: PlanAnswer;
}

/** The depots that were up at a moment. */
interface UpDepots {
  readonly ids: string;
  readonly atMs: number;
}

/** Depots of a group beside the entry depot that get chains of their own in a ticket; further ones ask the master when a client comes. */
const MOST_MEMBER_CHAINS = 2;
/** A client that asks again sooner has lost nothing: download managers begin all their connections within a second. */
const COMES_BACK_AFTER_MS = 1_000;
/** Entry depots that a client is not led back to: more than that have not failed together. */
const MOST_LEFT = 3;
/** Which depots are up is looked at so often, and whenever one is heard of: each look goes through all of them. */
const UP_FOR_MS = 100;

interface SizeEstimate {
  readonly sizeBytes: number;
  readonly source: PlanAnswer['sizeSource'];
  /** Whether a depot has told of the file. */
  readonly fileSeen: boolean;
  /** Whether no part of it can be asked for. */
  readonly isWholeOnly: boolean;
}

/** What a plan is made of, beside the request. */
interface Decided {
  readonly size: SizeEstimate;
  readonly client: Place;
  readonly route: Route;
  readonly signalling: ReturnType<typeof chooseSignalling>;
  /** The entry group that the client is led to; `undefined`: to the entry depot itself. */
  readonly group: EntryGroupConfig | undefined;
}

/** From a download request to a plan with its ticket: policy, size, route, ticket. */
export class PlanService {
  readonly #init: PlanServiceInit;
  readonly #cache = new PlanCache<IssuedPlan>();
  #up: UpDepots = { ids: '', atMs: Number.NEGATIVE_INFINITY };

  constructor(init: PlanServiceInit) {
    this.#init = init;
  }

  /**
   * Plans a download. Requests of one client for the same thing within a minute get the same plan, as long as
   * its depots are up. Refuses what policy, caps and options refuse.
   */
  plan(request: DownloadRequest, nowMs: number): Result<IssuedPlan> {
    return this.#plan(request, nowMs, false);
  }

  /**
   * Plans as well, and says all that speaks for the plan. One that was given without is decided again, and stays the same plan
   * as long as the decision is the same.
   */
  explain(request: DownloadRequest, nowMs: number): Result<PlanAnswer> {
    const plan = this.#plan(request, nowMs, true);
    if (!plan.ok) return plan;
    if (!plan.value.answer) throw new Error('a plan that was to be explained is not');
    return ok(plan.value.answer);
  }

  /** The plan that this client got for exactly this target, if it still holds: nothing else is looked at again. */
  again(address: string, target: string, nowMs: number): IssuedPlan | undefined {
    const kept = this.#cache.getAsked(`${address} ${target}`, nowMs);
    return kept && this.#stillHolds(kept, nowMs) ? kept : undefined;
  }

  /** Looks again which depots are up, the next time that it matters: one of them has changed. */
  noteDepots(): void {
    this.#up = { ids: '', atMs: Number.NEGATIVE_INFINITY };
  }

  #plan(request: DownloadRequest, nowMs: number, isExplained: boolean): Result<IssuedPlan> {
    const { policy, config } = this.#init;
    const { url, options, kind, clientAddress: address, target } = request;
    const admission = policy.admit(url, address);
    if (!admission.ok) return admission;
    const isChosen = Boolean(options.via?.length) || options.lanes !== undefined;
    if (isChosen && !config.planner.allowVia) return refuse('via-not-allowed');
    const key = { client: clientAddress(address), url, options, kind };
    const kept = this.#cache.get(key, nowMs);
    const left = request.isResume ? this.#leftEntries(key, nowMs) : [];
    const held = kept && left.length === 0 && this.#stillHolds(kept, nowMs) ? kept : undefined;
    if (held && (held.answer || !isExplained)) return ok(held);
    const caps = admission.value.metered ? this.#init.caps : undefined;
    const share = caps?.takePlan(address, nowMs);
    if (share && !share.ok) return share;
    const elsewhere = left.length === 0 ? undefined : this.#decideElsewhere(request, left, nowMs);
    const decided = elsewhere ?? this.#decide(request, nowMs);
    if (!decided.ok) return decided;
    const explained = (plan: IssuedPlan) =>
      isExplained ? { ...plan, answer: this.#answer(request, decided.value, plan) } : plan;
    if (held && isSameWay(held, decided.value.route)) return ok(explained(held));
    const issued = this.#issue(request, decided.value, caps, nowMs);
    if (!issued.ok) return issued;
    const plan = explained({ ...issued.value, left });
    const asked = target === undefined ? undefined : `${address} ${target}`;
    this.#cache.set(key, plan, nowMs, charsOf(plan), asked);
    return ok(plan);
  }

  /**
   * The entry depots that a client comes back from, which had one for the same thing; none where it only asks once more. The last one is
   * looked after.
   */
  #leftEntries(key: PlanKey, nowMs: number): readonly string[] {
    const last = this.#cache.last(key);
    const [entry] = last?.plan.chain ?? [];
    if (!last || entry === undefined || key.options.via?.length) return [];
    const agoMs = Math.abs(nowMs - last.madeAtMs);
    if (agoMs < COMES_BACK_AFTER_MS) return [];
    this.#init.onCameBack(entry);
    const before = agoMs < SAME_PLAN_MS ? last.plan.left.filter((id) => id !== entry) : [];
    return [...before, entry].slice(-MOST_LEFT);
  }

  /** A chain from another entry depot than the client has left, where one would win; else from another than the last one. */
  #decideElsewhere(
    request: DownloadRequest,
    left: readonly string[],
    nowMs: number,
  ): Result<Decided> | undefined {
    for (const entries of [left, left.slice(-1)]) {
      const avoid = [...(request.options.avoid ?? []), ...entries];
      const decided = this.#decide({ ...request, options: { ...request.options, avoid } }, nowMs);
      if (decided.ok && decided.value.route.decision === 'chain') return decided;
    }
    return undefined;
  }

  #decide(request: DownloadRequest, nowMs: number): Result<Decided> {
    const { url, options, kind } = request;
    const size = this.#sizeOf(url, options);
    const client = this.#init.whereabouts.placeOf(request.clientAddress, nowMs, true);
    const planned = this.#route(request, size, client, nowMs);
    if (!planned.ok) return planned;
    const signalling = chooseSignalling({
      wanted: options.signalling,
      kind,
      url,
      chain: planned.value.chain,
    });
    // Step by step a client is led from depot to depot, each by its own name; a tunnel is one connection anyway.
    const mayBeGroups = kind === 'get' && signalling.ticketKind === 'get';
    const group = mayBeGroups ? this.#groupOf(planned.value.chain[0], nowMs) : undefined;
    const route = group ? this.#fromAllOf(group, planned.value, request, size, nowMs) : planned.value;
    return ok({ size, client, route, signalling, group });
  }

  #route(
    { url, options, kind }: DownloadRequest,
    { sizeBytes, source, isWholeOnly }: SizeEstimate,
    client: Place,
    nowMs: number,
  ): Result<Route> {
    const { planner, registry } = this.#init;
    // Lanes are the entry depot's ranges, and it does not see into a tunnel.
    const lanes = kind === 'tunnel' ? { lanes: 1 } : {};
    const isSizeAssumed = source === 'assumed';
    const breaks = isWholeOnly ? { depotBreaksPerSecond: registry.failuresPerSecond } : {};
    const originTls = url.scheme === 'https';
    const query = { ...options, ...lanes, ...breaks, sizeBytes, isSizeAssumed, originTls, client };
    return planner.plan(query, registry.views(nowMs), nowMs);
  }

  #groupOf(entry: string | undefined, nowMs: number): EntryGroupConfig | undefined {
    const { groups, registry } = this.#init;
    return entry === undefined ? undefined : groups.of(registry.view(entry, nowMs));
  }

  /** The route with chains from other depots of its group beside it, so that each has one of its own. */
  #fromAllOf(
    group: EntryGroupConfig,
    route: Route,
    { url }: DownloadRequest,
    { sizeBytes }: SizeEstimate,
    nowMs: number,
  ): Route {
    const { planner, registry } = this.#init;
    const isThere = (id: string) => [route.chain, ...route.alternatives].some(([entry]) => entry === id);
    const others = group.depots.filter((id) => {
      const depot = registry.view(id, nowMs);
      return !isThere(id) && depot?.state === 'up' && this.#init.groups.of(depot) === group;
    });
    const query = { sizeBytes, originTls: url.scheme === 'https', avoid: [], lanes: route.lanes };
    const added = others.slice(0, MOST_MEMBER_CHAINS).flatMap((entry) => {
      const planned = planner.reroute({ ...query, entry }, registry.views(nowMs), nowMs);
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

  /** A ticket for what was decided, its budget charged to the client where `caps` says so. */
  #issue(
    request: DownloadRequest,
    { size, route, signalling, group }: Decided,
    caps: RateCaps | undefined,
    nowMs: number,
  ): Result<Omit<IssuedPlan, 'left'>> {
    const { url, kind, clientAddress: address } = request;
    const { tickets } = this.#init;
    const isChain = route.decision === 'chain';
    const wantedBytes = tickets.wantedBudgetBytes(size.source === 'assumed' ? undefined : size.sizeBytes);
    // What is charged is the ticket's budget: the size is only what the client says.
    const budget =
      caps && isChain
        ? caps.takeBudget(address, { plannedBytes: size.sizeBytes, wantedBytes }, nowMs)
        : ok(wantedBytes);
    if (!budget.ok) return budget;
    const jobId = tickets.newJobId();
    const ticket = isChain
      ? this.#ticketFor(url, { route, group }, signalling.ticketKind, jobId, budget.value, nowMs)
      : '';
    const atDepot = (id: string | undefined) => this.#locationAt(id ?? '', group, ticket, url, kind, nowMs);
    const first = isChain ? atDepot(signalling.firstDepot) : `${originHref(url)}${DIRECT_FRAGMENT}`;
    const elsewhere = route.alternatives.map(([entry]) => entry).filter((entry) => entry !== route.chain[0]);
    const places = kind === 'get' ? new Set(elsewhere.map(atDepot)) : new Set<string>();
    const others = [...places].filter((place) => place !== first);
    return ok({
      jobId,
      decision: route.decision,
      chain: route.chain,
      alternatives: route.alternatives,
      lanes: route.lanes,
      location: first,
      host: url.host,
      upDepots: this.#upDepots(nowMs),
      duplicates: isChain ? [...others, originHref(url)] : [],
      lastStartSeconds: tickets.lastStart(Math.floor(nowMs / 1000)),
      ...(isChain && kind === 'tunnel' ? { proxyTicket: ticket } : {}),
    });
  }

  #ticketFor(
    url: OriginUrl,
    { route, group }: Pick<Decided, 'route' | 'group'>,
    kind: TicketKind,
    jobId: string,
    budgetBytes: number,
    nowMs: number,
  ): string {
    const chains = [route.chain, ...route.alternatives];
    const { promises, lanes } = route;
    const order = { jobId, kind, url, chains, promises, group: group?.id, lanes, budgetBytes };
    const { ticket, claims } = this.#init.tickets.issue(order, Math.floor(nowMs / 1000));
    this.#init.sizes.noteTicket(claims.urlHash, claims.chains, nowMs);
    return ticket;
  }

  #answer(
    { url, options }: DownloadRequest,
    { size, client, route, signalling, group }: Decided,
    { jobId, location, lastStartSeconds, proxyTicket }: IssuedPlan,
  ): PlanAnswer {
    return {
      jobId,
      url: originHref(url),
      decision: route.decision,
      decisionReason: route.decisionReason,
      location,
      masterUrl: `${this.#init.publicUrl()}${formatGetPath(url, options)}`,
      chain: [...route.chain],
      alternatives: route.alternatives.map((chain) => [...chain]),
      lanes: route.lanes,
      sizeBytes: size.sizeBytes,
      sizeSource: size.source,
      fileSeen: size.fileSeen,
      prediction: route.prediction,
      direct: route.direct,
      reasons: [
        describeSize(size),
        ...describePlace(client),
        ...(size.isWholeOnly ? [WHOLE_ONLY] : []),
        ...route.reasons,
        ...signalling.reasons,
        ...(group ? [`Each depot of ${group.host} takes it: ${group.depots.join(', ')}.`] : []),
      ],
      startBefore: new Date(lastStartSeconds * 1000).toISOString(),
      ...(proxyTicket === undefined ? {} : { ticket: proxyTicket }),
    };
  }

  /** The address of a download at its first depot, or at the group that its ticket is for; for a tunnel, the depot itself, which is used as proxy. */
  #locationAt(
    id: string,
    group: EntryGroupConfig | undefined,
    ticket: string,
    url: OriginUrl,
    kind: TicketKind,
    nowMs: number,
  ): string {
    const depot = this.#init.registry.view(id, nowMs);
    if (!depot) throw new Error(`the plan names ${id}, which is not registered`);
    const base = depotBaseUrl(group?.depots.includes(id) ? group : depot);
    return kind === 'get' ? `${base}${formatOriginRelayTarget(ticket, url)}` : base;
  }

  #sizeOf(url: OriginUrl, options: GetOptions): SizeEstimate {
    const urlHash = urlHashOf(url);
    const reported = this.#init.sizes.recall(urlHash);
    const fileSeen = reported !== undefined;
    const seen = { fileSeen, isWholeOnly: this.#init.sizes.isWholeOnly(urlHash) };
    if (options.sizeBytes !== undefined) return { sizeBytes: options.sizeBytes, source: 'option', ...seen };
    if (fileSeen) return { sizeBytes: reported, source: 'reported', ...seen };
    return { sizeBytes: this.#init.config.planner.assumedSizeBytes, source: 'assumed', ...seen };
  }

  // A direct answer holds only as long as the same depots are up: with another one there may be a chain.
  #stillHolds({ decision, chain, upDepots }: IssuedPlan, nowMs: number): boolean {
    const { registry } = this.#init;
    if (decision === 'direct') return upDepots === this.#upDepots(nowMs);
    return chain.every((id) => registry.view(id, nowMs)?.state === 'up');
  }

  #upDepots(nowMs: number): string {
    if (Math.abs(nowMs - this.#up.atMs) >= UP_FOR_MS) {
      const up = this.#init.registry.views(nowMs).filter((depot) => depot.state === 'up');
      this.#up = { ids: up.map((depot) => depot.id).join(), atMs: nowMs };
    }
    return this.#up.ids;
  }
}

function isSameWay(plan: IssuedPlan, route: Route): boolean {
  const wayOf = ({ decision, chain, alternatives, lanes }: IssuedPlan | Route) =>
    JSON.stringify([decision, chain, alternatives, lanes]);
  return wayOf(plan) === wayOf(route);
}

/** How long what is kept of a plan is: about what its parts are. */
function charsOf({ location, duplicates, answer }: IssuedPlan): number {
  const links = duplicates.reduce((sum, { length }) => sum + length, location.length);
  return links + (answer ? JSON.stringify(answer).length : 0);
}

const WHOLE_ONLY =
  'Its origin gives no parts of it: a chain that breaks fetches everything again, and how often depots fail is counted.';

/** Nothing where nothing but the question itself tells where the client is: that is so without any table. */
function describePlace({ site }: Place): string[] {
  if (!site || site.rule === 'asked') return [];
  return [`The client counts as one of the site ${site.name}, ${SITE_RULE_WORDS[site.rule]}.`];
}

const SITE_RULE_WORDS = {
  coverage: 'as the operator says of its network',
  measured: 'as measurements say of its network',
  'as-coverage': 'as the operator says of its autonomous system',
};

function describeSize({ sizeBytes, source }: SizeEstimate): string {
  const size = formatBytes(sizeBytes);
  if (source === 'option') return `Size ${size}, as the request says.`;
  if (source === 'reported') return `Size ${size}, as a depot last saw the file.`;
  return `Size ${size} is assumed: no depot has told this master of the file.`;
}
