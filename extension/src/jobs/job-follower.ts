import type { Download } from '../browser/download.ts';
import type { Downloads } from '../browser/downloads.ts';
import type { Job } from './job.ts';
import type { JobStore } from './job-store.ts';
import { restartDirect } from './restart-direct.ts';

/** Resumptions without a byte of progress before the chain is given up. */
const MAX_RESUMES = 2;

export interface FollowerDependencies {
  readonly downloads: Downloads;
  readonly jobs: JobStore;
}

/** Keeps jobs going: ends them with their downloads, resumes broken ones, falls back to the origin. */
export class JobFollower {
  readonly #deps: FollowerDependencies;
  #turn: Promise<void> = Promise.resolve();

  constructor(deps: FollowerDependencies) {
    this.#deps = deps;
  }

  /** Looks at a download that may have changed, and does what its present state asks for. */
  follow(downloadId: number): Promise<void> {
    const done = this.#turn.then(() => this.#follow(downloadId));
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #follow(downloadId: number): Promise<void> {
    const { downloads, jobs } = this.#deps;
    const job = await jobs.ofDownload(downloadId);
    if (!job) return;
    const download = await downloads.get(downloadId);
    if (!download || download.state === 'complete') return jobs.remove(job.key);
    // Firefox calls a paused download interrupted.
    if (download.state !== 'interrupted' || download.paused || download.error === undefined) return;
    if (download.error.startsWith('USER_')) return jobs.remove(job.key);
    if (job.state === 'chain' && !download.error.startsWith('FILE_')) await this.#repair(job, download);
  }

  async #repair(job: Job, download: Download): Promise<void> {
    const { downloads, jobs } = this.#deps;
    const resumes = download.bytesReceived > job.resumedAtBytes ? 0 : job.resumes;
    if (download.canResume && resumes < MAX_RESUMES) {
      await jobs.change(job.key, { resumes: resumes + 1, resumedAtBytes: download.bytesReceived });
      this.#resume(download.id);
      return;
    }
    await downloads.cancel(download.id).catch(() => undefined);
    await downloads.erase(download.id).catch(() => undefined);
    await restartDirect(job, this.#deps);
  }

  /** Not awaited: Firefox settles only when the download has ended. Chromium may settle and have done nothing. */
  #resume(downloadId: number): void {
    const again = (): Promise<void> => this.follow(downloadId);
    void this.#deps.downloads.resume(downloadId).then(again, again);
  }
}
