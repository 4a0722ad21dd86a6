import type { TicketClaims } from '@longhaul/shared';
import { expect, test } from 'vitest';
import { type Arrival, JobTable, type JobTableInit } from './job-table.ts';

const CLIENT: Arrival = { from: 'client', prefix: '192.0.2.0/24', hasRange: false };
const RESUME: Arrival = { ...CLIENT, hasRange: true };
const DEPOT: Arrival = { from: 'depot' };

function claims(jobId: string, change: Partial<TicketClaims> = {}): TicketClaims {
  return {
    jobId,
    kind: 'get',
    urlHash: '',
    authorityHash: '',
    chains: [['d1']],
    promises: [{ rateBps: 1, worstRttMs: 1, worstLossRate: 0 }],
    lanes: 1,
    budgetBytes: 100,
    budgetConnections: 10,
    issuedAt: 1000,
    lastStart: 1600,
    endOfLife: 90_000,
    ...change,
  };
}

function table(init: Partial<JobTableInit> = {}) {
  const clock = { now: 1000 };
  const limits = { maxTransfers: 5, maxPerJob: 5, maxPerClient: 5, maxJobs: 5, bootedAt: 0 };
  return { jobs: new JobTable({ ...limits, nowSeconds: () => clock.now, ...init }), clock };
}

function codeOf(result: ReturnType<JobTable['admit']>): string {
  return result.ok ? 'admitted' : result.error.code;
}

function release(result: ReturnType<JobTable['admit']>): void {
  if (result.ok) result.value.release();
}

test.each([
  ['a full depot', { maxTransfers: 1 }, 'depot-full', 'b'],
  ['a client network with its share', { maxPerClient: 1 }, 'client-busy', 'b'],
  ['a download with all its connections', { maxPerJob: 1 }, 'job-busy', 'a'],
] as const)('%s is refused, and served again when one has ended', (_, limits, code, next) => {
  const { jobs } = table(limits);
  const first = jobs.admit(claims('a'), CLIENT);
  expect(codeOf(jobs.admit(claims(next), CLIENT))).toBe(code);
  release(first);
  expect(codeOf(jobs.admit(claims(next), CLIENT))).toBe('admitted');
  expect(jobs.active).toBe(1);
});

test('the share of one client network is nothing to others, and nothing to depots', () => {
  const { jobs } = table({ maxPerClient: 1 });
  jobs.admit(claims('a'), CLIENT);
  expect(codeOf(jobs.admit(claims('b'), { ...CLIENT, prefix: '198.51.100.0/24' }))).toBe('admitted');
  expect(codeOf(jobs.admit(claims('c'), DEPOT))).toBe('admitted');
});

test('a full memory forgets the job that was used longest ago, and still lets it resume', () => {
  const { jobs, clock } = table({ maxJobs: 2 });
  for (const id of ['a', 'b', 'a', 'c']) release(jobs.admit(claims(id), CLIENT));
  clock.now = 5000;
  expect(codeOf(jobs.admit(claims('a'), CLIENT)), 'a was used after b').toBe('admitted');
  expect(codeOf(jobs.admit(claims('b'), CLIENT))).toBe('ticket-start-over');
  expect(codeOf(jobs.admit(claims('b'), RESUME))).toBe('admitted');
});

test('jobs that run are never forgotten', () => {
  const { jobs } = table({ maxJobs: 1 });
  jobs.admit(claims('a'), CLIENT);
  expect(codeOf(jobs.admit(claims('b'), CLIENT))).toBe('depot-full');
});

test('only a depot that booted after the ticket was issued takes a resume of a job it does not know', () => {
  const late = 5000;
  const up = table({ bootedAt: 0 });
  up.clock.now = late;
  expect(codeOf(up.jobs.admit(claims('a'), RESUME))).toBe('ticket-start-over');
  const restarted = table({ bootedAt: 4000 });
  restarted.clock.now = late;
  expect(codeOf(restarted.jobs.admit(claims('a'), RESUME))).toBe('admitted');
  expect(codeOf(restarted.jobs.admit(claims('b'), CLIENT))).toBe('ticket-start-over');
  expect(codeOf(restarted.jobs.admit(claims('c'), DEPOT))).toBe('admitted');
});
