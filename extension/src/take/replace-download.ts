import type { PlanAnswer } from '@longhaul/shared';
import type { Download } from '../browser/download.ts';
import type { Downloads } from '../browser/downloads.ts';
import type { Job } from '../jobs/job.ts';
import type { JobFollower } from '../jobs/job-follower.ts';
import type { JobStore } from '../jobs/job-store.ts';
import { restartDirect } from '../jobs/restart-direct.ts';

export interface ReplaceDependencies {
  readonly downloads: Downloads;
  readonly jobs: JobStore;
  readonly follower: JobFollower;
}

/**
 * Ends the original download and starts it again through the plan, under the same name.
 * @returns false when the original finished first: then it stays and nothing else happens.
 */
export async function replaceDownload(
  original: Download,
  plan: PlanAnswer,
  { downloads, jobs, follower }: ReplaceDependencies,
): Promise<boolean> {
  const job = newJob(original, plan);
  await jobs.add(job);
  await downloads.cancel(original.id).catch(() => undefined);
  const ended = await downloads.get(original.id);
  if (ended && ended.state !== 'interrupted') {
    await jobs.remove(job.key);
    return false;
  }
  await downloads.erase(original.id).catch(() => undefined);
  try {
    const downloadId = await downloads.start(plan.masterUrl, job.name);
    await jobs.change(job.key, { downloadId, state: 'chain' });
    // What happened to it before its id was known went unnoticed.
    await follower.follow(downloadId);
  } catch {
    await restartDirect(job, { downloads, jobs });
  }
  return true;
}

function newJob(original: Download, plan: PlanAnswer): Job {
  return {
    key: crypto.randomUUID(),
    state: 'starting',
    originalId: original.id,
    downloadId: undefined,
    url: plan.masterUrl,
    originUrl: original.url,
    name: original.name,
    chain: plan.chain,
    predictedSeconds: plan.prediction.seconds,
    directSeconds: plan.direct.seconds,
    resumes: 0,
    resumedAtBytes: 0,
  };
}
