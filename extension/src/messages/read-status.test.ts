import { expect, it, vi } from 'vitest';
import { ConsentStore } from '../consent/consent-store.ts';
import { JobStore } from '../jobs/job-store.ts';
import { SettingsStore } from '../settings/settings-store.ts';
import { LastLeft } from '../take/last-left.ts';
import { download, FakeDownloads } from '../testing/fake-downloads.ts';
import { job } from '../testing/job.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { readStatus } from './read-status.ts';

vi.mock('../browser/browser-api.ts', () => import('../testing/speaking-browser.ts'));

const SIZE_BYTES = 50_000_000;

it.each([
  ['checked by the browser when all its bytes are there', { bytesReceived: SIZE_BYTES }, 'checked'],
  ['running until then', { bytesReceived: SIZE_BYTES - 1 }, 'running'],
  ['paused when the user paused it', { bytesReceived: SIZE_BYTES, paused: true }, 'paused'],
])('a download is shown as %s', async (_, patch, state) => {
  const area = memoryArea();
  const jobs = new JobStore(area, () => {});
  await jobs.add(job());
  const downloads = new FakeDownloads(download({ id: 2, url: job().url, totalBytes: SIZE_BYTES, ...patch }));
  const { running } = await readStatus('', {
    settings: new SettingsStore(area, () => {}),
    consent: new ConsentStore(area),
    jobs,
    downloads,
    lastLeft: new LastLeft(area),
    way: { standsBeside: false },
    tunnels: { viewOf: async () => undefined },
  });
  expect(running).toMatchObject([{ state, totalBytes: SIZE_BYTES }]);
});
