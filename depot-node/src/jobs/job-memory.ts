import type { TicketClaims } from '@longhaul/shared';

/** One download as this depot sees it: all requests and tunnels of one job id. */
export interface Job {
  readonly id: string;
  readonly bytes: number;
  /** Those that run, and those that have ended before they brought a block: each is one of the ticket's budget. */
  readonly connections: number;
  readonly active: number;
  /**
   * Whether its address has given a body, here or, as a client that resumes shows, elsewhere or before: it
   * then stays an address for the ticket's life.
   */
  hasWorked: boolean;
}

/** A job with its counts open; only the job table changes them. */
export interface CountedJob extends Job {
  bytes: number;
  connections: number;
  active: number;
  readonly issuedAt: number;
  /** Whose share of the memory it takes. */
  readonly taker: string;
  /** What ends those that run, by the bytes that their tickets are good for: most jobs have tickets of one kind. */
  readonly stops: Map<number, AbortController>;
}

/**
 * Of the jobs that are remembered, those of one taker: whoever brings more forgets his own, and not those of
 * others.
 */
const MOST_OF_ONE = 0.5;

/** The jobs that have been here, bounded in number. */
export class JobMemory {
  readonly #maxJobs: number;
  /** In the order of their last use. */
  readonly #jobs = new Map<string, CountedJob>();
  /** The same, by taker. */
  readonly #byTaker = new Map<string, Set<CountedJob>>();
  #forgottenUntil = Number.NEGATIVE_INFINITY;

  constructor(maxJobs: number) {
    this.#maxJobs = maxJobs;
  }

  /** Jobs issued up to then (Unix seconds) may have started here and been forgotten to make room. */
  get forgottenUntil(): number {
    return this.#forgottenUntil;
  }

  get(jobId: string): CountedJob | undefined {
    return this.#jobs.get(jobId);
  }

  all(): Iterable<CountedJob> {
    return this.#jobs.values();
  }

  /** The job, as the one used last; `undefined` when there is no room for a new one. */
  use({ jobId: id, issuedAt }: TicketClaims, taker: string): CountedJob | undefined {
    const known = this.#jobs.get(id);
    if (known) {
      this.#forget(known);
      return this.#remember(known);
    }
    const own = this.#byTaker.get(taker);
    const hasTooMany = own !== undefined && own.size >= Math.max(1, this.#maxJobs * MOST_OF_ONE);
    if (hasTooMany && !this.#makeRoom(own)) return undefined;
    if (this.#jobs.size >= this.#maxJobs && !this.#makeRoom(this.#jobs.values())) return undefined;
    return this.#remember({
      id,
      issuedAt,
      taker,
      bytes: 0,
      connections: 0,
      active: 0,
      hasWorked: false,
      stops: new Map(),
    });
  }

  /** Forgets the first of these that has nothing running: they are in the order of their last use. */
  #makeRoom(jobs: Iterable<CountedJob>): boolean {
    for (const job of jobs) {
      if (job.active > 0) continue;
      this.#forget(job);
      this.#forgottenUntil = Math.max(this.#forgottenUntil, job.issuedAt);
      return true;
    }
    return false;
  }

  #remember(job: CountedJob): CountedJob {
    this.#jobs.set(job.id, job);
    const own = this.#byTaker.get(job.taker) ?? new Set();
    this.#byTaker.set(job.taker, own.add(job));
    return job;
  }

  #forget(job: CountedJob): void {
    this.#jobs.delete(job.id);
    const own = this.#byTaker.get(job.taker);
    own?.delete(job);
    if (own?.size === 0) this.#byTaker.delete(job.taker);
  }
}
