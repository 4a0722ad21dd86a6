import { expect, it } from 'vitest';
import { askMaster } from '../ask/ask-master.ts';
import { type Probe, probeDepot } from '../ask/probe-depot.ts';
import { JobFollower } from '../jobs/job-follower.ts';
import { JobStore } from '../jobs/job-store.ts';
import { factsOf } from '../judge/file-facts.ts';
import type { Left, WhyLeft } from '../judge/why-left.ts';
import { download, FakeDownloads } from '../testing/fake-downloads.ts';
import { memoryArea } from '../testing/memory-area.ts';
import { location, plan } from '../testing/plan.ts';
import { seenAnswer } from '../testing/seen-answer.ts';
import { serve } from '../testing/serve.ts';
import { settings } from '../testing/settings.ts';
import { type TakeDependencies, takeDownload } from './take-download.ts';

const FILE = factsOf(200, seenAnswer().headers);
const PROBE: Probe = { result: 'file', file: FILE };
const MASTER_START = `start ${plan().masterUrl} as file.iso`;
const DIRECT_START = 'start https://origin.example/file.iso#lh-direct as file.iso';

function setUp(patch: Partial<TakeDependencies> = {}, caught = download()) {
  const downloads = new FakeDownloads(caught);
  const jobs = new JobStore(memoryArea());
  const deps: TakeDependencies = {
    addonId: 'longhaul',
    now: () => Date.UTC(2026, 10, 21),
    downloads,
    jobs,
    follower: new JobFollower({ downloads, jobs }),
    answers: { answerTo: async () => seenAnswer() },
    settings: async () => settings(),
    askMaster: async () => ({ result: 'plan', plan: plan() }),
    probeDepot: async () => PROBE,
    deadline: () => new AbortController().signal,
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

const planned = (patch: Parameters<typeof plan>[0]) => async () => ({
  result: 'plan' as const,
  plan: plan(patch),
});

it.each<[WhyLeft, Partial<TakeDependencies>]>([
  ['off', { settings: async () => settings({ enabled: false }) }],
  ['unseen', { answers: { answerTo: async () => undefined } }],
  ['personal', { answers: { answerTo: async () => seenAnswer({}, { vary: 'Cookie' }) } }],
  ['master-silent', { askMaster: async () => ({ result: 'silent' }) }],
  ['no-master-there', { askMaster: async () => ({ result: 'no-master', status: 404 }) }],
  ['direct-is-best', { askMaster: planned({ decision: 'direct', chain: [] }) }],
  ['plan-unfit', { askMaster: planned({ location: 'http://192.168.1.1/apply.cgi' }) }],
  ['insecure-chain', { askMaster: planned({ location: location('http://depot.example') }) }],
  ['depot-silent', { probeDepot: async () => ({ result: 'silent' }) }],
  ['different-file', { probeDepot: async () => ({ result: 'file', file: { ...FILE, etag: '"v2"' } }) }],
])('leaves the original alone: %s', async (why, patch) => {
  const { downloads, jobs, take } = setUp(patch);
  expect(await take()).toEqual({ why });
  expect(downloads.log).toEqual([]);
  expect(await jobs.all()).toEqual([]);
});

it('hands on what the master or the depot itself says', async () => {
  const refused = { result: 'refused', code: 'origin-not-allowed', message: 'Ask the operator.' } as const;
  expect(await setUp({ askMaster: async () => refused }).take()).toEqual({
    why: 'master-refused',
    detail: 'Ask the operator. (origin-not-allowed)',
  });
  const { detail } = (await setUp({
    probeDepot: async () => ({ result: 'refused', code: 'origin-needs-login' }),
  }).take()) as Left;
  expect(detail).toMatch(/login.*\(origin-needs-login\)$/);
});

it('asks nobody about a download that others must not ask for', async () => {
  let asked = false;
  const { take } = setUp({
    answers: { answerTo: async () => seenAnswer({ method: 'POST' }) },
    askMaster: async () => {
      asked = true;
      return { result: 'silent' };
    },
  });
  expect(await take()).toEqual({ why: 'post' });
  expect(asked).toBe(false);
});

it('gives up when master or depot has not answered in time', async () => {
  for (const silent of ['master', 'depot']) {
    const time = new AbortController();
    const mute = await serve(() => time.abort());
    const { downloads, take } = setUp({
      deadline: () => time.signal,
      askMaster: (_master, request, signal) =>
        silent === 'master' ? askMaster(mute, request, signal) : planned({})(),
      probeDepot: (_location, signal) => probeDepot(mute, signal),
    });
    expect(await take()).toEqual({ why: `${silent}-silent` });
    expect(downloads.log).toEqual([]);
  }
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
    expect(await take()).toEqual({ why });
    expect(downloads.log).toEqual([]);
  }
});

it('keeps a file that finishes in the very moment of the replacement', async () => {
  const { downloads, jobs, take } = setUp();
  downloads.cancel = async () => downloads.change(1, { state: 'complete' });
  expect(await take()).toEqual({ why: 'finished' });
  expect(downloads.log).toEqual([]);
  expect(await jobs.all()).toEqual([]);
});

it('does not take a download away from a user who is being asked where to save it', async () => {
  const { take, downloads } = setUp();
  downloads.change(1, { name: '' });
  expect(await take()).toEqual({ why: 'name-open' });
});

it('starts the original again when the browser refuses a download that is taken', async () => {
  const { downloads, jobs, take } = setUp();
  downloads.refused.add(plan().masterUrl);
  expect(await take()).toBe('taken');
  expect(downloads.log).toEqual(['cancel 1', 'erase 1', MASTER_START, DIRECT_START]);
  expect(await jobs.all()).toMatchObject([{ state: 'direct', downloadId: 1 }]);
});
