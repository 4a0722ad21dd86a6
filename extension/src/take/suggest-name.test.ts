import { expect, it, vi } from 'vitest';
import type { DownloadItem, StorageArea, Suggest } from '../browser/browser-api.ts';
import { JobStore } from '../jobs/job-store.ts';
import { job } from '../testing/job.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { suggestName } from './suggest-name.ts';

const item = (byExtensionId: string | undefined, url = job().url) => ({ byExtensionId, url }) as DownloadItem;

async function jobsWith(name: string): Promise<JobStore> {
  const jobs = new JobStore(memoryArea());
  await jobs.add(job({ name }));
  return jobs;
}

it("answers at once, with the browser's own choice, for a download that is not ours", async () => {
  const suggest = vi.fn<Suggest>();
  expect(suggestName(item(undefined), suggest, 'longhaul', await jobsWith('a.bin'))).toBe(false);
  expect(suggest.mock.calls).toEqual([[]]);
});

it("gives our own download the original's name, once", async () => {
  const suggest = vi.fn<Suggest>();
  expect(suggestName(item('longhaul'), suggest, 'longhaul', await jobsWith('a.bin'))).toBe(true);
  await vi.waitFor(() => expect(suggest).toHaveBeenCalled());
  expect(suggest.mock.calls).toEqual([[{ filename: 'a.bin', conflictAction: 'uniquify' }]]);
});

it('answers once even when the job is unknown or the storage fails', async () => {
  const broken = { get: () => Promise.reject(new Error('gone')) } as unknown as StorageArea;
  for (const jobs of [new JobStore(memoryArea()), new JobStore(broken)]) {
    const suggest = vi.fn<Suggest>();
    expect(suggestName(item('longhaul'), suggest, 'longhaul', jobs)).toBe(true);
    await vi.waitFor(() => expect(suggest).toHaveBeenCalled());
    expect(suggest.mock.calls).toEqual([[]]);
  }
});
