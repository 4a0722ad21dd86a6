import { heartbeatRequestSchema, type JobLeg, MAX_BODY_BYTES } from '@longhaul/shared';
import { expect, test } from 'vitest';
import { Measurements, type Reports } from './measurements.ts';

const ids = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const bytesOf = (reports: Reports) =>
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
  for (let reports = measurements.all(); bytesOf(reports) > 200; reports = measurements.all()) {
    expect(bytesOf(reports)).toBeLessThan(MAX_BODY_BYTES);
    expect(
      heartbeatRequestSchema.safeParse({ activeTransfers: 0, draining: false, ...reports }).success,
    ).toBe(true);
    told.links += reports.links.length;
    told.clients += reports.clients?.length ?? 0;
    told.origins += reports.origins?.length ?? 0;
    told.sizes += reports.sizes.length;
    told.jobs += reports.jobs?.length ?? 0;
    measurements.forget(reports);
    heartbeats += 1;
    if (heartbeats > 20) break;
  }
  expect(told).toEqual({ links: 1000, clients: 1000, origins: 1000, sizes: 1000, jobs: 100 });
});

test('the newest reports of each kind come first, and no kind keeps another one from being told', () => {
  const measurements = new Measurements();
  measureAll(measurements);
  const { links, clients = [], origins = [], sizes, jobs = [] } = measurements.all();
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
  const { origins = [], sizes } = measurements.all();
  expect([origins.length, sizes.length]).toEqual([1000, 1000]);
  expect([origins[0]?.host, sizes[0]?.urlHash]).toEqual(['origin.example', 'first']);
});

test('links between depots are told whole before the ways to clients', () => {
  const measurements = new Measurements();
  measureLinksAndClients(measurements);
  const { links, clients = [] } = measurements.all();
  expect(links).toHaveLength(1000);
  expect(clients.length).toBeGreaterThan(300);
  expect(clients.length).toBeLessThan(1000);
});

test('a link that was full is told as full until more was carried over it', () => {
  const measurements = new Measurements();
  const full = { to: 'd2', rttMs: 40, totalBps: 6e6, fullBps: 6e6 };
  measurements.noteLink(full);
  measurements.noteLink({ to: 'd2', rttMs: 40, totalBps: 5e6 });
  expect(measurements.all().links).toMatchObject([{ fullBps: 6e6 }]);
  measurements.noteLink({ to: 'd2', rttMs: 40, totalBps: 95e6 });
  expect(measurements.all().links[0]).not.toHaveProperty('fullBps');
});
