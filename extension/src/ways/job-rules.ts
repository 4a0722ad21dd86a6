import type { LeadRules } from '../browser/lead-rules.ts';
import type { Job } from '../jobs/job.ts';
import type { JobStore } from '../jobs/job-store.ts';
import { mayBeTold } from '../judge/rules.ts';
import { isByMaster } from '../judge/why-unfit.ts';
import type { Settings } from '../settings/settings.ts';
import { directUrl } from '../url-fragment.ts';
import { headersOf } from './way.ts';

export interface JobRulesDependencies {
  readonly jobs: JobStore;
  readonly leadRules: LeadRules;
  /** As for downloads: switched off until the user has consented. */
  readonly settings: () => Promise<Settings>;
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

  /**
   * Leads the requests of a job to the master, while the user wants that one to be told of it, or to the
   * origin: there, too, if its own address is not the origin's.
   */
  async lead(job: Job): Promise<void> {
    const { url: from, masterUrl, originUrl } = job;
    const isByDepots = job.way === 'chain' && (await this.#mayLead(job));
    if (!isByDepots && from === originUrl) {
      // A rule knows no download, only its address: that of another one would lead this one, too.
      const others = (await this.#deps.jobs.all()).filter(({ key, url }) => key !== job.key && url === from);
      await Promise.all([job, ...others].map((one) => this.release(one)));
      return;
    }
    const to = isByDepots ? masterUrl : directUrl(originUrl);
    return this.#deps.leadRules.lead({ id: idOf(job), from, to, headers: headersOf(job) });
  }

  /**
   * The settings have changed: no request is led to a master any more that the user does not want told of it,
   * until he does again. What runs runs on.
   */
  async keepInStep(): Promise<void> {
    const { jobs } = this.#deps;
    const open = await this.#open();
    await Promise.all(
      open.map(async (job) => {
        if (job.way !== 'chain') return;
        const isUnled = !(await this.#mayLead(job)) || undefined;
        // One that has its rule may be ending now, which takes that away for good: only what was taken away
        // here is given back. Nor is another download led that has chosen the direct way.
        if (!isUnled && (!job.isUnled || comesDirectly(job.url, open))) return;
        await this.lead(job);
        if (isUnled !== job.isUnled) await jobs.change(job.key, { isUnled });
      }),
    );
  }

  /**
   * The background has started anew: an update of the add-on takes its rules away, though the browser and what
   * it downloads run on.
   */
  async putBack(): Promise<void> {
    const open = await this.#open();
    for (const { key } of open) {
      // Others may have led it elsewhere meanwhile.
      const job = await this.#deps.jobs.get(key);
      // What Firefox has kept from before nobody leads, and what asks the origin by its own address needs no rule.
      if (!job || job.isKept || (job.url === job.originUrl && (job.isUnled || comesDirectly(job.url, open))))
        continue;
      await this.lead(job);
      const now = await this.#deps.jobs.get(key);
      if (!now || !isOpen(now)) await this.release(job);
      else if (now.way !== job.way) await this.lead(now);
    }
  }

  async #open(): Promise<readonly Job[]> {
    return (await this.#deps.jobs.all()).filter(isOpen);
  }

  async #mayLead(job: Job): Promise<boolean> {
    const set = await this.#deps.settings();
    return isByMaster(job.masterUrl, set.master) && mayBeTold(job, set);
  }

  release(job: Job): Promise<void> {
    return this.#deps.leadRules.release(idOf(job));
  }
}

/** Whether one of these jobs comes directly by this address: a rule for it would lead that one, too. */
function comesDirectly(url: string, jobs: readonly Job[]): boolean {
  return jobs.some((job) => job.way === 'direct' && job.url === url);
}

function isOpen({ state }: Job): boolean {
  return state !== 'done' && state !== 'lost';
}

function idOf({ routeId = 0, leadRuleId = routeId }: Job): number {
  return leadRuleId;
}
