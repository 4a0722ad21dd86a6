import { expect, it, vi } from 'vitest';
import type { Download } from '../browser/download.ts';
import { ConsentStore } from '../consent/consent-store.ts';
import { FROM_BEFORE, type Job } from '../jobs/job.ts';
import { JobStore } from '../jobs/job-store.ts';
import { SettingsStore } from '../settings/settings-store.ts';
import { LastLeft } from '../take/last-left.ts';
import { download, FakeDownloads } from '../testing/fake-downloads.ts';
import { job } from '../testing/job.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { readStatus } from './read-status.ts';
import type { Status } from './status.ts';

vi.mock('../browser/browser-api.ts', () => import('../testing/speaking-browser.ts'));

const SIZE_BYTES = 50_000_000;

/** What the popup is told of a job and of what the browser has as number 2. */
async function statusOf(
  jobPatch: Partial<Job>,
  downloadPatch: Partial<Download>,
  tabUrl = '',
): Promise<Status> {
  const area = memoryArea();
  const jobs = new JobStore(area, () => {});
  await jobs.add(job(jobPatch));
  const known = { id: 2, url: job().url, totalBytes: SIZE_BYTES, ...downloadPatch };
  return readStatus(tabUrl, {
    settings: new SettingsStore(area, () => {}),
    consent: new ConsentStore(area),
    jobs,
    downloads: new FakeDownloads(download(known)),
    lastLeft: new LastLeft(area),
    tunnels: { viewOf: async () => undefined },
  });
}

it.each([
  ['checked by the browser when all its bytes are there', { bytesReceived: SIZE_BYTES }, 'checked'],
  ['running until then', { bytesReceived: SIZE_BYTES - 1 }, 'running'],
  ['paused when the user paused it', { bytesReceived: SIZE_BYTES, paused: true }, 'paused'],
])('a download is shown as %s', async (_, patch, state) => {
  const { running } = await statusOf({}, patch);
  expect(running).toMatchObject([{ state, totalBytes: SIZE_BYTES }]);
});

it('says of nothing that Firefox has kept that the user chose the direct way', async () => {
  const direct = { way: 'direct', choseDirect: true } as const;
  expect((await statusOf(direct, {})).running[0]?.choseDirect).toBe(true);
  expect((await statusOf({ ...direct, ...FROM_BEFORE }, {})).running[0]?.choseDirect).toBeUndefined();
});

it('says of what is whole that it was paused, whose time is compared with none', async () => {
  expect((await statusOf({ state: 'done', wasPaused: true }, {})).done[0]?.wasPaused).toBe(true);
  expect((await statusOf({ state: 'done' }, {})).done[0]).not.toHaveProperty('wasPaused');
});

it("shows a whole file in its folder as long as its number is not another's", async () => {
  const whole = { state: 'complete' } as const;
  expect((await statusOf({ state: 'done' }, whole)).done[0]?.downloadId).toBe(2);
  const other = { ...whole, url: 'https://other.example/' };
  expect((await statusOf({ state: 'done' }, other)).done[0]?.downloadId).toBeUndefined();
});

it('calls a download without a name of its own as the browser does, and until that does, as its link', async () => {
  const originUrl = 'https://origin.example/get/tool.bin?id=7';
  const nameOf = async (jobPatch: Partial<Job>, name: string) => {
    const { running, done } = await statusOf({ originUrl, ...jobPatch }, { name });
    return [...running, ...done].map((one) => one.name);
  };
  expect(await nameOf({ name: '' }, '')).toEqual(['tool.bin']);
  expect(await nameOf({ name: '' }, 'setup.exe')).toEqual(['setup.exe']);
  expect(await nameOf({ name: '', state: 'done' }, 'setup.exe')).toEqual(['setup.exe']);
  expect(await nameOf({ name: 'a.iso' }, 'a (1).iso')).toEqual(['a.iso']);
});

it('says of a site that is to go through a tunnel why its pages without https do not', async () => {
  const viewOf = async (address: string) => (await statusOf({}, {}, address)).tunnel;
  expect(await viewOf('http://site.example/')).toEqual({ why: 'not-https' });
  expect(await viewOf('https://site.example/')).toBeUndefined();
});
