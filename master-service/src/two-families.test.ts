import { type AddressFamily, type JobReport, ok, type PlanAnswer } from '@longhaul/shared';
import { DepotSources, generateKeyPair } from '@longhaul/shared/service';
import { expect, test } from 'vitest';
import { AddressProver } from './depots/address-prover.ts';
import { DepotService } from './depots/depot-service.ts';
import { createDownloads } from './downloads.ts';
import { KeyRing } from './keys/key-ring.ts';
import { generateSigningKey } from './keys/signing-key.ts';
import { createKnowledge } from './knowledge.ts';
import { IdleLinks } from './measuring/idle-links.ts';
import { OverlayPlaces } from './policy/overlay-places.ts';
import { MeasuredPrefixes } from './prefixes/measured-prefixes.ts';
import { PrefixFiles } from './prefixes/prefix-files.ts';
import { WhereaboutsLookUp } from './prefixes/whereabouts.ts';
import { MemoryDepotStore } from './testing/memory-depot-store.ts';
import { testConfig } from './testing/start-master.ts';
import { EntryGroups } from './tickets/entry-groups.ts';

const NOW = 1_795_000_000_000;
/** One client: the address by which it asks the master, and the network from which it comes to depots. */
const CLIENT = '2001:db8:5::7';
const SEEN_AS = '198.51.100.0/24';
/** Round trips between depots: the client is beside d1, the origin beside d3. */
const LINKS = { 'd1 d3': 140, 'd1 d2': 80, 'd2 d3': 70 };

/** A master behind its sockets: depots and clients are heard as they would be over them, from any address. */
async function start(onlyFamilies: Readonly<Record<string, AddressFamily>> = {}) {
  const config = testConfig({ links: [], planner: { allowVia: true } });
  const emit = () => {};
  const now = () => NOW;
  const knowledge = createKnowledge({
    config,
    depotStore: new MemoryDepotStore(),
    enrolmentStore: undefined,
    emit,
    source: 'here',
    epoch: 1,
    startedAtMs: NOW,
  });
  const keys = new KeyRing({
    first: generateSigningKey(),
    state: undefined,
    renewMs: Number.MAX_SAFE_INTEGER,
    aheadMs: 0,
    lifeMs: 0,
    canTell: () => false,
    now,
    steadyMs: now,
    onPublished: emit,
    onFailure: emit,
  });
  const downloads = createDownloads({
    config,
    knowledge,
    keys,
    overlay: new OverlayPlaces(() => [], now),
    groups: new EntryGroups([]),
    whereabouts: new WhereaboutsLookUp({
      files: new PrefixFiles({}, emit),
      measured: new MeasuredPrefixes(knowledge.facts),
      site: () => undefined,
    }),
    ask: async ({ host }) => ok({ addresses: [host] }),
    authorities: [],
    publicUrl: () => 'http://master.example',
    now,
    steadyMs: now,
    random: undefined,
    emit,
  });
  const service = new DepotService({
    ...knowledge,
    ...downloads,
    prover: new AddressProver({
      registry: knowledge.registry,
      ask: async ({ id, host }) => ok({ addresses: [host], onlyFamily: onlyFamilies[id] }),
      sources: new DepotSources(),
      now,
      emit,
    }),
    assumedSizeBytes: config.planner.assumedSizeBytes,
    idleLinks: new IdleLinks({ links: knowledge.links }),
    emit,
  });
  let sequence = 0;
  const stamp = () => ({ timeMs: NOW, epoch: 'epoch-000001', sequence: (sequence += 1) });
  const hear = (id: string, told: object) => {
    const none = { activeTransfers: 0, draining: false, links: [], sizes: [] };
    const heard = service.hear(id, { ...none, ...told }, stamp(), NOW);
    if (!heard.ok) throw heard.error;
  };
  const ids = ['d1', 'd2', 'd3'];
  for (const id of ids) {
    const { publicKey } = generateKeyPair();
    const place = { host: '127.0.0.1', port: 7000 + Number(id.slice(1)), tls: false };
    await service.register({ id, publicKey, ...place }, stamp(), NOW);
  }
  for (const [pair, rttMs] of Object.entries(LINKS)) {
    const [one = '', other = ''] = pair.split(' ');
    const seen = { rttMs, goodputBps: 5e8, sentBytes: 2e7, retransmittedBytes: 2000 };
    hear(one, { links: [{ to: other, ...seen }] });
    hear(other, { links: [{ to: one, ...seen }] });
  }
  const plan = (clientAddress = CLIENT, via: string[] = []): PlanAnswer => {
    const url = { scheme: 'https', host: 'origin.example', port: 443, path: '/f', query: null } as const;
    const options = { sizeBytes: 200_000_000, via };
    const planned = downloads.plans.explain({ url, options, kind: 'get', clientAddress }, NOW);
    if (!planned.ok) throw planned.error;
    return planned.value;
  };
  return { hear, plan, close: downloads.close };
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
