import { expect, it } from 'vitest';
import { job } from '../testing/job.ts';
import { reportsOf } from './reports-of.ts';

const whole = (patch: Parameters<typeof job>[0] = {}) =>
  job({
    state: 'done',
    jobId: 'job-1',
    startedAtMs: 1_000,
    doneAtMs: 21_000,
    bytes: 50_000_000,
    ...patch,
  });

it('tells what a chain gave, and no address', () => {
  expect(reportsOf(whole())).toEqual([
    { jobId: 'job-1', verdict: 'worked', measured: { bytes: 50_000_000, seconds: 20 } },
  ]);
});

const left = { atMs: 11_000, way: 'chain', chain: ['pe-1'], jobId: 'job-0', rateBps: 1e6 } as const;

it('tells that a way was slow where the one after it was clearly faster', () => {
  // 40 Mbit/s since the change.
  expect(reportsOf(whole({ lastChange: { ...left, bytes: 0 } }))).toEqual([
    { jobId: 'job-0', verdict: 'slow' },
  ]);
});

it('names the depot that gave the file where the plan began at another one of its group', () => {
  const { chain } = left;
  const told = (servedBy: string) => reportsOf(whole({ lastChange: { ...left, servedBy, bytes: 0 } }));
  expect(told('pe-2')).toEqual([{ jobId: 'job-0', verdict: 'slow', depot: 'pe-2' }]);
  expect(told(chain[0])).toEqual([{ jobId: 'job-0', verdict: 'slow' }]);
});

it('calls no way slow where the next one was, too: then the line to the user is', () => {
  // 1.6 Mbit/s since the change.
  expect(reportsOf(whole({ lastChange: { ...left, bytes: 48_000_000 } }))).toEqual([]);
});

it.each([
  ['is not whole', { state: 'running' }],
  ['broke on its way', { breaks: 1 }],
  ['began again', { restarts: 1 }],
  ['the user paused', { wasPaused: true }],
  ['the user led elsewhere', { lastChange: { ...left, isAsked: true } }],
  ['came directly in the end', { way: 'direct' }],
  ['is of a version without ids of plans', { jobId: undefined }],
] as const)('tells nothing of a download that %s', (_what, patch) => {
  expect(reportsOf(whole(patch as Parameters<typeof job>[0]))).toEqual([]);
});
