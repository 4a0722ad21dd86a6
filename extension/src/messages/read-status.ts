import { fileNameOf } from '@longhaul/shared';
import type { Download } from '../browser/download.ts';
import type { Downloads } from '../browser/downloads.ts';
import type { ConsentStore } from '../consent/consent-store.ts';
import type { Job } from '../jobs/job.ts';
import type { JobStore } from '../jobs/job-store.ts';
import { left } from '../judge/why-left.ts';
import { parseUrl } from '../parse-url.ts';
import type { SettingsStore } from '../settings/settings-store.ts';
import { siteUse } from '../settings/site-rules.ts';
import type { LastLeft } from '../take/last-left.ts';
import type { Tunnels } from '../tunnel/tunnels.ts';
import type { DoneDownload, RunningDownload, Status } from './status.ts';

interface StatusDependencies {
  readonly settings: SettingsStore;
  readonly consent: ConsentStore;
  readonly jobs: JobStore;
  readonly downloads: Downloads;
  readonly lastLeft: LastLeft;
  readonly tunnels: Pick<Tunnels, 'viewOf'>;
}

/** Gathers what the popup shows for the tab with this address. */
export async function readStatus(tabUrl: string, deps: StatusDependencies): Promise<Status> {
  const { enabled, master, ...rules } = await deps.settings.get();
  const url = parseUrl(tabUrl);
  const site = url?.host ?? '';
  const tunnel = url?.scheme === 'http' ? left('not-https') : await deps.tunnels.viewOf(tabUrl);
  const jobs = await deps.jobs.all();
  return {
    consented: await deps.consent.isGiven(),
    enabled,
    hasMaster: master !== '',
    site,
    siteUse: siteUse([site], rules),
    tunnel,
    running: await Promise.all(
      jobs.filter(({ state }) => state !== 'done').map((job) => describe(job, deps.downloads)),
    ),
    done: await Promise.all(
      jobs
        .filter(({ state }) => state === 'done')
        .map((job) => describeDone(job, deps.downloads))
        .toReversed(),
    ),
    lastLeft: await deps.lastLeft.get(),
  };
}

async function describe(job: Job, downloads: Downloads): Promise<RunningDownload> {
  const download = await downloadOf(job, downloads);
  const { key, originUrl, way, predictedSeconds, directSeconds, interruption } = job;
  return {
    key,
    name: nameOf(job, download),
    originUrl,
    way,
    predictedSeconds,
    directSeconds,
    legs: job.legs,
    ...(job.choseDirect && !job.isKept ? { choseDirect: true } : {}),
    ...happenedTo(job),
    state: stateOf(job, download),
    downloadId: job.downloadId,
    bytesReceived: Math.max(job.bytes, download?.bytesReceived ?? 0),
    totalBytes: job.file.totalBytes ?? download?.totalBytes,
    tries: interruption?.tries ?? 0,
    nextTryAtMs: interruption?.nextTryAtMs,
    problem: interruption?.problem ?? '',
  };
}

async function downloadOf({ downloadId }: Job, downloads: Downloads): Promise<Download | undefined> {
  return downloadId === undefined ? undefined : downloads.get(downloadId);
}

/** The browser names what has no name of its own, but not at once, and it may have numbered its downloads anew. */
function nameOf({ name, originUrl }: Job, download: Download | undefined): string {
  const url = parseUrl(originUrl);
  return name || download?.name || (url ? fileNameOf(url) : '');
}

function happenedTo({ changes, lastChange, breaks, restarts }: Job) {
  return { restarts, changes, lastChange, breaks };
}

function stateOf(job: Job, download: Download | undefined): RunningDownload['state'] {
  if (!download) return job.state;
  if (download.paused) return 'paused';
  const isAllThere = download.bytesReceived === (job.file.totalBytes ?? download.totalBytes);
  return job.state === 'running' && isAllThere ? 'checked' : job.state;
}

async function describeDone(job: Job, downloads: Downloads): Promise<DoneDownload> {
  const { key, originUrl, way, predictedSeconds, directSeconds, directSource, wasPaused } = job;
  const { bytes, startedAtMs, doneAtMs = startedAtMs } = job;
  // After a restart Firefox may have given its number to another one.
  const found = await downloadOf(job, downloads);
  const download = found?.url === job.url ? found : undefined;
  return {
    key,
    name: nameOf(job, download),
    originUrl,
    way,
    predictedSeconds,
    directSeconds,
    directSource,
    ...(wasPaused ? { wasPaused } : {}),
    ...happenedTo(job),
    downloadId: download?.id,
    bytes,
    seconds: (doneAtMs - startedAtMs) / 1_000,
  };
}
