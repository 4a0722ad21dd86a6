import {
  depotBaseUrl,
  directLocation,
  formatOriginRelayTarget,
  GIB,
  type OriginUrl,
  ok,
  originHref,
  type Result,
  type TicketKind,
} from '@longhaul/shared';
import type { EntryGroupConfig } from '../../config.ts';
import type { RateCaps } from '../../policy/rate-caps.ts';
import type { IssuedTicket, TicketIssuer } from '../../tickets/ticket-issuer.ts';
import type { Decided, DepotPlace, DownloadRequest, IssuedPlan } from './issued-plan.ts';
import type { SizeEstimate } from './size-estimate.ts';
import type { SizeMemory } from './size-memory.ts';

/**
 * Whole files by one ticket of a large one: so many download managers, of 16 connections each, are what a
 * depot takes of a job (`limits.perJob`).
 */
const WHOLES_OF_LARGE = 4;
/** A larger file takes longer at 100 Mbit/s than its plan is kept: all that begin with that run beside each other. */
const LARGE_BYTES = GIB;

interface PlanIssuerInit {
  readonly registry: { readonly record: (id: string) => DepotPlace | undefined };
  readonly sizes: Pick<SizeMemory, 'noteTicket'>;
  readonly tickets: TicketIssuer;
}

/**
 * For how many whole files a ticket is good: depots count what all who have it fetch together, and one file's
 * bytes stay for breaks and resumes. Of a size that nobody knows no count of bytes is sure. Whom budgets are
 * charged to has paid all for it, and could have no second one.
 */
function wholesOf({ mostBytes, source }: SizeEstimate, budgetBytes: number, isCharged: boolean): number {
  const wholes = Math.max(1, Math.floor(budgetBytes / mostBytes) - 1);
  const isLarge = source === 'assumed' ? !isCharged : mostBytes > LARGE_BYTES;
  return isLarge ? Math.min(wholes, WHOLES_OF_LARGE) : wholes;
}

/** Makes plans of what was decided: job, ticket, and where the client is sent. */
export class PlanIssuer {
  readonly #init: PlanIssuerInit;

  constructor(init: PlanIssuerInit) {
    this.#init = init;
  }

  /** A ticket for what was decided, its budget charged to the client where `caps` says so. */
  issue(
    request: DownloadRequest,
    { size, route, signalling, group }: Decided,
    caps: RateCaps | undefined,
    then: Pick<IssuedPlan, 'upDepots' | 'known' | 'left'>,
    nowMs: number,
  ): Result<IssuedPlan> {
    const { url, kind, clientAddress: address } = request;
    const { tickets } = this.#init;
    const isChain = route.decision === 'chain';
    const isForTunnel = kind === 'tunnel';
    const knownBytes = size.source === 'assumed' ? undefined : size.mostBytes;
    const isCharged = caps !== undefined;
    // Whom the caps charge pays by the size: an unknown one takes all of his hour, and would for each file
    // that is known.
    const wantedBytes = tickets.wantedBudgetBytes(kind, knownBytes, !isCharged);
    // What is charged is the ticket's budget: the size is only what the client says.
    const budget =
      caps && isChain
        ? caps.takeBudget(address, { plannedBytes: size.sizeBytes, wantedBytes, isForTunnel }, nowMs)
        : ok(wantedBytes);
    if (!budget.ok) return budget;
    const jobId = tickets.newJobId();
    const issued = isChain
      ? this.#ticketFor(url, { route, group }, signalling.ticketKind, jobId, budget.value, nowMs)
      : undefined;
    const ticket = issued?.ticket ?? '';
    const named = new Map<string, DepotPlace>();
    const atDepot = (id: string | undefined) => {
      const place = this.#placeOf(id ?? '');
      const byName = group?.depots.includes(place.id) ? group : undefined;
      if (!byName) named.set(place.id, place);
      return locationAt(byName ?? place, ticket, url, kind);
    };
    const first = isChain ? atDepot(signalling.firstDepot) : directLocation(url);
    const elsewhere = route.alternatives.map(([entry]) => entry).filter((entry) => entry !== route.chain[0]);
    const locations = kind === 'get' ? new Set(elsewhere.map(atDepot)) : new Set<string>();
    const others = [...locations].filter((location) => location !== first);
    const isCounted = isChain && !isForTunnel;
    // A name of a group leads to any of its depots.
    const isAwaited = issued?.claims.kind === 'get' && !group;
    return ok({
      jobId,
      decision: route.decision,
      chain: route.chain,
      isAsked: route.decisionReason === 'chain-asked',
      isToLearn: route.decisionReason === 'to-learn',
      alternatives: route.alternatives,
      lanes: route.lanes,
      location: first,
      places: [...named.values()],
      ...(group ? { group: group.id } : {}),
      ...(isAwaited ? { aheadTicket: ticket } : {}),
      kind,
      host: url.host,
      port: url.port,
      wholes: isCounted ? wholesOf(size, budget.value, isCharged) : Number.POSITIVE_INFINITY,
      ...then,
      duplicates: isChain ? [...others, originHref(url)] : [],
      lastStartSeconds: tickets.lastStart(Math.floor(nowMs / 1000)),
      ...(issued ? { endOfLifeSeconds: issued.claims.endOfLife } : {}),
      ...(issued && isForTunnel ? { proxyTicket: { text: ticket, endOfLife: issued.claims.endOfLife } } : {}),
    });
  }

  #ticketFor(
    url: OriginUrl,
    { route, group }: Pick<Decided, 'route' | 'group'>,
    kind: TicketKind,
    jobId: string,
    budgetBytes: number,
    nowMs: number,
  ): IssuedTicket {
    const chains = [route.chain, ...route.alternatives];
    const { promises, lanes } = route;
    const order = { jobId, kind, url, chains, promises, group: group?.id, lanes, budgetBytes };
    const issued = this.#init.tickets.issue(order, Math.floor(nowMs / 1000));
    this.#init.sizes.noteTicket(issued.claims.urlHash, issued.claims.chains, nowMs);
    return issued;
  }

  #placeOf(id: string): DepotPlace {
    const depot = this.#init.registry.record(id);
    if (!depot) throw new Error(`the plan names ${id}, which is not registered`);
    const { host, port, tls } = depot;
    return { id, host, port, tls };
  }
}

/**
 * The address of a download at its first depot, or at the group that its ticket is for; for a tunnel, the
 * depot itself, which is used as proxy.
 */
function locationAt(
  place: DepotPlace | EntryGroupConfig,
  ticket: string,
  url: OriginUrl,
  kind: TicketKind,
): string {
  const base = depotBaseUrl(place);
  return kind === 'get' ? `${base}${formatOriginRelayTarget(ticket, url)}` : base;
}
