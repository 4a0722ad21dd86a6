import { ok, type Result, refuse, type TicketClaims, ticketPhase } from '@longhaul/shared';

/** One download as this depot sees it: all requests and tunnels of one job id. */
export interface Job {
  readonly id: string;
  readonly issuedAt: number;
  bytes: number;
  connections: number;
  active: number;
  /** Whether its address has given a body here: it then stays an address for the ticket's life. */
  hasWorked: boolean;
}

export interface JobTableInit {
  readonly maxTransfers: number;
  readonly maxPerJob: number;
  readonly maxPerClient: number;
  readonly maxJobs: number;
  /** Unix seconds. */
  readonly bootedAt: number;
  readonly nowSeconds: () => number;
}

/** How a job's next connection arrives: from a client's network, with or without `Range`, or from the previous depot. */
export type Arrival =
  | { readonly from: 'client'; readonly prefix: string; readonly hasRange: boolean }
  | { readonly from: 'depot' };

/** A connection that was admitted; to be released when it has ended. */
export interface Admission {
  readonly job: Job;
  readonly release: () => void;
}

/** Knows which jobs have started here and holds them to their tickets' time and budgets. */
export class JobTable {
  readonly #init: JobTableInit;
  /** In the order of their last use. */
  readonly #jobs = new Map<string, Job>();
  readonly #activeOfClient = new Map<string, number>();
  #active = 0;
  #waitingForIdle: (() => void)[] = [];
  /** Jobs issued up to then may have started here and been forgotten: before a restart, or to make room. */
  #forgottenUntil: number;

  constructor(init: JobTableInit) {
    this.#init = init;
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
    const full = this.#refuseCrowd(known, arrival);
    if (full) return refuse(full);
    const job = this.#use(claims, known);
    if (!job) return refuse('depot-full');
    if (job.connections >= claims.budgetConnections || job.bytes >= claims.budgetBytes)
      return refuse('budget-used-up');
    job.connections += 1;
    this.#count(job, arrival, 1);
    return ok({ job, release: () => this.#count(job, arrival, -1) });
  }

  #mayHaveStarted(claims: TicketClaims, arrival: Arrival): boolean {
    return arrival.from === 'depot' || (arrival.hasRange && claims.issuedAt <= this.#forgottenUntil);
  }

  #refuseCrowd(
    known: Job | undefined,
    arrival: Arrival,
  ): 'depot-full' | 'job-busy' | 'client-busy' | undefined {
    const { maxTransfers, maxPerJob, maxPerClient } = this.#init;
    if (this.#active >= maxTransfers) return 'depot-full';
    if ((known?.active ?? 0) >= maxPerJob) return 'job-busy';
    const ofClient = arrival.from === 'client' ? (this.#activeOfClient.get(arrival.prefix) ?? 0) : 0;
    return ofClient >= maxPerClient ? 'client-busy' : undefined;
  }

  #count(job: Job, arrival: Arrival, change: 1 | -1): void {
    job.active += change;
    this.#active += change;
    if (this.#active === 0) for (const resolve of this.#waitingForIdle.splice(0)) resolve();
    if (arrival.from !== 'client') return;
    const ofClient = (this.#activeOfClient.get(arrival.prefix) ?? 0) + change;
    if (ofClient === 0) this.#activeOfClient.delete(arrival.prefix);
    else this.#activeOfClient.set(arrival.prefix, ofClient);
  }

  /** The job, as the one used last; `undefined` when there is no room for a new one. */
  #use(claims: TicketClaims, known: Job | undefined): Job | undefined {
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
