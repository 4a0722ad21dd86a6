import {
  type ChainPromise,
  type Directory,
  type FollowUpAnswer,
  type FollowUpRequest,
  type HeartbeatRequest,
  type LonghaulError,
  type OriginUrl,
  ok,
  parseHref,
  type RegisterRequest,
  type RequestStamp,
  type Result,
  refuse,
  type TicketClaims,
  type TrialAnswer,
} from '@longhaul/shared';
import { HourlyBudget, LruMap } from '@longhaul/shared/service';
import type { EnrolmentBook } from '../enrolment/enrolment-book.ts';
import type { EmitEvent } from '../events.ts';
import type { KnownMasters } from '../keys/known-masters.ts';
import type { ClientTable } from '../measuring/client-table.ts';
import type { IdleLinks } from '../measuring/idle-links.ts';
import type { OriginProbes } from '../measuring/origin-probes.ts';
import type { OriginTable } from '../measuring/origin-table.ts';
import type { LedHosts } from '../outcomes/led-hosts.ts';
import type { OutcomeBook } from '../outcomes/outcome-book.ts';
import type { Planner } from '../planning/decision/planner.ts';
import type { PromisedChains } from '../planning/decision/route.ts';
import type { LinkTable } from '../planning/links/link-table.ts';
import type { UnreachedOrigins } from '../planning/links/unreached-origins.ts';
import { originsOf, plannedHost } from '../planning/plans/led-to.ts';
import type { SizeMemory } from '../planning/plans/size-memory.ts';
import type { DownloadPolicy } from '../policy/download-policy.ts';
import type { EntryGroups } from '../tickets/entry-groups.ts';
import { type TicketIssuer, urlHashOf } from '../tickets/ticket-issuer.ts';
import type { AddressProver } from './address-prover.ts';
import type { DepotRegistry } from './depot-registry.ts';
import type { DownChecks } from './down-checks.ts';
import { FollowUpRoom } from './follow-up-room.ts';
import { JobAuthorities } from './job-authorities.ts';

/**
 * Revoked keys in each directory, the newest ones: depots remember them, and this master has none of their
 * owners in it anyway.
 */
const TOLD_REVOKED_KEYS = 100;
/** New addresses in an hour whose sizes a depot may tell because it has asked for a ticket to them. */
const SIZES_BY_FOLLOW_UPS = 300;
const MOST_SIZE_BUDGETS = 2_000;
/** Of a depot alone nobody has predicted anything. */
const NO_PROMISE = { rateBps: 0, worstRttMs: 0, worstLossRate: 0 } satisfies ChainPromise;

interface DepotServiceInit {
  readonly registry: DepotRegistry;
  readonly prover: AddressProver;
  readonly enrolment: Pick<EnrolmentBook, 'revokedKeys'>;
  readonly downChecks: Pick<DownChecks, 'suspect' | 'noteReached'>;
  readonly links: LinkTable;
  readonly sizes: SizeMemory;
  readonly policy: DownloadPolicy;
  readonly tickets: TicketIssuer;
  readonly planner: Planner;
  readonly assumedSizeBytes: number;
  readonly masters: KnownMasters;
  readonly groups: Pick<EntryGroups, 'with'>;
  readonly clients: Pick<ClientTable, 'report' | 'crowdedBps'>;
  readonly origins: Pick<OriginTable, 'report'>;
  readonly unreachedOrigins: Pick<UnreachedOrigins, 'note' | 'forgetFrom' | 'by'>;
  readonly idleLinks: Pick<IdleLinks, 'next' | 'noteSent'>;
  readonly outcomes: Pick<OutcomeBook, 'report' | 'isTrusted'>;
  readonly leads: Pick<LedHosts, 'noteFollowUp' | 'of'>;
  readonly probes: Pick<OriginProbes, 'next'>;
  readonly emit: EmitEvent;
}

/** What depots ask their master for, once their requests have been authenticated. */
export class DepotService {
  readonly #init: DepotServiceInit;
  readonly #authorities = new JobAuthorities();
  readonly #followUps = new FollowUpRoom();
  readonly #sizeBudgets = new LruMap<string, HourlyBudget>(MOST_SIZE_BUDGETS);

  constructor(init: DepotServiceInit) {
    this.#init = init;
  }

  /** Takes in a registration, which the depot's key has signed; waits until the depot was asked at its address. */
  async register(request: RegisterRequest, stamp: RequestStamp, nowMs: number): Promise<Result<Directory>> {
    const registered = await this.#init.registry.register(request, stamp, nowMs);
    if (!registered.ok) return registered;
    this.#init.emit({ type: 'depot-registered', depot: request.id });
    this.#init.links.unreached.forgetFrom(request.id, nowMs);
    this.#init.unreachedOrigins.forgetFrom(request.id, nowMs);
    await this.#init.prover.prove(request.id);
    return ok(this.#directory(request.id, nowMs));
  }

  /** What would come of a registration; nothing is changed. */
  async tryRegistration(request: RegisterRequest, nowMs: number): Promise<TrialAnswer> {
    const { registry, prover } = this.#init;
    const checked = registry.check(request, nowMs);
    if (!checked.ok) return { refusal: problemOf(checked.error) };
    const proved = await prover.tryOut(checked.value);
    return proved.ok ? {} : { unproved: problemOf(proved.error) };
  }

  /** Takes in state, link estimates and sizes of the process that counts; `depot-twice`, `depot-unknown`. */
  hear(id: string, heartbeat: HeartbeatRequest, stamp: RequestStamp, nowMs: number): Result<Directory> {
    const { registry, prover, downChecks, links, unreachedOrigins, idleLinks, probes, emit } = this.#init;
    const heard = registry.hear(id, heartbeat, stamp, nowMs);
    if (!heard.ok) {
      if (registry.view(id, nowMs)?.problem === 'depot-twice') emit({ type: 'depot-twice', depot: id });
      return heard;
    }
    if (heard.value === 'nothing') return ok(this.#directory(id, nowMs));
    if (heard.value === 'all') this.#takeReports(id, heartbeat, nowMs);
    for (const other of heartbeat.unreached ?? []) if (other !== id) downChecks.suspect(other, id);
    for (const other of heartbeat.reached ?? []) {
      downChecks.noteReached(other, id);
      links.unreached.noteReached(id, other, nowMs);
    }
    for (const tried of heartbeat.originsTried ?? [])
      if (unreachedOrigins.note(id, tried, nowMs))
        emit({ type: 'origin-unreached', depot: id, host: tried.host });
    emit({ type: 'depot-heard', depot: id });
    // One that takes its leave does not answer any more.
    if (!heartbeat.draining) void prover.prove(id);
    const views = registry.views(nowMs);
    const test = idleLinks.next(id, views, nowMs);
    const probe = probes.next(id, views, nowMs);
    return ok({ ...this.#directory(id, nowMs), ...(test ? { test } : {}), ...(probe ? { probe } : {}) });
  }

  /** Takes in what a depot reports, which counts each time that it is taken. */
  #takeReports(id: string, heartbeat: HeartbeatRequest, nowMs: number): void {
    const { sizes, idleLinks, outcomes, emit } = this.#init;
    for (const { to, sentBytes = 0 } of heartbeat.links) idleLinks.noteSent(id, to, sentBytes);
    if (outcomes.isTrusted(id)) this.#measure(id, heartbeat, nowMs);
    else emit({ type: 'measurements-ignored', depot: id });
    sizes.report(id, heartbeat.sizes, nowMs);
    outcomes.report(id, heartbeat.jobs ?? [], nowMs);
  }

  /** Takes in what a depot has measured. */
  #measure(id: string, heartbeat: HeartbeatRequest, nowMs: number): void {
    const { registry, links, clients, origins } = this.#init;
    // Only of links between two registered depots: so the table is bounded, and no depot speaks for clients or origins.
    for (const report of heartbeat.links) {
      if (report.to !== id && registry.record(report.to)) links.report(id, report, nowMs);
    }
    for (const report of heartbeat.clients ?? []) clients.report(id, report, nowMs);
    const eachBps = clients.crowdedBps(id, nowMs);
    if (eachBps !== undefined) registry.noteCrowded(id, eachBps, nowMs);
    for (const report of heartbeat.origins ?? []) origins.report(id, report, nowMs);
  }

  /**
   * A ticket for the target of a redirect. Scheme, port and address must be permitted; the list of origins does not
   * apply, because an allowed origin vouches for where it redirects to. With `avoid`, the chains are planned anew.
   * `master-busy` where this depot asks for too many: it has other routes.
   */
  followUp(id: string, request: FollowUpRequest, nowMs: number): Result<FollowUpAnswer> {
    if (!this.#followUps.take(id, nowMs)) return busyFor(id);
    const url = parseHref(request.url);
    if (!url.ok) return url;
    const target = this.#init.policy.checkTarget(url.value);
    if (!target.ok) return target;
    const { tickets, sizes } = this.#init;
    const claims = tickets.open(request.ticket, id, Math.floor(nowMs / 1000));
    if (!claims.ok) return claims;
    if (!this.#authorities.mayReach(claims.value.jobId, url.value)) return refuse('redirect-limit');
    const { avoid } = request;
    const chains = avoid
      ? this.#reroute(id, claims.value, url.value, avoid, nowMs)
      : this.#ownChains(id, claims.value, url.value, nowMs);
    if (!chains.ok) return chains;
    // With other chains it goes on where it is.
    if (!avoid) this.#init.leads.noteFollowUp(id, claims.value.jobId, url.value, nowMs);
    const urlHash = urlHashOf(url.value);
    if (sizes.isTicketGiven(urlHash) || this.#takeSize(id, nowMs)) sizes.noteTicket(urlHash, [[id]], nowMs);
    return ok({ ticket: tickets.reissue(claims.value, url.value, chains.value) });
  }

  /** The ticket is for whoever asks, and serves at no other entry depot: nobody vouches for the target but who asks. */
  #ownChains(entry: string, claims: TicketClaims, url: OriginUrl, nowMs: number): Result<PromisedChains> {
    const { chains, promises } = claims;
    const own = chains.map((_, index) => index).filter((index) => chains[index]?.[0] === entry);
    if (own.length === 0) return this.#fromGroup(entry, claims, url, nowMs);
    const ofOwn = <One>(all: readonly One[]) => all.filter((_, index) => own.includes(index));
    return ok({ chains: ofOwn(chains), promises: ofOwn(promises) });
  }

  /**
   * For a depot of the entry group, to which another one's client has come. It may always fetch alone, but
   * reaches no other host without a ticket.
   */
  #fromGroup(entry: string, claims: TicketClaims, url: OriginUrl, nowMs: number): Result<PromisedChains> {
    const planned = this.#reroute(entry, claims, url, [], nowMs);
    return planned.ok ? planned : ok({ chains: [[entry]], promises: [NO_PROMISE] });
  }

  #takeSize(id: string, nowMs: number): boolean {
    const budget = this.#sizeBudgets.get(id) ?? new HourlyBudget(SIZES_BY_FOLLOW_UPS);
    this.#sizeBudgets.set(id, budget);
    return budget.take(1, nowMs);
  }

  #reroute(
    entry: string,
    { lanes }: TicketClaims,
    url: OriginUrl,
    avoid: readonly string[],
    nowMs: number,
  ): Result<PromisedChains> {
    if (!this.#followUps.takePlan(entry, nowMs)) return busyFor(entry);
    const { planner, registry, sizes, leads, unreachedOrigins, assumedSizeBytes } = this.#init;
    const sizeBytes = sizes.recall(urlHashOf(url)) ?? assumedSizeBytes;
    const led = leads.of({ host: url.host });
    const query = {
      sizeBytes,
      originTls: url.scheme === 'https',
      ends: { origin: plannedHost(url.host, led) },
      notExits: unreachedOrigins.by(originsOf(url, led), nowMs),
      entry,
      avoid,
      lanes,
    };
    return planner.reroute(query, registry.views(nowMs), nowMs);
  }

  #directory(id: string, nowMs: number): Directory {
    const { registry, enrolment, masters, groups } = this.#init;
    const group = groups.with(id);
    const revokedKeys = enrolment.revokedKeys(TOLD_REVOKED_KEYS);
    return {
      self: registry.standing(id, nowMs),
      heartbeatSeconds: registry.heartbeatSeconds,
      ...(group ? { entryGroup: { id: group.id, host: group.host, tls: group.tls } } : {}),
      depots: registry.directory(nowMs),
      masterKeys: [...masters.keys()],
      masterUrls: masters.urls(),
      ...(revokedKeys.length > 0 ? { revokedKeys } : {}),
    };
  }
}

function busyFor(id: string): Result<never> {
  return refuse('master-busy', `too many follow-ups of ${id}`);
}

function problemOf({ code, message }: LonghaulError): NonNullable<TrialAnswer['refusal']> {
  return { code, message };
}
