import type { Downloads } from '../browser/downloads.ts';
import type { Job } from './job.ts';
import type { JobFollower } from './job-follower.ts';
import type { JobStore } from './job-store.ts';
import { restartDirect } from './restart-direct.ts';

interface RecoverDependencies {
  readonly downloads: Downloads;
  readonly jobs: JobStore;
  readonly follower: JobFollower;
}

/** Picks up the jobs that an earlier life of the background left, should it have ended while replacing a download. */
export async function recoverJobs(deps: RecoverDependencies): Promise<void> {
  for (const job of await deps.jobs.all()) {
    if (job.downloadId !== undefined) await deps.follower.follow(job.downloadId);
    else if (job.state !== 'lost') await recover(job, deps);
  }
}

async function recover(job: Job, { downloads, jobs, follower }: RecoverDependencies): Promise<void> {
  const started = await downloads.find(job.url);
  if (started) {
    await jobs.change(job.key, {
      downloadId: started.id,
      state: job.state === 'direct' ? 'direct' : 'chain',
    });
    return follower.follow(started.id);
  }
  const original = await downloads.get(job.originalId);
  const isGoingOn = original?.state === 'in_progress' || original?.state === 'complete';
  await (isGoingOn ? jobs.remove(job.key) : restartDirect(job, { downloads, jobs }));
}
