import { expect, it } from 'vitest';
import { job } from '../testing/job.ts';
import { fullArea, memoryArea } from '../testing/memory-area.ts';
import { JobStore } from './job-store.ts';

it('loses no job when several are added and changed at once', async () => {
  const area = memoryArea();
  const jobs = new JobStore(area);
  await Promise.all(['a', 'b', 'c'].map((key) => jobs.add(job({ key }))));
  await Promise.all([jobs.change('a', { bytes: 1 }), jobs.change('b', { bytes: 2 }), jobs.remove('c')]);
  const afterSleep = await new JobStore(area).all();
  expect(afterSleep.map(({ key, bytes }) => [key, bytes])).toEqual([
    ['a', 1],
    ['b', 2],
  ]);
});

it('keeps every job that goes on, and the last five that are done, and that are lost', async () => {
  const jobs = new JobStore(memoryArea());
  await jobs.add(job({ key: 'waiting', state: 'waiting' }));
  for (let number = 1; number <= 7; number += 1)
    await jobs.add(job({ key: `${number}`, state: 'done', doneAtMs: number }));
  for (let number = 1; number <= 7; number += 1)
    await jobs.add(job({ key: `lost ${number}`, state: 'lost', startedAtMs: number }));
  const lost = ['lost 3', 'lost 4', 'lost 5', 'lost 6', 'lost 7'];
  expect((await jobs.all()).map(({ key }) => key)).toEqual(['waiting', '3', '4', '5', '6', '7', ...lost]);
});

it.each(['done', 'lost'] as const)(
  'tells of what is %s just now, though it began before all others that are',
  async (state) => {
    const told: (readonly string[])[] = [];
    const jobs = new JobStore(memoryArea(), (_before, after) => told.push(after.map(({ key }) => key)));
    await jobs.add(job({ key: 'long', startedAtMs: 1 }));
    for (let number = 2; number <= 6; number += 1)
      await jobs.add(job({ key: `${number}`, state, startedAtMs: number }));
    await jobs.change('long', { state });
    expect(told.at(-1)).toEqual(['long', '3', '4', '5', '6']);
  },
);

it('forgets what has ended, and nothing else, when it is told to', async () => {
  const jobs = new JobStore(memoryArea());
  for (const state of ['done', 'lost', 'click', 'running'] as const)
    await jobs.add(job({ key: state, state }));
  await jobs.removeEnded();
  expect((await jobs.all()).map(({ key }) => key)).toEqual(['click', 'running']);
});

it('begins no job that the browser has no room for, and lets those that have begun go on', async () => {
  const jobs = new JobStore(fullArea({ jobs: [job({ key: 'old' })] }));
  await expect(jobs.add(job({ key: 'new' }))).rejects.toThrow('quota');
  expect((await jobs.all()).map(({ key }) => key)).toEqual(['old']);
  expect(await jobs.change('old', { bytes: 7 })).toMatchObject({ bytes: 7 });
  expect(await jobs.get('old')).toMatchObject({ bytes: 7 });
});
