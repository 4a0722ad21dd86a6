import type { TicketClaims } from '@longhaul/shared';
import { expect, test } from 'vitest';
import { JobTable } from './job-table.ts';

function claims(jobId: string, change: Partial<TicketClaims> = {}): TicketClaims {
  return {
    jobId,
    kind: 'get',
    urlHash: '',
    authorityHash: '',
    chains: [['d1']],
    lanes: 1,
    rateBps: 1,
    budgetBytes: 100,
    budgetConnections: 10,
    issuedAt: 1000,
    lastStart: 1600,
    endOfLife: 90_000,
    ...change,
  };
}

function table(init: { maxTransfers?: number; maxJobs?: number; bootedAt?: number } = {}) {
  const clock = { now: 1000 };
  const jobs = new JobTable({
    maxTransfers: 5,
    maxJobs: 5,
    bootedAt: 0,
    nowSeconds: () => clock.now,
    ...init,
  });
  return { jobs, clock };
}

function codeOf(result: ReturnType<JobTable['admit']>): string {
  return result.ok ? 'admitted' : result.error.code;
}

test('a full depot refuses, and serves again when a transfer has ended', () => {
  const { jobs } = table({ maxTransfers: 1 });
  const first = jobs.admit(claims('a'), 'client');
  expect(codeOf(jobs.admit(claims('b'), 'client'))).toBe('depot-full');
  if (first.ok) jobs.release(first.value);
  expect(codeOf(jobs.admit(claims('b'), 'client'))).toBe('admitted');
  expect(jobs.active).toBe(1);
});

test('ended jobs make room for new ones, living ones do not', () => {
  const { jobs, clock } = table({ maxJobs: 1 });
  const first = jobs.admit(claims('a'), 'client');
  if (first.ok) jobs.release(first.value);
  expect(codeOf(jobs.admit(claims('b'), 'client'))).toBe('depot-full');
  clock.now = 100_000;
  const later = { issuedAt: 100_000, lastStart: 100_600, endOfLife: 200_000 };
  expect(codeOf(jobs.admit(claims('b', later), 'client'))).toBe('admitted');
});

test('only a depot that booted after the ticket was issued takes a resume of a job it does not know', () => {
  const late = 5000;
  const up = table({ bootedAt: 0 });
  up.clock.now = late;
  expect(codeOf(up.jobs.admit(claims('a'), 'client-range'))).toBe('ticket-start-over');
  const restarted = table({ bootedAt: 4000 });
  restarted.clock.now = late;
  expect(codeOf(restarted.jobs.admit(claims('a'), 'client-range'))).toBe('admitted');
  expect(codeOf(restarted.jobs.admit(claims('b'), 'client'))).toBe('ticket-start-over');
  expect(codeOf(restarted.jobs.admit(claims('c'), 'depot'))).toBe('admitted');
});
