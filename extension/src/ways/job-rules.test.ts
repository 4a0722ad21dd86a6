import { expect, it } from 'vitest';
import { JobStore } from '../jobs/job-store.ts';
import { job } from '../testing/job.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { JobRules } from './job-rules.ts';

const ORIGIN = 'https://origin.example/file.iso';

function setUp() {
  const jobs = new JobStore(memoryArea());
  const log: string[] = [];
  const leadRules = {
    lead: async ({ id, to }: { readonly id: number; readonly to: string }) => void log.push(`${id} to ${to}`),
    release: async (id: number) => void log.push(`no ${id}`),
  };
  return { jobs, log, rules: new JobRules({ jobs, leadRules }) };
}

it('leads a job to the master while its way is a chain, and lets it go to the origin itself after that', async () => {
  const { log, rules } = setUp();
  const led = job({ url: ORIGIN, leadRuleId: 4 });
  await rules.lead(led);
  await rules.lead({ ...led, way: 'direct' });
  expect(log).toEqual([`4 to ${led.masterUrl}`, 'no 4']);
});

it("leads a job that began at another address than the origin's to the origin", async () => {
  const { log, rules } = setUp();
  await rules.lead(job({ way: 'direct', leadRuleId: 4 }));
  expect(log).toEqual([`4 to ${ORIGIN}#lh-direct`]);
});

it('knows the rule of a job that an older version has stored, and gives its number to no other', async () => {
  const { jobs, log, rules } = setUp();
  const { leadRuleId: _none, ...older } = job({ routeId: 7 });
  await jobs.add(older);
  expect(await rules.nextId()).toBe(8);
  expect(await rules.nextId()).toBe(9);
  await rules.release(older);
  expect(log).toEqual(['no 7']);
});
