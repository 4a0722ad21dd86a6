import { ok, type Result, refuse, type TicketClaims, ticketPhase } from '@longhaul/shared';

/** One download as this depot sees it: all requests and tunnels of one job id. */
export interface Job {
  readonly id: string;
  readonly endOfLife: number;
  bytes: number;
  connections: number;
  active: number;
}

export interface JobTableInit {
  readonly maxTransfers: number;
  readonly maxJobs: number;
  /** Unix seconds. */
  readonly bootedAt: number;
  readonly nowSeconds: () => number;
}

/** How a job's next connection arrives: from the client, with or without `Range`, or from the previous depot. */
export type Arrival = 'client' | 'client-range' | 'depot';

/** Knows which jobs have started here and holds them to their tickets' time and budgets. */
export class JobTable {
  readonly #init: JobTableInit;
  readonly #jobs = new Map<string, Job>();
  #active = 0;

  constructor(init: JobTableInit) {
    this.#init = init;
  }

  /** Transfers and tunnels running now. */
  get active(): number {
    return this.#active;
  }

  /**
   * Admits one more connection of a ticket's job, or says why not. A job that started here is served until the
   * ticket's end of life; after the last start a job that is not known here is not begun - unless this depot has
   * restarted since the ticket was issued and the client resumes, or the entry depot has decided already.
   * An admitted connection is given back with `release`.
   */
  admit(claims: TicketClaims, arrival: Arrival): Result<Job> {
    const phase = ticketPhase(claims, this.#init.nowSeconds());
    if (phase === 'future') return refuse('ticket-not-yet-valid');
    if (phase === 'over') return refuse('ticket-expired');
    const known = this.#jobs.get(claims.jobId);
    if (!known && phase === 'resume' && !this.#mayHaveStarted(claims, arrival))
      return refuse('ticket-start-over');
    if (this.#active >= this.#init.maxTransfers) return refuse('depot-full');
    const job = known ?? this.#add(claims);
    if (!job) return refuse('depot-full');
    if (job.connections >= claims.budgetConnections || job.bytes >= claims.budgetBytes)
      return refuse('budget-used-up');
    job.connections += 1;
    job.active += 1;
    this.#active += 1;
    return ok(job);
  }

  release(job: Job): void {
    job.active -= 1;
    this.#active -= 1;
  }

  #mayHaveStarted(claims: TicketClaims, arrival: Arrival): boolean {
    return arrival === 'depot' || (arrival === 'client-range' && this.#init.bootedAt > claims.issuedAt);
  }

  #add(claims: TicketClaims): Job | undefined {
    if (this.#jobs.size >= this.#init.maxJobs) this.#forgetEnded();
    if (this.#jobs.size >= this.#init.maxJobs) return undefined;
    const job = { id: claims.jobId, endOfLife: claims.endOfLife, bytes: 0, connections: 0, active: 0 };
    this.#jobs.set(job.id, job);
    return job;
  }

  #forgetEnded(): void {
    const now = this.#init.nowSeconds();
    for (const [id, job] of this.#jobs) if (job.endOfLife < now && job.active === 0) this.#jobs.delete(id);
  }
}
