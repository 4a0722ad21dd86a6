import { beforeEach, describe, expect, it } from 'vitest';
import { download, NOW_MS } from '../testing/fake-downloads.ts';
import { job } from '../testing/job.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { settings } from '../testing/settings.ts';
import { Reports } from './reports.ts';

const MASTER = 'https://master.example';
const agreed = settings({ tellsMaster: true });
const done = (patch: Parameters<typeof job>[0] = {}) =>
  job({
    state: 'done',
    jobId: 'job-1',
    doneAtMs: NOW_MS + 20_000,
    bytes: 50_000_000,
    reportsTo: MASTER,
    ...patch,
  });
const whole = download({ state: 'complete' });

let now: ReturnType<typeof settings>;
/** Which master was told of which plan. */
let told: (readonly [string, string | undefined])[];
let reports: Reports;

beforeEach(() => {
  now = agreed;
  told = [];
  reports = new Reports({
    area: memoryArea(),
    downloads: { get: async () => download() },
    settings: async () => now,
    tellMaster: async (master, { jobId }) => {
      told.push([master, jobId]);
      return true;
    },
    deadline: () => new AbortController().signal,
    now: () => NOW_MS + 40_000,
  });
});

it('tells a master how its own plans went, with depots and without', async () => {
  await reports.jobDone(done());
  await reports.plannedDirect(download(), 'job-2', MASTER);
  await reports.follow(whole);
  expect(told).toEqual([
    [MASTER, 'job-1'],
    [MASTER, 'job-2'],
  ]);
});

describe.each([
  ['the master is another one', { master: 'https://other.example' }],
  ['there is no master', { master: '' }],
  ['the user has taken his word back', { tellsMaster: false }],
  ['the add-on is off', { enabled: false }],
])('tells nobody of a plan when %s at its end', (_why, patch) => {
  it.each(['a chain', 'direct'])('by %s', async (way) => {
    await reports.plannedDirect(download(), 'job-2', MASTER);
    now = { ...now, ...patch };
    await (way === 'direct' ? reports.follow(whole) : reports.jobDone(done()));
    expect(told).toEqual([]);
  });
});

it('tells nothing of what began before the user agreed to it', async () => {
  now = settings();
  await reports.plannedDirect(download(), 'job-2', MASTER);
  now = agreed;
  await reports.follow(whole);
  await reports.jobDone(done({ reportsTo: undefined }));
  expect(told).toEqual([]);
});

it('tells the master of the beginning nothing of the plan of another one, by which a download ended', async () => {
  await reports.jobDone(done({ masterUrl: 'https://other.example/get/https/origin.example:443/file.iso' }));
  expect(told).toEqual([]);
});
