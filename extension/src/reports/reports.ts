import type { FeedbackRequest } from '@longhaul/shared';
import type { tellMaster } from '../ask/tell-master.ts';
import type { Download } from '../browser/download.ts';
import type { Job } from '../jobs/job.ts';
import { isByMaster } from '../judge/why-unfit.ts';
import type { Settings } from '../settings/settings.ts';
import { DirectWatch, type DirectWatchDependencies } from './direct-watch.ts';
import { reportsOf } from './reports-of.ts';

/** Its `area` forgets with the browser's end. */
interface ReportDependencies extends DirectWatchDependencies {
  /** As for downloads: switched off until the user has consented. */
  readonly settings: () => Promise<Settings>;
  readonly tellMaster: typeof tellMaster;
  readonly deadline: () => AbortSignal;
}

/** The master that the user has agreed to tell how its plans go; `undefined` where he has not. */
export function reportsTo({ enabled, tellsMaster, master }: Settings): string | undefined {
  return enabled && tellsMaster && master !== '' ? master : undefined;
}

/**
 * Tells masters how their plans went: each only of its own, and of those that began when the user had agreed
 * to it already. Whoever has changed the master, or taken his word back, has nothing told to anybody.
 */
export class Reports {
  readonly #deps: ReportDependencies;
  readonly #direct: DirectWatch;

  constructor(deps: ReportDependencies) {
    this.#deps = deps;
    this.#direct = new DirectWatch(deps);
  }

  /** A download goes on directly, because this plan of that master calls that the best way. */
  async plannedDirect(download: Download, jobId: string, master: string): Promise<void> {
    if (reportsTo(await this.#deps.settings()) === master) await this.#direct.begin(download, jobId, master);
  }

  /** A download of the browser's has changed. */
  async follow(download: Download | undefined): Promise<void> {
    const seen = await this.#direct.follow(download);
    if (seen) await this.#tell(seen.report, seen.master);
  }

  /** The time may have come that was asked for. */
  look(): Promise<void> {
    return this.#direct.look();
  }

  /** A job is whole. */
  async jobDone(job: Job): Promise<void> {
    const { reportsTo: master, masterUrl } = job;
    if (master === undefined || !isByMaster(masterUrl, master)) return;
    for (const report of reportsOf(job)) await this.#tell(report, master);
  }

  async #tell(report: FeedbackRequest, master: string): Promise<void> {
    const { settings, tellMaster, deadline } = this.#deps;
    if (reportsTo(await settings()) === master) await tellMaster(master, report, deadline());
  }
}
