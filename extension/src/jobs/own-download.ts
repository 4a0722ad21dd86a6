import type { Downloads } from '../browser/downloads.ts';
import type { Job } from './job.ts';
import type { JobStore } from './job-store.ts';

interface JobDownloads {
  readonly downloads: Downloads;
  readonly jobs: JobStore;
}

/** Pauses a download of a job for a moment. It is held until a look sees it go on, be that in a later life of the background. */
export async function hold(
  { downloads, jobs }: JobDownloads,
  { key }: Pick<Job, 'key'>,
  downloadId: number,
): Promise<void> {
  await jobs.change(key, { isHeld: true });
  await downloads.pause(downloadId).catch(() => undefined);
}

/** Lets a download that was held go on. Does not wait for that: in Firefox it settles when the download has ended. */
export function letGo(downloads: Downloads, id: number): void {
  downloads.resume(id).catch(() => undefined);
}

/** Ends a download and takes it off the browser's list, as far as it is there. */
export async function drop(downloads: Downloads, id: number): Promise<void> {
  await downloads.cancel(id).catch(() => undefined);
  await downloads.erase(id).catch(() => undefined);
}
