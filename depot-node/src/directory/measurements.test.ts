import { heartbeatRequestSchema, type JobLeg, MAX_BODY_BYTES } from '@longhaul/shared';
import { expect, test } from 'vitest';
import { type Batch, Measurements } from './measurements.ts';

const ids = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const bytesOf = (reports: Batch) =>
  Buffer.byteLength(JSON.stringify({ activeTransfers: 2000, draining: false, ...reports }));

/** A job with as many neighbours as one may have. */
function longJob(jobId: string) {
  const legs: JobLeg[] = ids(32, 'neighb-').map((peer) => ({
    peer,
    connections: 64,
    sentBytes: 123_456_789_012,
    retransmittedBytes: 12_345_678,
    receivedBytes: 123_456_789_012,
    rttMs: 123.456_789_012,
    goodputBps: 123_456_789.012_345,
    limitedBy: 'congestion-window' as const,
  }));
  return { jobId, seconds: 1234.567_89, legs };
}

function measureLinksAndClients(measurements: Measurements): void {
  const sent = {
    sentBytes: 123_456_789_012,
    retransmittedBytes: 12_345_678,
    goodputBps: 123_456_789.012_345,
  };
  for (const to of ids(1000, 'depot-')) measurements.noteLink({ to, rttMs: 123.456_789_012, ...sent });
  for (const index of Array.from({ length: 1000 }).keys()) {
    const prefix = `10.${index >> 8}.${index & 255}.0/24`;
    measurements.noteClient({ prefix, rttMs: 123.456_789_012, ...sent });
  }
}

/** As much as a depot can have measured between two heartbeats. */
function measureAll(measurements: Measurements): void {
  measureLinksAndClients(measurements);
  for (const host of ids(1000, `${'long-label.'.repeat(20)}origin-`)) {
    measurements.noteOrigin({
      host,
      rttMs: 123.456_789_012,
      receivedBytes: 123_456_789_012,
      lostBytes: 1234,
    });
  }
  for (const urlHash of ids(1000, 'A'.repeat(39)))
    measurements.noteSize(urlHash, 'origin.example', 123_456_789_012);
  for (const jobId of ids(100, 'job')) measurements.noteJob(longJob(jobId));
}

test('however much a depot has measured, its master takes each heartbeat and hears all of it in the end', () => {
  const measurements = new Measurements();
  measureAll(measurements);
  const told = { links: 0, clients: 0, origins: 0, sizes: 0, jobs: 0 };
  let heartbeats = 0;
  for (let reports = measurements.batch(); bytesOf(reports) > 200; reports = measurements.batch()) {
    expect(bytesOf(reports)).toBeLessThan(MAX_BODY_BYTES);
    expect(
      heartbeatRequestSchema.safeParse({ activeTransfers: 0, draining: false, ...reports }).success,
    ).toBe(true);
    told.links += reports.links.length;
    told.clients += reports.clients?.length ?? 0;
    told.origins += reports.origins?.length ?? 0;
    told.sizes += reports.sizes.length;
    told.jobs += reports.jobs?.length ?? 0;
    measurements.noteAnswered();
    heartbeats += 1;
    if (heartbeats > 20) break;
  }
  expect(told).toEqual({ links: 1000, clients: 1000, origins: 1000, sizes: 1000, jobs: 100 });
});

test('the newest reports of each kind come first, and no kind keeps another one from being told', () => {
  const measurements = new Measurements();
  measureAll(measurements);
  const { links, clients = [], origins = [], sizes, jobs = [] } = measurements.batch();
  for (const some of [clients, origins, sizes, jobs]) expect(some.length).toBeGreaterThan(0);
  expect(links.at(-1)?.to).toBe('depot-999');
  expect(origins.at(-1)?.host).toMatch(/origin-999$/);
  expect(jobs.at(-1)?.jobId).toBe('job99');
});

test('a domain of names without end pushes out its own reports, and others are told', () => {
  const measurements = new Measurements();
  measurements.noteOrigin({ host: 'origin.example', rttMs: 10 });
  measurements.noteSize('first', 'origin.example', 1);
  for (const host of ids(2000, 'a').map((name) => `${name}.evil.example`)) {
    measurements.noteOrigin({ host, rttMs: 10 });
    measurements.noteSize(`of ${host}`, host, 1);
  }
  const { origins = [], sizes } = measurements.batch();
  expect([origins.length, sizes.length]).toEqual([1000, 1000]);
  expect([origins[0]?.host, sizes[0]?.urlHash]).toEqual(['origin.example', 'first']);
});

test('links between depots are told whole before the ways to clients', () => {
  const measurements = new Measurements();
  measureLinksAndClients(measurements);
  const { links, clients = [] } = measurements.batch();
  expect(links).toHaveLength(1000);
  expect(clients.length).toBeGreaterThan(300);
  expect(clients.length).toBeLessThan(1000);
});

test('a link that was full is told as full until more was carried over it', () => {
  const toldAfter = (...totals: number[]) => {
    const measurements = new Measurements();
    measurements.noteLink({ to: 'd2', rttMs: 40, totalBps: 6e6, fullBps: 6e6 });
    for (const totalBps of totals) measurements.noteLink({ to: 'd2', rttMs: 40, totalBps });
    return measurements.batch().links[0];
  };
  expect(toldAfter(5e6)).toMatchObject({ fullBps: 6e6 });
  expect(toldAfter(5e6, 95e6)).not.toHaveProperty('fullBps');
});

test('what nobody has answered is told as it was, under its number, and what has come since under the next one', () => {
  const measurements = new Measurements();
  const job = longJob('job');
  const link = { to: 'd2', rttMs: 40, sentBytes: 1000, retransmittedBytes: 0 };
  const measure = () => {
    measurements.noteJob(job);
    measurements.noteLink(link);
  };
  expect(measurements.batch(), 'nothing that could count twice').toEqual({ links: [], sizes: [] });
  measure();
  const first = { batch: 1, links: [link], sizes: [], jobs: [job] };
  expect(measurements.batch()).toEqual(first);
  measure();
  expect(measurements.batch()).toEqual(first);
  expect(measurements.isUnanswered).toBe(true);
  measurements.noteAnswered();
  expect(measurements.isUnanswered).toBe(false);
  expect(measurements.batch()).toEqual({ ...first, batch: 2 });
});
