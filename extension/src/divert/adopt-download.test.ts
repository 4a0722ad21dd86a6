import { expect, it } from 'vitest';
import type { Download } from '../browser/download.ts';
import type { Job } from '../jobs/job.ts';
import { JobStore } from '../jobs/job-store.ts';
import { download, FakeDownloads, NOW_MS } from '../testing/fake-downloads.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { order } from '../testing/order.ts';
import { location, plan } from '../testing/plan.ts';
import { seenAnswer } from '../testing/seen-answer.ts';
import { settings } from '../testing/settings.ts';
import { AdoptDownloads } from './adopt-download.ts';

/** As Chromium tells of a download that a rule led to the master, and the master to a depot. */
const LED = { url: 'https://origin.example/file.iso', finalUrl: location() };

function setUp(caught: Download, patch: Partial<ConstructorParameters<typeof AdoptDownloads>[0]> = {}) {
  const downloads = new FakeDownloads(caught);
  const jobs = new JobStore(memoryArea());
  const adopted: Job[] = [];
  const adoption = new AdoptDownloads({
    downloads,
    jobs,
    now: () => NOW_MS,
    settings: async () => settings({ noWastedByte: true }),
    answers: { answerTo: async () => seenAnswer() },
    askMaster: async () => ({ result: 'plan', plan: plan() }),
    deadline: () => new AbortController().signal,
    keeper: { look: async () => undefined },
    way: { adopt: async (job) => void adopted.push(job) },
    ...patch,
  });
  return { adopted, adoption, downloads, jobs };
}

it('makes a job of a download that a rule led to a depot', async () => {
  const caught = download(LED);
  const { adopted, adoption, jobs } = setUp(caught);
  expect(await adoption.adopts(caught)).toBe(true);
  expect(await jobs.all()).toMatchObject([
    {
      state: 'running',
      downloadId: 1,
      url: LED.url,
      originUrl: LED.url,
      chain: ['pe-1', 'rj-1'],
      file: { etag: '"v1"' },
    },
  ]);
  expect(adopted).toHaveLength(1);
});

it('calls one by its address for which its user is still asked', async () => {
  const caught = download({ ...LED, name: '' });
  const { adoption, jobs } = setUp(caught);
  expect(await adoption.adopts(caught)).toBe(true);
  expect(await jobs.all()).toMatchObject([{ name: 'file.iso' }]);
});

it('asks the master for the address that a rule has judged, and tells it of none that led there', async () => {
  const caught = download({ url: 'https://members.example/get?token=secret', finalUrl: location() });
  const asked: string[] = [];
  const { adoption, jobs } = setUp(caught, {
    askMaster: async (_master, { url }) => {
      asked.push(url);
      return { result: 'plan', plan: plan() };
    },
  });
  expect(await adoption.adopts(caught)).toBe(true);
  expect(asked).toEqual(['https://origin.example/file.iso']);
  expect(await jobs.all()).toMatchObject([{ url: caught.url, originUrl: 'https://origin.example/file.iso' }]);
});

it('makes a job of one whose answer was held, by what is known of it', async () => {
  const caught = download({ url: location() });
  const { adoption, jobs } = setUp(caught, { askMaster: async () => ({ result: 'silent' }) });
  adoption.expect(order({ original: download({ id: -1 }) }));
  expect(await adoption.adopts(caught)).toBe(true);
  expect(await jobs.all()).toMatchObject([{ downloadId: 1, url: location(), masterUrl: plan().masterUrl }]);
});

it('knows it again where the depot listens at the port that browsers leave out', async () => {
  const { jobId } = plan();
  const held = order({ plan: plan({ location: location('https://depot.example:443') }) });
  const caught = download({ url: location('https://depot.example') });
  const { adoption, jobs } = setUp(caught, { askMaster: async () => ({ result: 'silent' }) });
  adoption.expect(held);
  expect(await adoption.adopts(caught)).toBe(true);
  expect(await jobs.all()).toMatchObject([{ downloadId: 1, url: caught.url, jobId }]);
});

it('gives way to the direct download when the depot gives another version than the browser saw', async () => {
  const caught = download({ url: location() });
  const { adoption, downloads, jobs } = setUp(caught, {
    answers: { answerTo: async () => seenAnswer({}, { etag: '"v2"' }) },
  });
  adoption.expect(order({ original: download({ id: -1 }) }));
  expect(await adoption.adopts(caught)).toBe(true);
  expect(downloads.log).toEqual(['cancel 1', 'erase 1', `start ${LED.url}#lh-direct as file.iso`]);
  expect(await jobs.all()).toEqual([]);
});

it('gives way to the direct download when what comes encrypted would come in the open', async () => {
  const caught = download({ ...LED, finalUrl: location('http://depot.example') });
  const { adoption, downloads, jobs } = setUp(caught);
  expect(await adoption.adopts(caught)).toBe(true);
  expect(downloads.log).toEqual(['cancel 1', 'erase 1', `start ${LED.url}#lh-direct as file.iso`]);
  expect(await jobs.all()).toEqual([]);
});

it.each<[string, Partial<Download>, Parameters<typeof settings>[0]]>([
  ['any other', {}, {}],
  ["the add-on's own", { ...LED, addonId: 'longhaul' }, {}],
  ["the add-on's own, as Chromium tells of it first", { ...LED, url: plan().masterUrl }, {}],
  ["another add-on's", { ...LED, addonId: 'other' }, {}],
  ['what comes from a depot on a private network', { ...LED, finalUrl: location('http://10.0.0.1') }, {}],
  ['what came by a link of the master while nothing is diverted', LED, { noWastedByte: false }],
])('leaves %s alone', async (_what, patch, set) => {
  const caught = download(patch);
  const { adoption, jobs } = setUp(caught, {
    settings: async () => settings({ noWastedByte: true, ...set }),
  });
  expect(await adoption.adopts(caught)).toBe(false);
  expect(await jobs.all()).toEqual([]);
});
