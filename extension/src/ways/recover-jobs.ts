import type { Downloads } from '../browser/downloads.ts';
import type { JobKeeper } from '../jobs/job-keeper.ts';
import type { JobStore } from '../jobs/job-store.ts';
import type { Way } from './way.ts';

interface RecoverDependencies {
  readonly downloads: Pick<Downloads, 'get' | 'find'>;
  readonly jobs: JobStore;
  readonly way: Pick<Way, 'recover' | 'putBack'>;
  readonly keeper: Pick<JobKeeper, 'look'>;
  readonly pause: (ms: number) => Promise<void>;
}

/** A browser that has just started knows its list of downloads by then; until it does, it answers that it has none. */
const LIST_MS = 10_000;

/** Picks up the jobs that an earlier life of the background left, in whatever state it ended. */
export async function recoverJobs(deps: RecoverDependencies): Promise<void> {
  const { downloads, jobs, way, keeper, pause } = deps;
  for (const job of await jobs.all()) {
    if (job.state !== 'starting') continue;
    const listed = (await downloads.get(job.originalId)) ?? (await downloads.find(job.url))[0];
    if (!listed) await pause(LIST_MS);
    await way.recover(job);
  }
  // It also tells what the browser has kept from before, which nobody leads.
  await keeper.look();
  await way.putBack?.();
}
