import { expect, test } from 'vitest';
import { type JobReport, jobReportSchema } from './api.ts';
import { joinJobReports } from './join-job-reports.ts';

const reportOf = (...peers: string[]): JobReport => ({
  jobId: 'j',
  seconds: 1,
  legs: peers.map((peer) => ({
    peer,
    connections: 1,
    sentBytes: 10,
    retransmittedBytes: 0,
    receivedBytes: 0,
  })),
});

test('what is told of one neighbour twice is added up', () => {
  expect(joinJobReports(reportOf('client', 'd2'), reportOf('d2', 'd3')).legs).toMatchObject([
    { peer: 'client', sentBytes: 10 },
    { peer: 'd2', sentBytes: 20, connections: 2 },
    { peer: 'd3', sentBytes: 10 },
  ]);
});

test('what is told of ever new neighbours stays a report', () => {
  let all = reportOf();
  for (let one = 0; one < 100; one += 1) all = joinJobReports(all, reportOf(`p${one}`, `q${one}`));
  expect(jobReportSchema.safeParse(all).success).toBe(true);
});
