import type { JobKeeper } from '../jobs/job-keeper.ts';
import type { JobStore } from '../jobs/job-store.ts';
import type { Way } from './way.ts';

interface RecoverDependencies {
  readonly jobs: JobStore;
  readonly way: Pick<Way, 'recover'>;
  readonly keeper: Pick<JobKeeper, 'look'>;
}

/** Picks up the jobs that an earlier life of the background left, in whatever state it ended. */
export async function recoverJobs({ jobs, way, keeper }: RecoverDependencies): Promise<void> {
  for (const job of await jobs.all()) if (job.state === 'starting') await way.recover(job);
  await keeper.look();
}
