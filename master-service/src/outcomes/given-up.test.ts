import type { JobDownload, JobReport } from '@longhaul/shared';
import { expect, test } from 'vitest';
import type { RouteBasis } from '../planning/decision/route-basis.ts';
import { modelSeconds } from '../planning/decision/route-basis.ts';
import { ClientMarks } from './client-marks.ts';
import { OutcomeBook } from './outcome-book.ts';
import { type PlannedJob, RecentJobs } from './recent-jobs.ts';
import type { WholeDownload } from './way-book.ts';

const NOW = 1_795_000_000_000;
const SIZE_BYTES = 1e8;
const LEG = { rttMs: 20, lossRate: 0, rateBps: 1e8, windowBytes: 64e6, sender: 'bbr' } as const;
const SET_UP = { clientTls: false, originTls: false };
const BASIS: RouteBasis = {
  legs: [LEG, LEG],
  setUp: SET_UP,
  direct: { legs: [LEG], setUp: SET_UP, source: 'ends' },
};
const PLANNED_SECONDS = modelSeconds(BASIS, 1, SIZE_BYTES);

interface Told {
  readonly job?: Partial<PlannedJob>;
  readonly download?: Partial<JobDownload>;
  readonly leg?: Partial<JobReport['legs'][number]>;
  readonly by?: string;
}

/** What is learned of a download over `d1`, at 2 Mbit/s and given up after two minutes unless told otherwise. */
function learnedOf({ job, download, leg, by = 'd1' }: Told = {}): (readonly [WholeDownload, number])[] {
  const learned: (readonly [WholeDownload, number])[] = [];
  const jobs = new RecentJobs();
  const book = new OutcomeBook({
    jobs,
    emit: () => {},
    steadyMs: () => 0,
    ways: { note: (_, whole, nowMs) => learned.push([whole, nowMs]) },
  });
  jobs.add({
    jobId: 'job',
    chain: ['d1'],
    alternatives: [['d3']],
    isAsked: false,
    lanes: 1,
    basis: BASIS,
    network: '192.0.2.0/24',
    host: 'origin.example',
    client: 'mark',
    sizeBytes: SIZE_BYTES,
    ...job,
  });
  const told: JobDownload = {
    requests: 1,
    bodyBytes: 3e7,
    seconds: 120,
    isWhole: false,
    outcome: 'client-left',
    chain: ['d1'],
    ...download,
  };
  const ofClient: JobReport['legs'][number] = {
    peer: 'client',
    connections: 1,
    sentBytes: told.bodyBytes,
    retransmittedBytes: 0,
    receivedBytes: 0,
    goodputBps: 2e6,
    limitedBy: 'congestion-window',
    ...leg,
  };
  book.report(by, [{ jobId: 'job', seconds: told.seconds, legs: [ofClient], download: told }], NOW);
  return learned;
}

test('what clients give up that has run far longer than the whole was to take says that it would take at least so long', () => {
  const [[whole] = []] = learnedOf();
  expect(whole).toMatchObject({
    chain: ['d1'],
    client: 'mark',
    bodyBytes: SIZE_BYTES,
    seconds: expect.closeTo(120) as number,
    timesPlanned: expect.closeTo(120 / PLANNED_SECONDS) as number,
    isSeconded: false,
    isAtLeast: true,
  });
});

test.each<[string, Told]>([
  ['a client that leaves at once', { download: { seconds: 3, bodyBytes: 1e6 } }],
  ['one that leaves before it is clear that it is slow', { download: { seconds: 1.9 * PLANNED_SECONDS } }],
  ['a reader that is slow, or pauses', { leg: { limitedBy: 'receiver' } }],
  ['a client that has gone without a word, after a quick beginning', { leg: { goodputBps: 9e7 } }],
  ['a leg of which the kernel told nothing', { leg: { limitedBy: undefined, goodputBps: undefined } }],
  ['a download of which hardly anything came', { download: { bodyBytes: 1000 }, leg: { limitedBy: 'idle' } }],
  ['a file whose size is not known', { job: { sizeBytes: undefined } }],
  ['a larger file than has time to come', { job: { sizeBytes: 1e9 } }],
  ['one of several downloads on a line that has room for one', { download: { ownShare: 0.1 } }],
  ['an origin that thinks for long', { download: { waitedSeconds: 115 }, leg: { limitedBy: 'idle' } }],
  ['several requests', { download: { requests: 2 } }],
  ['a client that has chosen the chain by itself', { job: { isAsked: true } }],
  ['another chain than the planned one', { download: { chain: ['d1', 'd2'] } }],
  ['the entry depot of another chain of the ticket', { by: 'd3', download: { chain: ['d3'] } }],
  ['a depot that tells of the chain of another one', { by: 'd3' }],
  ['a download that broke', { download: { outcome: 'upstream-broke' } }],
])('%s is held against no chain', (_, told) => {
  expect(learnedOf(told)).toEqual([]);
});

test('of a depot that had nothing to send all the time of a download counts: what is behind it is slow', () => {
  const [[whole] = []] = learnedOf({ leg: { limitedBy: 'idle', goodputBps: undefined } });
  expect(whole?.seconds).toBe(120);
});

test('a size that is said to be smaller than what came makes nothing look slower than it was', () => {
  const [[whole] = []] = learnedOf({ job: { sizeBytes: 1 } });
  expect(whole?.bodyBytes).toBe(3e7);
  expect(learnedOf({ job: { sizeBytes: 1 }, download: { seconds: 4 }, leg: { goodputBps: 6e7 } })).toEqual(
    [],
  );
});

test('a depot gains nothing by saying that its clients gave up: a whole download that was as slow says the same', () => {
  const [[givenUp] = []] = learnedOf();
  const [[whole] = []] = learnedOf({
    download: { isWhole: true, outcome: 'complete', bodyBytes: SIZE_BYTES, seconds: 120 },
  });
  expect(whole?.timesPlanned).toBeGreaterThanOrEqual(givenUp?.timesPlanned ?? Number.POSITIVE_INFINITY);
});

test('marks tell clients of a network apart, and are others after each start', () => {
  const [marks, others] = [new ClientMarks(), new ClientMarks()];
  const mark = marks.of('192.0.2.1');
  expect(mark).toMatch(/^[A-Za-z0-9_-]{8}$/);
  expect(marks.of('::ffff:192.0.2.1')).toBe(mark);
  expect(marks.of('192.0.2.2')).not.toBe(mark);
  expect(others.of('192.0.2.1')).not.toBe(mark);
  expect(marks.of('2001:db8::1')).toBe(marks.of('2001:db8::2'));
});
