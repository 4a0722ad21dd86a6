import type { Download } from '../browser/download.ts';
import type { Downloads } from '../browser/downloads.ts';
import type { GoOn } from './continuation.ts';
import type { Job } from './job.ts';
import type { JobStore } from './job-store.ts';

interface JobDownloads {
  readonly downloads: Downloads;
  readonly jobs: JobStore;
}

/**
 * Pauses a download of a job for a moment. It is held until a look sees it go on, be that in a later life of
 * the background.
 */
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

/**
 * What the user has done to a download while somebody else was asked of it holds: what comes of that;
 * `undefined` where it is as it was.
 */
export async function doneMeanwhile(downloads: Downloads, before: Download): Promise<GoOn | undefined> {
  const now = await downloads.get(before.id);
  const isStopped = !now || (now.paused ? !before.paused : now.error === 'USER_CANCELED');
  if (isStopped) return { result: 'not-yet', problem: '' };
  return before.state === 'interrupted' && now.state !== 'interrupted' ? { result: 'tried' } : undefined;
}

/** Ends a download and takes it off the browser's list, as far as it is there. */
export async function drop(downloads: Downloads, id: number): Promise<void> {
  await downloads.cancel(id).catch(() => undefined);
  await downloads.erase(id).catch(() => undefined);
}
