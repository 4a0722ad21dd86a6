import { expect, test } from 'vitest';
import { joinJobReports } from './join-job-reports.ts';
import { type JobReport, jobReportSchema } from './messages/heartbeat.ts';

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

test('a client is where the later report says, if it says so', () => {
  const from = (prefix?: string): JobReport => {
    const [leg] = reportOf('client').legs;
    return { ...reportOf(), legs: leg ? [{ ...leg, ...(prefix ? { prefix } : {}) }] : [] };
  };
  const [one, other] = [from('192.0.2.0/24'), from('198.51.100.0/24')];
  expect(joinJobReports(one, other).legs).toMatchObject([{ prefix: '198.51.100.0/24' }]);
  expect(joinJobReports(one, from()).legs).toMatchObject([{ prefix: '192.0.2.0/24' }]);
  expect(joinJobReports(from(), from()).legs[0]).not.toHaveProperty('prefix');
});

test('what is told of ever new neighbours stays a report', () => {
  let all = reportOf();
  for (let one = 0; one < 100; one += 1) all = joinJobReports(all, reportOf(`p${one}`, `q${one}`));
  expect(jobReportSchema.safeParse(all).success).toBe(true);
});
