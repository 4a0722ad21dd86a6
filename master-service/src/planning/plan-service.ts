import {
  clientAddress,
  DIRECT_FRAGMENT,
  depotBaseUrl,
  formatBytes,
  formatGetPath,
  formatOriginRelayTarget,
  type GetOptions,
  type OriginUrl,
  ok,
  originHref,
  type PlanAnswer,
  type Result,
  refuse,
  type TicketKind,
} from '@longhaul/shared';
import type { MasterConfig } from '../config.ts';
import type { DownloadPolicy } from '../policy/download-policy.ts';
import type { RateCaps } from '../policy/rate-caps.ts';
import type { Place, Whereabouts } from '../prefixes/whereabouts.ts';
import { type TicketIssuer, urlHashOf } from '../tickets/ticket-issuer.ts';
import type { PlanningDepot } from './chain-search.ts';
import { chooseSignalling } from './choose-signalling.ts';
import { PlanCache } from './plan-cache.ts';
import type { Planner, Route } from './planner.ts';
import type { SizeMemory } from './size-memory.ts';

interface KnownDepot extends PlanningDepot {
  readonly host: string;
  readonly port: number;
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
  readonly whereabouts: Whereabouts;
  readonly publicUrl: () => string;
  /** What each client may have; left out where that is not bounded. */
  readonly caps: RateCaps | undefined;
}

export interface DownloadRequest {
  readonly url: OriginUrl;
  readonly options: GetOptions;
  readonly kind: TicketKind;
  readonly clientAddress: string;
}

/** A plan as it is given out. */
export interface IssuedPlan {
  readonly answer: PlanAnswer;
  /** The depots that were up when it was made. */
  readonly upDepots: string;
  /** Where else the same bytes are, best first: entry depots of alternatives, then the origin. */
  readonly duplicates: readonly string[];
}

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
  readonly budgetBytes: number;
}

/** From a download request to a plan with its ticket: policy, size, route, ticket. */
export class PlanService {
  readonly #init: PlanServiceInit;
  readonly #cache = new PlanCache<IssuedPlan>();

  constructor(init: PlanServiceInit) {
    this.#init = init;
  }

  /**
   * Plans a download. Requests of one client for the same thing within a minute get the same plan, as long as
   * its depots are up. Refuses what policy, caps and options refuse.
   */
  plan(request: DownloadRequest, nowMs: number): Result<IssuedPlan> {
    const { policy, config } = this.#init;
    const { url, options, kind, clientAddress: address } = request;
    const admission = policy.admit(url, address);
    if (!admission.ok) return admission;
    const isChosen = Boolean(options.via?.length) || options.lanes !== undefined;
    if (isChosen && !config.planner.allowVia) return refuse('via-not-allowed');
    const key = { client: clientAddress(address), url, options, kind };
    const cached = this.#cache.get(key, nowMs);
    if (cached && this.#stillHolds(cached, nowMs)) return ok(cached);
    const caps = admission.value.metered ? this.#init.caps : undefined;
    const share = caps?.takePlan(address, nowMs);
    if (share && !share.ok) return share;
    const size = this.#sizeOf(url, options);
    const client = this.#init.whereabouts.placeOf(address, nowMs, true);
    const route = this.#route(request, size, client, nowMs);
    if (!route.ok) return route;
    const wantedBytes = this.#init.tickets.wantedBudgetBytes(
      size.source === 'assumed' ? undefined : size.sizeBytes,
    );
    // What is charged is the ticket's budget: the size is only what the client says.
    const budget =
      caps && route.value.decision === 'chain'
        ? caps.takeBudget(address, { plannedBytes: size.sizeBytes, wantedBytes }, nowMs)
        : ok(wantedBytes);
    if (!budget.ok) return budget;
    const plan = this.#issue(request, { size, client, route: route.value, budgetBytes: budget.value }, nowMs);
    this.#cache.set(key, plan, nowMs);
    return ok(plan);
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

  #issue(
    { url, options, kind }: DownloadRequest,
    { size, client, route, budgetBytes }: Decided,
    nowMs: number,
  ): IssuedPlan {
    const { tickets, sizes, publicUrl } = this.#init;
    const jobId = tickets.newJobId();
    const isChain = route.decision === 'chain';
    const signalling = chooseSignalling({ wanted: options.signalling, kind, url, chain: route.chain });
    const { ticket, claims } = tickets.issue(
      {
        jobId,
        kind: signalling.ticketKind,
        url,
        chains: [route.chain, ...route.alternatives],
        promises: route.promises,
        lanes: route.lanes,
        budgetBytes,
      },
      Math.floor(nowMs / 1000),
    );
    sizes.noteTicket(claims.urlHash, claims.chains, nowMs);
    const atDepot = (id: string | undefined) => this.#locationAt(id ?? '', ticket, url, kind, nowMs);
    const elsewhere = route.alternatives.map(([entry]) => entry).filter((entry) => entry !== route.chain[0]);
    const answer: PlanAnswer = {
      jobId,
      url: originHref(url),
      decision: route.decision,
      decisionReason: route.decisionReason,
      location: isChain ? atDepot(signalling.firstDepot) : `${originHref(url)}${DIRECT_FRAGMENT}`,
      masterUrl: `${publicUrl()}${formatGetPath(url, options)}`,
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
      ],
      startBefore: new Date(claims.lastStart * 1000).toISOString(),
      ...(isChain && kind === 'tunnel' ? { ticket } : {}),
    };
    const others = kind === 'get' ? [...new Set(elsewhere)].map(atDepot) : [];
    return {
      answer,
      upDepots: this.#upDepots(nowMs),
      duplicates: isChain ? [...others, originHref(url)] : [],
    };
  }

  /** The address of a download at its first depot; for a tunnel, the depot itself, which is used as proxy. */
  #locationAt(id: string, ticket: string, url: OriginUrl, kind: TicketKind, nowMs: number): string {
    const depot = this.#init.registry.view(id, nowMs);
    if (!depot) throw new Error(`the plan names ${id}, which is not registered`);
    const base = depotBaseUrl(depot);
    return kind === 'get' ? `${base}${formatOriginRelayTarget(ticket, url)}` : base;
  }

  #sizeOf(url: OriginUrl, options: GetOptions): SizeEstimate {
    const reported = this.#init.sizes.recall(urlHashOf(url));
    const fileSeen = reported !== undefined;
    const seen = { fileSeen, isWholeOnly: this.#init.sizes.isWholeOnly(urlHashOf(url)) };
    if (options.sizeBytes !== undefined) return { sizeBytes: options.sizeBytes, source: 'option', ...seen };
    if (fileSeen) return { sizeBytes: reported, source: 'reported', ...seen };
    return { sizeBytes: this.#init.config.planner.assumedSizeBytes, source: 'assumed', ...seen };
  }

  // A direct answer holds only as long as the same depots are up: with another one there may be a chain.
  #stillHolds({ answer, upDepots }: IssuedPlan, nowMs: number): boolean {
    const { registry } = this.#init;
    if (answer.decision === 'direct') return upDepots === this.#upDepots(nowMs);
    return answer.chain.every((id) => registry.view(id, nowMs)?.state === 'up');
  }

  #upDepots(nowMs: number): string {
    const up = this.#init.registry.views(nowMs).filter((depot) => depot.state === 'up');
    return up.map((depot) => depot.id).join();
  }
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
