import { expect, it, vi } from 'vitest';
import type { Download } from '../browser/download.ts';
import { download, FakeDownloads } from '../testing/fake-downloads.ts';
import { job } from '../testing/job.ts';
import { memoryArea } from '../testing/memory-area.ts';
import type { Job } from './job.ts';
import { JobFollower } from './job-follower.ts';
import { JobStore } from './job-store.ts';

const BROKEN = { state: 'interrupted', error: 'NETWORK_FAILED', canResume: true } as const;
const DIRECT = 'start https://origin.example/file.iso#lh-direct as file.iso';

async function setUp(patch: Partial<Download>, jobPatch: Partial<Job> = {}) {
  const downloads = new FakeDownloads(download({ id: 2, url: job().url, ...patch }));
  const jobs = new JobStore(memoryArea());
  await jobs.add(job(jobPatch));
  return { downloads, jobs, follower: new JobFollower({ downloads, jobs }) };
}

it.each<[string, Partial<Download>]>([
  ['is complete', { state: 'complete' }],
  ['was cancelled by the user', { state: 'interrupted', error: 'USER_CANCELED' }],
])('forgets a job whose download %s', async (_what, patch) => {
  const { downloads, jobs, follower } = await setUp(patch);
  await follower.follow(2);
  expect(await jobs.all()).toEqual([]);
  expect(downloads.log).toEqual([]);
});

it.each<[string, Partial<Download>]>([
  ['runs', {}],
  ['is paused, which Firefox calls interrupted', { ...BROKEN, error: 'USER_CANCELED', paused: true }],
  ['has no room on the disk', { ...BROKEN, error: 'FILE_NO_SPACE' }],
])('leaves a download alone that %s', async (_what, patch) => {
  const { downloads, jobs, follower } = await setUp(patch);
  await follower.follow(2);
  expect(await jobs.all()).toHaveLength(1);
  expect(downloads.log).toEqual([]);
});

it('resumes a download whose connection broke', async () => {
  const { downloads, jobs, follower } = await setUp({ ...BROKEN, bytesReceived: 7 });
  await follower.follow(2);
  expect(downloads.log).toEqual(['resume 2']);
  expect(await jobs.all()).toMatchObject([{ state: 'chain', resumes: 1, resumedAtBytes: 7 }]);
});

it('takes the direct way after two resumptions without progress, also when the browser ignores them', async () => {
  const { downloads, jobs, follower } = await setUp(BROKEN);
  downloads.onResume = async () => undefined;
  await follower.follow(2);
  await vi.waitFor(() => expect(downloads.log).toContain(DIRECT));
  expect(downloads.log).toEqual(['resume 2', 'resume 2', 'cancel 2', 'erase 2', DIRECT]);
  await vi.waitFor(async () => expect(await jobs.all()).toMatchObject([{ state: 'direct', downloadId: 1 }]));
});

it('goes on resuming as long as bytes arrive', async () => {
  const { downloads, follower } = await setUp(
    { ...BROKEN, bytesReceived: 900 },
    { resumes: 2, resumedAtBytes: 800 },
  );
  await follower.follow(2);
  expect(downloads.log).toEqual(['resume 2']);
});

it('takes the direct way at once when the browser cannot resume', async () => {
  const { downloads, follower } = await setUp({ ...BROKEN, canResume: false });
  await follower.follow(2);
  expect(downloads.log).toEqual(['cancel 2', 'erase 2', DIRECT]);
});

it('does not wait for a resumption that ends only with the download', async () => {
  const { downloads, jobs, follower } = await setUp(BROKEN);
  downloads.onResume = () => new Promise(() => undefined);
  await follower.follow(2);
  downloads.change(2, { state: 'complete' });
  await follower.follow(2);
  expect(await jobs.all()).toEqual([]);
});

it('says so when not even the direct download starts', async () => {
  const { downloads, jobs, follower } = await setUp({ ...BROKEN, canResume: false });
  downloads.refused.add('https://origin.example/file.iso#lh-direct');
  await follower.follow(2);
  expect(await jobs.all()).toMatchObject([{ state: 'lost' }]);
});
