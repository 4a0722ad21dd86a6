import { expect, it } from 'vitest';
import { job } from '../testing/job.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { JobStore } from './job-store.ts';

it('loses no job when several are added and changed at once', async () => {
  const area = memoryArea();
  const jobs = new JobStore(area);
  await Promise.all(['a', 'b', 'c'].map((key) => jobs.add(job({ key }))));
  await Promise.all([jobs.change('a', { resumes: 1 }), jobs.change('b', { resumes: 2 }), jobs.remove('c')]);
  const afterSleep = await new JobStore(area).all();
  expect(afterSleep.map(({ key, resumes }) => [key, resumes])).toEqual([
    ['a', 1],
    ['b', 2],
  ]);
});
