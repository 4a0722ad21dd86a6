import { expect, it } from 'vitest';
import type { Job } from '../jobs/job.ts';
import { JobStore } from '../jobs/job-store.ts';
import type { Settings } from '../settings/settings.ts';
import { download, FakeDownloads } from '../testing/fake-downloads.ts';
import { job } from '../testing/job.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { settings } from '../testing/settings.ts';
import { readLegs } from './read-legs.ts';

const LED = 'https://depot.example/file.iso?ticket';
const LEGS = [{ from: 'you', to: 'pe-1' }] as unknown as NonNullable<Awaited<ReturnType<typeof readLegs>>>;

/** What the popup is told of a job's legs, and whom they were asked of, with the address that has the ticket. */
async function legsOf(set: Partial<Settings> = {}, patch: Partial<Job> = {}) {
  const jobs = new JobStore(memoryArea(), () => {});
  await jobs.add(job({ location: 'https://depot.example/file.iso?planned', ...patch }));
  const asked: string[] = [];
  const legs = await readLegs('a', {
    jobs,
    downloads: new FakeDownloads(download({ id: 2, finalUrl: LED })),
    settings: async () => settings(set),
    askLegs: async (master, location) => {
      asked.push(`${master} ${location}`);
      return location === LED ? undefined : LEGS;
    },
    deadline: () => AbortSignal.timeout(1_000),
  });
  return { legs, asked };
}

it('asks the master by the ticket that the browser was led with, then by the planned one', async () => {
  expect(await legsOf()).toEqual({
    legs: LEGS,
    asked: [`https://master.example ${LED}`, 'https://master.example https://depot.example/file.iso?planned'],
  });
});

it.each<[string, Partial<Settings>, Partial<Job>]>([
  ['another master than that which planned it', { master: 'https://other.example' }, {}],
  ['no master', { master: '' }, {}],
  ['anybody while it is switched off', { enabled: false }, {}],
  ['anybody of a site under "never"', { sitesOff: ['origin.example'] }, {}],
  ['anybody of what comes directly', {}, { way: 'direct' }],
])('shows no ticket to %s', async (_whom, set, patch) => {
  expect(await legsOf(set, patch)).toEqual({ legs: undefined, asked: [] });
});

it('asks of what the user has sent through depots himself, also while it is switched off', async () => {
  expect((await legsOf({ enabled: false }, { originalId: -1 })).legs).toBe(LEGS);
});
