import type { Downloads } from '../browser/downloads.ts';
import { directUrl } from '../url-fragment.ts';
import type { Job } from './job.ts';
import type { JobStore } from './job-store.ts';

/** Downloads the file of a job from its origin after all, so that no user loses a download to a broken chain. */
export async function restartDirect(
  job: Job,
  { downloads, jobs }: { readonly downloads: Downloads; readonly jobs: JobStore },
): Promise<void> {
  const url = directUrl(job.originUrl);
  // Known before it starts: the browser's first event must not catch it as somebody else's.
  await jobs.change(job.key, { state: 'direct', url, downloadId: undefined });
  try {
    await jobs.change(job.key, { downloadId: await downloads.start(url, job.name) });
  } catch {
    await jobs.change(job.key, { state: 'lost' });
  }
}
