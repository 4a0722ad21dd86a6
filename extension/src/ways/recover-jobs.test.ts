import { expect, it } from 'vitest';
import { JobStore } from '../jobs/job-store.ts';
import { download, FakeDownloads } from '../testing/fake-downloads.ts';
import { job } from '../testing/job.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { recoverJobs } from './recover-jobs.ts';

/** Jobs that an earlier life left; `meanwhile` happens in each pause. */
async function recover(downloads: FakeDownloads, meanwhile: () => void = () => {}) {
  const jobs = new JobStore(memoryArea());
  for (const state of ['starting', 'waiting', 'done'] as const) await jobs.add(job({ key: state, state }));
  const calls: string[] = [];
  let waitedMs = 0;
  await recoverJobs({
    downloads,
    jobs,
    way: {
      recover: async ({ key }) => void calls.push(`recover ${key} after ${waitedMs / 1_000} s`),
      putBack: async () => void calls.push('put back'),
    },
    keeper: { look: async () => void calls.push('look') },
    pause: async (ms) => {
      waitedMs += ms;
      meanwhile();
    },
  });
  return calls;
}

it.each([
  ['the original', download()],
  ['its successor', download({ id: 2, url: job().url })],
])(
  'takes up at once what was being put in place, where %s is there, and looks after all jobs',
  async (_what, item) => {
    expect(await recover(new FakeDownloads(item))).toEqual([
      'recover starting after 0 s',
      'look',
      'put back',
    ]);
  },
);

it('waits with that for a browser that does not know its list yet', async () => {
  const late = new FakeDownloads();
  const calls = await recover(late, () => void late.items.set(1, download()));
  expect(calls).toEqual(['recover starting after 10 s', 'look', 'put back']);
});
