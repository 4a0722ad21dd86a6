import { expect, test } from 'vitest';
import type { LogTail } from '../hosts/log-tail.ts';
import { legsOfJob } from './told-by-depots.ts';

const leg = (legClass: string, sentBytes: number, receivedBytes: number, rest: object = {}) => ({
  legClass,
  connections: 1,
  sentBytes,
  retransmittedBytes: 10,
  receivedBytes,
  minRttMs: 20.123,
  rttMs: 25,
  deliveryRateBps: 1e6,
  limitedMs: { receiver: 0, 'congestion-window': 30 },
  ...rest,
});
/** Tells one line at a time, as depots do. */
const log = (...lines: Record<string, unknown>[]) =>
  ({ newLines: () => lines.splice(0, 1) }) as unknown as LogTail;

test('the legs of one job are told once each, by the depot that sends, with lanes added up', async () => {
  const tunnel = {
    msg: 'tunnel',
    jobId: 'job',
    legs: [leg('depot', 500, 1, { depot: 'near' }), leg('origin', 1, 500)],
  };
  const logs = new Map([
    [
      'near',
      log({
        msg: 'transfer',
        jobId: 'job',
        legs: [leg('client', 1000, 1), leg('depot', 2, 1000, { depot: 'far' })],
      }),
    ],
    ['far', log(tunnel, tunnel, { ...tunnel, jobId: 'another' }, { msg: 'failover', jobId: 'job' })],
  ]);
  const common = { minRttMs: 20.12, rttMs: 25, deliveryRateBps: 1e6 };
  expect(await legsOfJob(logs, { jobId: 'job', chain: ['near', 'far'] })).toEqual([
    {
      ...common,
      at: 'near',
      to: 'client',
      connections: 1,
      sentBytes: 1000,
      retransmittedBytes: 10,
      receivedBytes: 1,
      limitedMs: { 'congestion-window': 30 },
    },
    {
      ...common,
      at: 'far',
      to: 'near',
      connections: 2,
      sentBytes: 1000,
      retransmittedBytes: 20,
      receivedBytes: 2,
      limitedMs: { 'congestion-window': 60 },
    },
    expect.objectContaining({ at: 'far', to: 'origin', connections: 2, receivedBytes: 1000 }),
  ]);
});
