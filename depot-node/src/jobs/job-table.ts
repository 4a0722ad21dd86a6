import type { IncomingMessage } from 'node:http';
import {
  clientPrefix,
  type ErrorCode,
  ok,
  type Result,
  refuse,
  type TicketClaims,
  ticketPhase,
} from '@longhaul/shared';
import { SharedLimits } from './shared-limits.ts';

/** One download as this depot sees it: all requests and tunnels of one job id. */
export interface Job {
  readonly id: string;
  readonly issuedAt: number;
  readonly bytes: number;
  readonly connections: number;
  readonly active: number;
  /** Whether its address has given a body here: it then stays an address for the ticket's life. */
  hasWorked: boolean;
}

type CountedJob = { -readonly [field in keyof Job]: Job[field] };

export interface JobTableInit {
  readonly maxTransfers: number;
  readonly maxPerJob: number;
  readonly maxPerClient: number;
  readonly maxPerOrigin: number;
  /** Bits per second relayed over the last ten seconds, beyond which nothing new is admitted. */
  readonly maxClientBps: number | undefined;
  readonly maxOriginBps: number | undefined;
  readonly maxJobs: number;
  /** Unix seconds. */
  readonly bootedAt: number;
  readonly nowSeconds: () => number;
}

/**
 * How a job's next connection arrives: from a client's network, with or without `Range`, or from the previous depot,
 * to go on to another depot or, at the exit depot, to the origin.
 */
export type Arrival =
  | { readonly from: 'client'; readonly prefix: string; readonly hasRange: boolean }
  | { readonly from: 'depot'; readonly isExit: boolean };

/** How a client's request arrives. */
export function arrivalOf(request: IncomingMessage): Extract<Arrival, { readonly from: 'client' }> {
  const prefix = clientPrefix(request.socket.remoteAddress ?? '');
  return { from: 'client', prefix, hasRange: request.headers.range !== undefined };
}

/** A connection that was admitted; to be released when it has ended. */
export interface Admission {
  readonly job: Job;
  /** Counts what was relayed towards the client: against the ticket's budget and the rates of client and origin. */
  readonly note: (bytes: number) => void;
  readonly release: () => void;
}

/** What a connection counts for beside its job. */
interface Keys {
  readonly client: string | undefined;
  readonly origin: string | undefined;
}

/** Knows which jobs have started here and holds them to their tickets' time and budgets. */
export class JobTable {
  readonly #init: JobTableInit;
  /** In the order of their last use. */
  readonly #jobs = new Map<string, CountedJob>();
  readonly #clients: SharedLimits;
  readonly #origins: SharedLimits;
  #active = 0;
  #waitingForIdle: (() => void)[] = [];
  /** Jobs issued up to then may have started here and been forgotten: before a restart, or to make room. */
  #forgottenUntil: number;

  constructor(init: JobTableInit) {
    this.#init = init;
    const { maxPerClient, maxClientBps, maxPerOrigin, maxOriginBps, nowSeconds } = init;
    this.#clients = new SharedLimits({ maxActive: maxPerClient, maxBps: maxClientBps, nowSeconds });
    this.#origins = new SharedLimits({ maxActive: maxPerOrigin, maxBps: maxOriginBps, nowSeconds });
    this.#forgottenUntil = init.bootedAt - 1;
  }

  /** Transfers and tunnels running now. */
  get active(): number {
    return this.#active;
  }

  /** Resolves when nothing runs. */
  idle(): Promise<void> {
    if (this.#active === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waitingForIdle.push(resolve));
  }

  /**
   * Admits one more connection of a ticket's job, or says why not. A job that started here is served until the
   * ticket's end of life; after the last start a job that is not known here is not begun - unless this depot has
   * restarted since the ticket was issued and the client resumes, or the entry depot has decided already.
   */
  admit(claims: TicketClaims, arrival: Arrival): Result<Admission> {
    const phase = ticketPhase(claims, this.#init.nowSeconds());
    if (phase === 'future') return refuse('ticket-not-yet-valid');
    if (phase === 'over') return refuse('ticket-expired');
    const known = this.#jobs.get(claims.jobId);
    if (!known && phase === 'resume' && !this.#mayHaveStarted(claims, arrival))
      return refuse('ticket-start-over');
    const keys = keysOf(claims, arrival);
    const full =
      this.#refuseCrowd(known, keys) ?? (goesOn(known, arrival) ? undefined : this.#refuseRate(keys));
    if (full) return refuse(full);
    const job = this.#use(claims, known);
    if (!job) return refuse('depot-full');
    if (job.connections >= claims.budgetConnections || job.bytes >= claims.budgetBytes)
      return refuse('budget-used-up');
    job.connections += 1;
    this.#count(job, keys, 1);
    return ok({
      job,
      note: (bytes) => this.#note(job, keys, bytes),
      release: () => this.#count(job, keys, -1),
    });
  }

  #mayHaveStarted(claims: TicketClaims, arrival: Arrival): boolean {
    return arrival.from === 'depot' || (arrival.hasRange && claims.issuedAt <= this.#forgottenUntil);
  }

  #refuseCrowd(known: Job | undefined, { client, origin }: Keys): ErrorCode | undefined {
    const { maxTransfers, maxPerJob } = this.#init;
    if (this.#active >= maxTransfers) return 'depot-full';
    if ((known?.active ?? 0) >= maxPerJob) return 'job-busy';
    if (client !== undefined && this.#clients.isBusy(client)) return 'client-busy';
    return origin !== undefined && this.#origins.isBusy(origin) ? 'origin-crowded' : undefined;
  }

  #refuseRate({ client, origin }: Keys): ErrorCode | undefined {
    if (client !== undefined && this.#clients.isTooFast(client)) return 'client-rate-limited';
    return origin !== undefined && this.#origins.isTooFast(origin) ? 'origin-rate-limited' : undefined;
  }

  #note(job: CountedJob, { client, origin }: Keys, bytes: number): void {
    job.bytes += bytes;
    if (client !== undefined) this.#clients.note(client, bytes);
    if (origin !== undefined) this.#origins.note(origin, bytes);
  }

  #count(job: CountedJob, { client, origin }: Keys, change: 1 | -1): void {
    job.active += change;
    this.#active += change;
    if (this.#active === 0) for (const resolve of this.#waitingForIdle.splice(0)) resolve();
    if (client !== undefined) this.#clients.count(client, change);
    if (origin !== undefined) this.#origins.count(origin, change);
  }

  /** The job, as the one used last; `undefined` when there is no room for a new one. */
  #use(claims: TicketClaims, known: CountedJob | undefined): CountedJob | undefined {
    if (!known && this.#jobs.size >= this.#init.maxJobs && !this.#forgetOldest()) return undefined;
    const { jobId: id, issuedAt } = claims;
    const job = known ?? { id, issuedAt, bytes: 0, connections: 0, active: 0, hasWorked: false };
    this.#jobs.delete(id);
    this.#jobs.set(id, job);
    return job;
  }

  /** Makes room by the job that was used longest ago and has nothing running. */
  #forgetOldest(): boolean {
    for (const [id, job] of this.#jobs) {
      if (job.active > 0) continue;
      this.#jobs.delete(id);
      this.#forgottenUntil = Math.max(this.#forgottenUntil, job.issuedAt);
      return true;
    }
    return false;
  }
}

/** Whoever dials the origin counts for it; so does the entry depot, which may have to. Hashes stand for its name. */
function keysOf({ authorityHash }: TicketClaims, arrival: Arrival): Keys {
  if (arrival.from === 'client') return { client: arrival.prefix, origin: authorityHash };
  return { client: undefined, origin: arrival.isExit ? authorityHash : undefined };
}

/**
 * Whether a connection is a running transfer's rather than a new one, which rates do not stop: a client resumes what
 * has nothing else running, or the entry depot, which has decided already, repairs a job or gives it one more lane.
 */
function goesOn(known: Job | undefined, arrival: Arrival): boolean {
  if (!known) return false;
  return arrival.from === 'depot' || (arrival.hasRange && known.active === 0);
}
