import { expect, test } from 'vitest';
import { Facts } from '../facts/facts.ts';
import { LED_FACTS, LedHosts } from './led-hosts.ts';

const NOW = 1_795_000_000_000;
const HOUR_MS = 3_600_000;
const FRONT = 'front.example';
const STORAGE = { host: 'storage.example', port: 443 };
const ARCHIVE = { host: 'archive.example', port: 443 };
const NETWORK = '192.0.2.0/24';
const OTHER = '198.51.100.0/24';

/** A master whose depots d1, d2 and d3 have met all hosts. */
function known(metBy: readonly string[] = ['d1', 'd2', 'd3'], facts = new Facts({ kinds: LED_FACTS })) {
  const hosts = new LedHosts(() => metBy, facts);
  let jobs = 0;
  const jobOf = (network: string, isAsked = false) => {
    jobs += 1;
    return { jobId: `j${jobs}`, network, host: FRONT, isAsked };
  };
  return {
    hosts,
    jobOf,
    leads: (depot: string, to = STORAGE, network = NETWORK, hours = 0) =>
      hosts.note(jobOf(network), depot, to, NOW + hours * HOUR_MS),
    serves: (depot: string, network = NETWORK) => hosts.noteEnded(jobOf(network), depot, NOW),
    hostFor: (network?: string) => hosts.of({ ...(network ? { network } : {}), host: FRONT })?.host,
  };
}

test('where the downloads of a network came from is known of the network, and by its entry depot’s word alone of no other one', () => {
  const { hosts, leads, hostFor } = known();
  expect(hostFor(NETWORK)).toBeUndefined();
  leads('d1');
  expect(hosts.of({ network: NETWORK, host: FRONT })).toEqual({
    ...STORAGE,
    isAgreed: false,
    isOwn: true,
    isMet: true,
  });
  expect([hostFor(OTHER), hostFor()]).toEqual([undefined, undefined]);
  expect(hosts.of({ network: NETWORK, host: 'other.example' })).toBeUndefined();
});

test('what two depots say is so for all, as long as most that tell say so', () => {
  const { hosts, leads, hostFor } = known();
  leads('d1', ARCHIVE);
  leads('d2', STORAGE, '203.0.113.0/24');
  expect(hostFor(OTHER)).toBeUndefined();
  leads('d3', STORAGE, '203.0.114.0/24');
  expect(hosts.of({ network: OTHER, host: FRONT })).toEqual({
    ...STORAGE,
    isAgreed: true,
    isOwn: false,
    isMet: true,
  });
  expect(hostFor()).toBe(STORAGE.host);
  // A network's own downloads come first.
  expect(hosts.of({ network: NETWORK, host: FRONT })).toMatchObject({ ...ARCHIVE, isAgreed: false });
});

test('a site that has moved is known by those that have been there since, whoever was there before', () => {
  const { leads, hostFor } = known(['d1', 'd2', 'd3', 'd4', 'd5']);
  for (const depot of ['d1', 'd2', 'd3', 'd4', 'd5']) leads(depot, ARCHIVE);
  expect(hostFor(OTHER)).toBe(ARCHIVE.host);
  for (let hours = 48; hours < 50; hours += 1) {
    for (const network of ['10.0.1.0/24', '10.0.2.0/24', '10.0.3.0/24'])
      for (const depot of ['d1', 'd2']) leads(depot, STORAGE, network, hours);
  }
  expect(hostFor(OTHER)).toBe(STORAGE.host);
});

test('the only depot that has met a host says for all where that leads', () => {
  const { leads, hostFor } = known(['d1']);
  leads('d1');
  expect(hostFor(OTHER)).toBe(STORAGE.host);
});

test('a host that gives as much itself as it leads on is planned by itself', () => {
  const { leads, serves, hostFor } = known();
  leads('d1');
  serves('d1');
  expect(hostFor(NETWORK)).toBeUndefined();
  leads('d1');
  expect(hostFor(NETWORK)).toBe(STORAGE.host);
  leads('d2', STORAGE, OTHER);
  expect(hostFor()).toBe(STORAGE.host);
  for (const depot of ['d2', 'd3']) serves(depot, OTHER);
  expect(hostFor()).toBeUndefined();
});

test('a host that leads to several is planned by none of them, unless most of the last five downloads came from it', () => {
  const { leads, hostFor } = known();
  for (const to of [STORAGE, ARCHIVE, STORAGE, ARCHIVE]) leads('d1', to);
  expect(hostFor(NETWORK)).toBeUndefined();
  for (let time = 0; time < 3; time += 1) leads('d1', ARCHIVE);
  expect(hostFor(NETWORK)).toBe(ARCHIVE.host);
});

test('one client network has one voice with each depot, however much it downloads', () => {
  const { leads, hostFor } = known();
  for (const network of ['10.0.1.0/24', '10.0.2.0/24', '10.0.3.0/24'])
    for (const depot of ['d1', 'd2']) leads(depot, STORAGE, network);
  for (let time = 0; time < 20; time += 1) for (const depot of ['d1', 'd2']) leads(depot, ARCHIVE);
  expect(hostFor(NETWORK)).toBe(ARCHIVE.host);
  expect(hostFor(OTHER)).toBe(STORAGE.host);
});

test('who chose his chain by himself says nothing', () => {
  const { hosts, jobOf, hostFor } = known();
  hosts.note(jobOf(NETWORK, true), 'd1', STORAGE, NOW);
  expect(hostFor(NETWORK)).toBeUndefined();
});

test('of several redirects the last one counts, and one to the same host is none', () => {
  const { hosts, jobOf, hostFor } = known();
  const job = jobOf(NETWORK);
  hosts.note(job, 'd1', ARCHIVE, NOW);
  hosts.note(job, 'd1', STORAGE, NOW);
  expect(hostFor(NETWORK)).toBe(STORAGE.host);
  hosts.note(job, 'd1', { host: FRONT, port: 8443 }, NOW);
  expect(hostFor(NETWORK)).toBeUndefined();
});

test('nothing is remembered of hosts that lead nowhere, and of one that is busy all day next to nothing told', () => {
  const facts = new Facts({ kinds: LED_FACTS });
  const { leads, serves } = known(['d1'], facts);
  let told = 0;
  facts.tellOthers(() => (told += 1));
  serves('d1');
  expect(told).toBe(0);
  for (let minute = 0; minute < 180; minute += 1) leads('d1', STORAGE, NETWORK, minute / 60);
  // Five until it is sure, then once an hour; the depot's one voice of the network as often.
  expect(told).toBeLessThanOrEqual(5 + 3 + 1 + 3);
});

test('a job’s redirect counts with the master that planned it, whichever master was asked for the ticket', () => {
  const [planned, asked] = [
    new Facts({ kinds: LED_FACTS, source: 'one' }),
    new Facts({ kinds: LED_FACTS, source: 'two' }),
  ];
  asked.tellOthers((fact) => planned.store.take(fact, NOW));
  const { hosts, jobOf, hostFor } = known(undefined, planned);
  const job = jobOf(NETWORK);
  hosts.onJobLed((jobId, depot, to, atMs) => {
    if (jobId === job.jobId) hosts.note(job, depot, to, atMs);
  });
  const elsewhere = new LedHosts(() => [], asked);
  elsewhere.noteFollowUp('d1', job.jobId, STORAGE, NOW);
  elsewhere.noteFollowUp('d1', 'no-such-job', ARCHIVE, NOW);
  hosts.noteEnded(job, 'd1', NOW);
  expect(hostFor(NETWORK)).toBe(STORAGE.host);
});

test('what several masters have learned of a host counts together', () => {
  const [one, two] = [
    new Facts({ kinds: LED_FACTS, source: 'one' }),
    new Facts({ kinds: LED_FACTS, source: 'two' }),
  ];
  two.tellOthers((fact) => one.store.take(fact, NOW));
  const here = known(undefined, one);
  here.leads('d1');
  known(undefined, two).leads('d2', STORAGE, '203.0.113.0/24');
  expect(here.hostFor(OTHER)).toBe(STORAGE.host);
});

test('what a depot has told is forgotten with it, and after a week', () => {
  const facts = new Facts({ kinds: LED_FACTS });
  const { hosts, leads, hostFor } = known(undefined, facts);
  leads('d1');
  leads('d2', ARCHIVE);
  leads('d2', ARCHIVE);
  expect(hostFor(NETWORK)).toBe(ARCHIVE.host);
  hosts.forgetFrom('d2');
  expect(hostFor(NETWORK)).toBe(STORAGE.host);
  facts.store.sweep(NOW + 8 * 24 * HOUR_MS);
  expect(hostFor(NETWORK)).toBeUndefined();
});

test('a depot that tells of ever more hosts has its own oldest forgotten', () => {
  const { hosts, jobOf, hostFor } = known();
  hosts.note(jobOf(NETWORK), 'd1', STORAGE, NOW);
  for (let count = 0; count < 11_000; count += 1)
    hosts.note({ ...jobOf(OTHER), host: `h${count}.example` }, 'd2', ARCHIVE, NOW);
  expect(hostFor(NETWORK)).toBe(STORAGE.host);
});
