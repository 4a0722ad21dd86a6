import { expect, it } from 'vitest';
import type { Download } from '../browser/download.ts';
import { download, FakeDownloads } from '../testing/fake-downloads.ts';
import { job } from '../testing/job.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { JobFollower } from './job-follower.ts';
import { JobStore } from './job-store.ts';
import { recoverJobs } from './recover-jobs.ts';

/** The background ended after it had written the job down and before it knew the new download's id. */
async function wakeUpWith(...items: Download[]) {
  const downloads = new FakeDownloads(...items);
  const jobs = new JobStore(memoryArea());
  await jobs.add(job({ state: 'starting', downloadId: undefined }));
  await recoverJobs({ downloads, jobs, follower: new JobFollower({ downloads, jobs }) });
  return { log: downloads.log, jobs: await jobs.all() };
}

it('finds the download that had been started', async () => {
  const { log, jobs } = await wakeUpWith(download({ id: 5, url: job().url }));
  expect(log).toEqual([]);
  expect(jobs).toMatchObject([{ state: 'chain', downloadId: 5 }]);
});

it('starts the original again when it had been ended and nothing was in its place', async () => {
  const { log, jobs } = await wakeUpWith();
  expect(log).toEqual(['start https://origin.example/file.iso#lh-direct as file.iso']);
  expect(jobs).toMatchObject([{ state: 'direct', downloadId: 1 }]);
});

it('forgets the job when the original goes on', async () => {
  const { log, jobs } = await wakeUpWith(download());
  expect(log).toEqual([]);
  expect(jobs).toEqual([]);
});

it('catches up with what happened to running jobs', async () => {
  const downloads = new FakeDownloads(download({ id: 2, state: 'complete' }));
  const jobs = new JobStore(memoryArea());
  await jobs.add(job());
  await recoverJobs({ downloads, jobs, follower: new JobFollower({ downloads, jobs }) });
  expect(await jobs.all()).toEqual([]);
});
