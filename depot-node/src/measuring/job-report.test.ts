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
