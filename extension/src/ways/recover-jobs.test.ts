import { expect, it } from 'vitest';
import { JobStore } from '../jobs/job-store.ts';
import { job } from '../testing/job.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { recoverJobs } from './recover-jobs.ts';

it('takes up what was being put in place when the background ended, and looks after all other jobs', async () => {
  const jobs = new JobStore(memoryArea());
  for (const state of ['starting', 'waiting', 'done'] as const) await jobs.add(job({ key: state, state }));
  const calls: string[] = [];
  await recoverJobs({
    jobs,
    way: { recover: async ({ key }) => void calls.push(`recover ${key}`) },
    keeper: { look: async () => void calls.push('look') },
  });
  expect(calls).toEqual(['recover starting', 'look']);
});
