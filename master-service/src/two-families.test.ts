import type { AddressFamily, JobReport } from '@longhaul/shared';
import { expect, test } from 'vitest';
import { startBehindSockets } from './testing/start-behind-sockets.ts';

/** One client: the address by which it asks the master, and the network from which it comes to depots. */
const CLIENT = '2001:db8:5::7';
const SEEN_AS = '198.51.100.0/24';
/** Round trips between depots: the client is beside d1, the origin beside d3. */
const LINKS = { 'd1 d3': 140, 'd1 d2': 80, 'd2 d3': 70 };

async function start(onlyFamilies: Readonly<Record<string, AddressFamily>> = {}) {
  const { hear, plan, close } = await startBehindSockets({ links: LINKS, onlyFamilies });
  return {
    hear,
    plan: (clientAddress = CLIENT, via: string[] = []) =>
      plan(clientAddress, { sizeBytes: 200_000_000, via }),
    close,
  };
}

/** What an entry depot tells of a job that has ended. */
function jobOf(jobId: string, prefix: string): JobReport {
  const bytes = { sentBytes: 2e8, retransmittedBytes: 0, receivedBytes: 0 };
  return { jobId, seconds: 9, legs: [{ peer: 'client', prefix, connections: 1, ...bytes }] };
}

const KNOWN_ORIGIN = { host: 'origin.example', receivedBytes: 4e7, lostBytes: 0, goodputBps: 3e8 };
const KNOWN_CLIENT = { prefix: SEEN_AS, goodputBps: 9e7, sentBytes: 4e7, retransmittedBytes: 0 };

test('a client that asks by IPv6 and comes by IPv4 is known from its first download on', async ({
  onTestFinished,
}) => {
  const { hear, plan, close } = await start();
  onTestFinished(close);
  hear('d3', { origins: [{ ...KNOWN_ORIGIN, rttMs: 5 }] });
  const first = plan();
  // The depot beside the origin, which is no detour wherever the client is.
  expect(first.chain).toEqual(['d3']);
  hear('d3', {
    clients: [{ ...KNOWN_CLIENT, rttMs: 145, retransmittedBytes: 4e5, goodputBps: 8e6 }],
    jobs: [jobOf(first.jobId, SEEN_AS)],
  });
  hear('d1', { clients: [{ ...KNOWN_CLIENT, rttMs: 5 }] });
  const known = plan('2001:db8:5:1::8');
  expect(known.chain[0]).toBe('d1');
  // As one whose family is the same.
  const { chain, prediction } = plan('198.51.100.7');
  expect(known).toMatchObject({ chain, prediction });
  expect(plan('2001:db8:6::8').chain).toEqual(['d3']);
});

test('where a client came from only an entry depot of its plan says, and none that the client chose', async ({
  onTestFinished,
}) => {
  const { hear, plan, close } = await start();
  onTestFinished(close);
  hear('d3', { origins: [{ ...KNOWN_ORIGIN, rttMs: 5 }] });
  hear('d1', { clients: [{ ...KNOWN_CLIENT, rttMs: 5 }] });
  const { jobId } = plan();
  for (const other of ['d1', 'd2']) hear(other, { jobs: [jobOf(jobId, SEEN_AS)] });
  hear('d3', { jobs: [jobOf('no-such-job', SEEN_AS)] });
  hear('d1', { jobs: [jobOf(plan(CLIENT, ['d1']).jobId, SEEN_AS)] });
  expect(plan('2001:db8:5:1::8').chain).toEqual(['d3']);
});

test('a depot that answers its master by IPv6 alone gets no client that asks by IPv4, until one has come', async ({
  onTestFinished,
}) => {
  const [byIpv4, byIpv6] = ['8.8.8.8', '2606:4700::1111'];
  const { hear, plan, close } = await start({ d3: 'IPv6' });
  onTestFinished(close);
  hear('d3', { origins: [{ ...KNOWN_ORIGIN, rttMs: 5 }] });
  // Neither one gets what was planned for the other.
  for (const [client, chain] of [
    [byIpv4, []],
    [byIpv6, ['d3']],
    [byIpv4, []],
  ] as const)
    expect(plan(client).chain).toEqual(chain);
  hear('d3', { clients: [{ ...KNOWN_CLIENT, prefix: '8.8.8.0/24', rttMs: 145 }] });
  expect(plan(byIpv4).chain).toEqual(['d3']);
});
