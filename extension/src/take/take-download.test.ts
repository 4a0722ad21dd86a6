import { expect, it } from 'vitest';
import { askMaster } from '../ask/ask-master.ts';
import { probeDepot } from '../ask/probe-depot.ts';
import { JobFollower } from '../jobs/job-follower.ts';
import { JobStore } from '../jobs/job-store.ts';
import { download, FakeDownloads } from '../testing/fake-downloads.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { plan } from '../testing/plan.ts';
import { serve } from '../testing/serve.ts';
import { settings } from '../testing/settings.ts';
import { RecentRequests } from '../watch/recent-requests.ts';
import { type TakeDependencies, takeDownload } from './take-download.ts';

const PROBE = { totalBytes: 50_000_000, mime: 'application/octet-stream' };
const MASTER_START = `start ${plan().masterUrl} as file.iso`;
const DIRECT_START = 'start https://origin.example/file.iso#lh-direct as file.iso';

function setUp(patch: Partial<TakeDependencies> = {}, caught = download()) {
  const downloads = new FakeDownloads(caught);
  const jobs = new JobStore(memoryArea());
  const deps: TakeDependencies = {
    addonId: 'longhaul',
    downloads,
    jobs,
    follower: new JobFollower({ downloads, jobs }),
    requests: new RecentRequests(memoryArea()),
    settings: async () => settings(),
    askMaster: async () => plan(),
    probeDepot: async () => PROBE,
    deadline: () => new AbortController().signal,
    pause: async () => undefined,
    ...patch,
  };
  return { downloads, jobs, take: () => takeDownload(caught, deps) };
}

it('replaces the original under its name once the depot has shown the file, and remembers the job', async () => {
  const { downloads, jobs, take } = setUp({
    probeDepot: async () => {
      downloads.log.push('probed');
      return PROBE;
    },
  });
  expect(await take()).toBe('taken');
  expect(downloads.log).toEqual(['probed', 'cancel 1', 'erase 1', MASTER_START]);
  expect(await jobs.all()).toMatchObject([{ state: 'chain', downloadId: 1, chain: ['pe-1', 'rj-1'] }]);
});

it.each<[string, Partial<TakeDependencies>]>([
  ['master-failed', { askMaster: async () => undefined }],
  ['direct-is-best', { askMaster: async () => plan({ decision: 'direct', chain: [] }) }],
  ['insecure-chain', { askMaster: async () => plan({ location: 'http://depot.example/a' }) }],
  ['depot-failed', { probeDepot: async () => undefined }],
  ['different-file', { probeDepot: async () => ({ totalBytes: 1, mime: '' }) }],
  ['different-file', { probeDepot: async () => ({ totalBytes: undefined, mime: 'text/html' }) }],
  ['off', { settings: async () => settings({ enabled: false }) }],
])('leaves the original alone: %s', async (why, patch) => {
  const { downloads, jobs, take } = setUp(patch);
  expect(await take()).toBe(why);
  expect(downloads.log).toEqual([]);
  expect(await jobs.all()).toEqual([]);
});

it.each(['master', 'depot'])('gives up when the %s has not answered in time', async (silent) => {
  const time = new AbortController();
  const mute = await serve(() => time.abort());
  const { downloads, take } = setUp({
    deadline: () => time.signal,
    askMaster: (_master, request, signal) =>
      silent === 'master' ? askMaster(mute, request, signal) : Promise.resolve(plan({ location: mute })),
    probeDepot,
    settings: async () => settings({ privateHosts: ['127.0.0.1'] }),
  });
  expect(await take()).toBe(`${silent}-failed`);
  expect(downloads.log).toEqual([]);
});

it('does nothing when the original has finished, is paused or nearly done by the time the depot answers', async () => {
  for (const [patch, why] of [
    [{ state: 'complete' }, 'finished'],
    [{ paused: true }, 'finished'],
    [{ bytesReceived: 41_000_000 }, 'nearly-done'],
  ] as const) {
    const { downloads, take } = setUp({
      probeDepot: async () => {
        downloads.change(1, patch);
        return PROBE;
      },
    });
    expect(await take()).toBe(why);
    expect(downloads.log).toEqual([]);
  }
});

it('keeps a file that finishes in the very moment of the replacement', async () => {
  const { downloads, jobs, take } = setUp();
  downloads.cancel = async () => downloads.change(1, { state: 'complete' });
  expect(await take()).toBe('finished');
  expect(downloads.log).toEqual([]);
  expect(await jobs.all()).toEqual([]);
});

it('does not take a download away from a user who is being asked where to save it', async () => {
  const { take, downloads } = setUp();
  downloads.change(1, { name: '' });
  expect(await take()).toBe('name-open');
});

it('starts the original again when the browser refuses a download that is taken', async () => {
  const { downloads, jobs, take } = setUp();
  downloads.refused.add(plan().masterUrl);
  expect(await take()).toBe('taken');
  expect(downloads.log).toEqual(['cancel 1', 'erase 1', MASTER_START, DIRECT_START]);
  expect(await jobs.all()).toMatchObject([{ state: 'direct', downloadId: 1 }]);
});

it('waits for the size that Firefox tells only after the first event, and asks nobody about a small file', async () => {
  const caught = download({ totalBytes: undefined });
  let asked = false;
  const { downloads, take } = setUp(
    {
      pause: async () => downloads.change(1, { totalBytes: 1_000, bytesReceived: 1_000 }),
      askMaster: async () => {
        asked = true;
        return plan();
      },
    },
    caught,
  );
  expect(await take()).toBe('small');
  expect(asked).toBe(false);
});
