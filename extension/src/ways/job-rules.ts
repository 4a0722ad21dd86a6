import type { LeadRules } from '../browser/lead-rules.ts';
import type { Job } from '../jobs/job.ts';
import type { JobStore } from '../jobs/job-store.ts';
import { directUrl } from '../url-fragment.ts';
import { headersOf } from './way.ts';

export interface JobRulesDependencies {
  readonly jobs: JobStore;
  readonly leadRules: LeadRules;
}

/** The rules by which Firefox leads the requests of jobs, one for each job. */
export class JobRules {
  readonly #deps: JobRulesDependencies;
  #lastId = 0;

  constructor(deps: JobRulesDependencies) {
    this.#deps = deps;
  }

  /** The number of a new rule. Of two jobs that begin at once neither is stored yet. */
  async nextId(): Promise<number> {
    const stored = await this.#deps.jobs.all();
    this.#lastId = 1 + Math.max(this.#lastId, ...stored.map(idOf));
    return this.#lastId;
  }

  /** Leads the requests of a job to the master, or to the origin: there, too, if its own address is not the origin's. */
  lead(job: Job): Promise<void> {
    const { way, url: from, masterUrl, originUrl } = job;
    if (way === 'direct' && from === originUrl) return this.release(job);
    const to = way === 'chain' ? masterUrl : directUrl(originUrl);
    return this.#deps.leadRules.lead({ id: idOf(job), from, to, headers: headersOf(job) });
  }

  release(job: Job): Promise<void> {
    return this.#deps.leadRules.release(idOf(job));
  }
}

function idOf({ routeId = 0, leadRuleId = routeId }: Job): number {
  return leadRuleId;
}
