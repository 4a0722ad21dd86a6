import { parseOriginUrl } from '@longhaul/shared';
import type { Downloads } from '../browser/downloads.ts';
import type { Job } from '../jobs/job.ts';
import type { JobStore } from '../jobs/job-store.ts';
import type { SettingsStore } from '../settings/settings-store.ts';
import type { LastLeft } from '../take/last-left.ts';
import type { RunningDownload, Status } from './status.ts';

interface StatusDependencies {
  readonly settings: SettingsStore;
  readonly jobs: JobStore;
  readonly downloads: Downloads;
  readonly lastLeft: LastLeft;
}

/** Gathers what the popup shows for the tab with this address. */
export async function readStatus(tabUrl: string, deps: StatusDependencies): Promise<Status> {
  const { enabled, master, sitesOff } = await deps.settings.get();
  const url = parseOriginUrl(tabUrl);
  const site = url.ok ? url.value.host : '';
  const jobs = await deps.jobs.all();
  return {
    enabled,
    hasMaster: master !== '',
    site,
    siteOff: sitesOff.includes(site),
    running: await Promise.all(
      jobs.filter(({ state }) => state !== 'done').map((job) => describe(job, deps.downloads)),
    ),
    lastLeft: await deps.lastLeft.get(),
  };
}

async function describe(job: Job, downloads: Downloads): Promise<RunningDownload> {
  const download = job.downloadId === undefined ? undefined : await downloads.get(job.downloadId);
  const { name, way, chain, predictedSeconds, directSeconds, originUrl } = job;
  return {
    name,
    way,
    chain,
    predictedSeconds,
    directSeconds,
    originUrl,
    state: download?.paused ? 'paused' : job.state,
    bytesReceived: Math.max(job.bytes, download?.bytesReceived ?? 0),
    totalBytes: job.file.totalBytes ?? download?.totalBytes,
  };
}
