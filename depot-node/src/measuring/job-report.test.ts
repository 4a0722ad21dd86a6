import { expect, test } from 'vitest';
import type { DepotEvent } from '../plane/events.ts';
import { jobReportOf } from './job-report.ts';

test('a round trip that a master would refuse, with all that is told beside it, is left out', () => {
  const leg = {
    legClass: 'client',
    connections: 1,
    sentBytes: 10,
    retransmittedBytes: 0,
    receivedBytes: 1,
    limitedMs: { receiver: 0, 'send-buffer': 0, 'congestion-window': 5, idle: 0 },
  };
  const eventWith = (minRttMs: number) =>
    ({ type: 'tunnel', jobId: 'job', seconds: 1, legs: [{ ...leg, minRttMs }] }) as unknown as DepotEvent;
  expect(jobReportOf(eventWith(60_000))?.legs).toMatchObject([{ peer: 'client', rttMs: 60_000 }]);
  const [told] = jobReportOf(eventWith(60_001))?.legs ?? [];
  expect(told).toMatchObject({ peer: 'client', sentBytes: 10, limitedBy: 'congestion-window' });
  expect(told).not.toHaveProperty('rttMs');
});

test('of the one byte by which an add-on tries a way a master is told no download', () => {
  const trial = { type: 'transfer', jobId: 'job', seconds: 1, bodyBytes: 1, status: 206, legs: [] };
  const toldOf = (more: object) =>
    jobReportOf({ ...trial, outcome: 'complete', chain: ['d1'], ...more } as unknown as DepotEvent);
  expect(toldOf({})).toEqual({ jobId: 'job', seconds: 1, legs: [] });
  expect(toldOf({ bodyBytes: 0, outcome: 'upstream-broke' })?.download).toMatchObject({ bodyBytes: 0 });
  expect(toldOf({ bodyBytes: 2 })?.download).toMatchObject({ requests: 1, bodyBytes: 2 });
  expect(toldOf({ status: 200 })?.download).toMatchObject({ requests: 1, isWhole: true });
});

test('a master is told which share of what its client got a download had, and how long it waited for the origin, in few digits', () => {
  const transfer = {
    type: 'transfer',
    jobId: 'job',
    seconds: 3,
    bodyBytes: 10,
    status: 200,
    outcome: 'complete',
    chain: ['d1'],
    legs: [],
  };
  const toldOf = (more: object) => jobReportOf({ ...transfer, ...more } as unknown as DepotEvent)?.download;
  expect(toldOf({ ownShare: 1 / 3, waitedMs: 1234.5678 })).toMatchObject({
    ownShare: 0.333,
    waitedSeconds: 1.235,
  });
  expect(toldOf({ ownShare: 1, waitedMs: undefined })).not.toHaveProperty('waitedSeconds');
});
