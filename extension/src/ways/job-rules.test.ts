import { describe, expect, it } from 'vitest';
import { JobStore } from '../jobs/job-store.ts';
import type { Settings } from '../settings/settings.ts';
import { job } from '../testing/job.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { settings } from '../testing/settings.ts';
import { JobRules } from './job-rules.ts';

const ORIGIN = 'https://origin.example/file.iso';

function setUp() {
  const jobs = new JobStore(memoryArea());
  const log: string[] = [];
  const leadRules = {
    lead: async ({ id, to }: { readonly id: number; readonly to: string }) => void log.push(`${id} to ${to}`),
    release: async (id: number) => void log.push(`no ${id}`),
  };
  const set = { now: settings() };
  const change = (patch: Partial<Settings>) => void Object.assign(set, { now: settings(patch) });
  const woken = () => new JobRules({ jobs, leadRules, settings: async () => set.now });
  return { jobs, leadRules, log, change, woken, rules: woken() };
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

it('lets a job go to the origin though another download of the same address is led to the master', async () => {
  const { jobs, log, rules } = setUp();
  const chosen = job({ key: 'chosen', url: ORIGIN, leadRuleId: 4 });
  const other = job({ key: 'other', url: ORIGIN, leadRuleId: 5 });
  for (const one of [chosen, other, job({ key: 'third', url: `${ORIGIN}?`, leadRuleId: 6 })])
    await jobs.add(one);
  await rules.lead({ ...chosen, way: 'direct' });
  expect(log).toEqual(['no 4', 'no 5']);
  // What ends has nothing to do with it, and the other one has its rule again when its way is looked for.
  await rules.release(chosen);
  await rules.lead(other);
  expect(log.slice(2)).toEqual(['no 4', `5 to ${other.masterUrl}`]);
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

describe('when the background starts anew, as by an update of the add-on, which takes its rules away', () => {
  const started = async (...open: readonly ReturnType<typeof job>[]) => {
    const { jobs, log, woken } = setUp();
    for (const one of open) await jobs.add(one);
    await woken().putBack();
    return log;
  };

  it('leads again what is on its way through depots, and what is led to its origin', async () => {
    const taken = job({ key: 'taken', url: ORIGIN, leadRuleId: 4 });
    const turned = job({ key: 'turned', leadRuleId: 5, way: 'direct' });
    expect(await started(taken, turned)).toEqual([`4 to ${taken.masterUrl}`, `5 to ${ORIGIN}#lh-direct`]);
  });

  it('leads nothing that has ended, that comes directly by its own address, or that is kept from before', async () => {
    const direct = job({ key: 'direct', url: ORIGIN, leadRuleId: 4, way: 'direct' });
    const beside = job({ key: 'beside', url: ORIGIN, leadRuleId: 5 });
    const kept = job({ key: 'kept', leadRuleId: 6, isKept: true });
    const ended = (['done', 'lost'] as const).map((state) => job({ key: state, leadRuleId: 7, state }));
    expect(await started(direct, beside, kept, ...ended)).toEqual([]);
  });

  it('leads nobody to the master who chooses the direct way meanwhile', async () => {
    const { jobs, log, leadRules } = setUp();
    await jobs.add(job({ key: 'turning', leadRuleId: 4 }));
    const lead: typeof leadRules.lead = async (rule) => {
      await leadRules.lead(rule);
      await jobs.change('turning', { way: 'direct' });
    };
    const rules = new JobRules({ jobs, leadRules: { ...leadRules, lead }, settings: async () => settings() });
    await rules.putBack();
    expect(log.at(-1)).toBe(`4 to ${ORIGIN}#lh-direct`);
  });

  it('leaves no rule to what ends meanwhile', async () => {
    const { jobs, log, leadRules } = setUp();
    await jobs.add(job({ key: 'ending', leadRuleId: 4 }));
    const lead = async () => void (await jobs.change('ending', { state: 'done' }));
    const rules = new JobRules({ jobs, leadRules: { ...leadRules, lead }, settings: async () => settings() });
    await rules.putBack();
    expect(log).toEqual(['no 4']);
  });
});

describe('when the settings change while a download comes through depots', () => {
  const ADOPTED = 'https://depot.example/begun';

  it.each<[string, Partial<Settings>]>([
    ['switched off', { enabled: false }],
    ['the site never to be touched', { sitesOff: ['page.example'] }],
    ['depots to see nothing of the site', { sitesTunnel: ['origin.example'] }],
    ['another master', { master: 'https://other.example' }],
    ['no master', { master: '' }],
  ])('what is asked for again does not go to the master of before: %s', async (_what, changed) => {
    const { jobs, log, change, rules } = setUp();
    await jobs.add(job({ key: 'taken', url: ORIGIN, leadRuleId: 4 }));
    await jobs.add(job({ key: 'adopted', url: ADOPTED, leadRuleId: 5 }));
    await rules.keepInStep();
    expect(log).toEqual([]);
    change(changed);
    await rules.keepInStep();
    expect(log.toSorted()).toEqual([`5 to ${ORIGIN}#lh-direct`, 'no 4']);
    expect(await jobs.all()).toMatchObject([{ way: 'chain' }, { way: 'chain' }]);
  });

  it('is led to the master again when the user wants that again, though the background slept', async () => {
    const { jobs, log, change, rules, woken } = setUp();
    await jobs.add(job({ key: 'taken', url: ORIGIN, leadRuleId: 4 }));
    await jobs.add(job({ key: 'adopted', url: ADOPTED, leadRuleId: 5 }));
    for (const _ of [1, 2]) {
      change({ enabled: false });
      await rules.keepInStep();
      log.length = 0;
      change({ enabled: true });
      await woken().keepInStep();
      const { masterUrl } = job();
      expect(log.toSorted()).toEqual([`4 to ${masterUrl}`, `5 to ${masterUrl}`]);
    }
    log.length = 0;
    await rules.keepInStep();
    expect(log, 'one that ends now has lost its rule for good').toEqual([]);
  });

  it('is not led there again while another download of its address comes directly', async () => {
    const { jobs, log, change, rules } = setUp();
    const led = job({ key: 'led', url: ORIGIN, leadRuleId: 4 });
    await jobs.add(led);
    await jobs.add(job({ key: 'chosen', url: ORIGIN, leadRuleId: 5, way: 'direct' }));
    change({ enabled: false });
    await rules.keepInStep();
    log.length = 0;
    change({ enabled: true });
    await rules.keepInStep();
    expect(log).toEqual([]);
    await jobs.change('chosen', { state: 'done' });
    await rules.keepInStep();
    expect(log).toEqual([`4 to ${led.masterUrl}`]);
  });

  it('nothing that was decided before leads there later', async () => {
    const { log, change, rules } = setUp();
    change({ enabled: false });
    await rules.lead(job({ url: ORIGIN, leadRuleId: 4 }));
    expect(log).toEqual(['no 4']);
  });

  it('a download that the user himself has sent through depots is led there on, but to no other master', async () => {
    const { jobs, log, change, rules } = setUp();
    await jobs.add(job({ url: ORIGIN, leadRuleId: 4, originalId: -1 }));
    change({ enabled: false, sitesOff: ['origin.example'] });
    await rules.keepInStep();
    expect(log).toEqual([]);
    change({ master: 'https://other.example' });
    await rules.keepInStep();
    expect(log).toEqual(['no 4']);
  });

  it('what has ended, or comes from the site as it is, has no rule that could follow', async () => {
    const { jobs, log, change, rules } = setUp();
    for (const patch of [{ state: 'done' }, { state: 'lost' }, { way: 'direct' }] as const)
      await jobs.add(job({ key: JSON.stringify(patch), ...patch }));
    change({ enabled: false });
    await rules.keepInStep();
    expect(log).toEqual([]);
  });
});
