import type { JobReport } from '@longhaul/shared';
import { expect, test } from 'vitest';
import { Facts } from '../facts/facts.ts';
import { Planner } from '../planning/decision/planner.ts';
import { LinkTable } from '../planning/links/link-table.ts';
import { testConfig } from '../testing/start-master.ts';
import { DisputeBook } from './dispute-book.ts';
import { JOB_FACTS, OutcomeBook } from './outcome-book.ts';
import { RecentJobs } from './recent-jobs.ts';
import { WayBook } from './way-book.ts';

const NOW = 1_795_000_000_000;

/** What one end of a leg tells: bytes sent, or received. */
function reportOf(jobId: string, peer: string, sentBytes: number, receivedBytes: number): JobReport {
  return {
    jobId,
    seconds: 5,
    legs: [{ peer, connections: 1, sentBytes, retransmittedBytes: 0, receivedBytes }],
  };
}

/** Downloads over all pairs of depots, of which liars say that they have sent ten times as much as they have. */
function overlayWith(depots: number, liars: number) {
  let [job, nowMs] = [0, NOW];
  const changes: string[] = [];
  const jobs = new RecentJobs();
  const ways = new WayBook();
  const book = new OutcomeBook({
    jobs,
    ways,
    emit: () => {},
    steadyMs: () => nowMs,
    onTrust: (depot, isTrusted) => changes.push(`${depot} ${isTrusted}`),
  });
  const ids = Array.from({ length: depots }, (_, index) => `d${index}`);
  const isLiar = (id: string) => Number(id.slice(1)) < liars;
  const carry = (times = 1) => {
    for (let time = 0; time < times; time += 1) {
      for (const from of ids)
        for (const to of ids) {
          if (from === to) continue;
          job += 1;
          const sent = isLiar(from) ? 1e9 : 1e8;
          book.report(from, [reportOf(`j${job}`, to, sent, 0)], nowMs);
          book.report(to, [reportOf(`j${job}`, from, 0, 1e8)], nowMs);
        }
      nowMs += 60_000;
    }
  };
  const distrusted = () => ids.filter((id) => !book.isTrusted(id));
  return { book, jobs, ways, carry, distrusted, changes, later: (ms: number) => (nowMs += ms) };
}

test('of twenty depots the two that lie are found by what their neighbours got, and no other one', () => {
  const { carry, distrusted, changes } = overlayWith(20, 2);
  carry(2);
  expect(distrusted()).toEqual(['d0', 'd1']);
  expect(changes.toSorted()).toEqual(['d0 false', 'd1 false']);
});

test('what a depot has told of its downloads does not come back with the word of the next one, once it is not believed', () => {
  const { book, jobs, ways, carry, distrusted, later } = overlayWith(20, 1);
  const [network, host] = ['192.0.2.0/24', 'origin.example'];
  const config = testConfig({
    links: [
      { between: ['client', 'origin'], rttMs: 200, lossRate: 0.01, rateBps: 1e9 },
      { between: ['client', 'd0'], rttMs: 5, rateBps: 1e9 },
      { between: ['d0', 'd1'], rttMs: 190, rateBps: 1e9 },
      { between: ['d1', 'origin'], rttMs: 5, rateBps: 1e9 },
    ],
  });
  const planner = new Planner(config.planner, new LinkTable(config.links, 3e6));
  const planned = planner.plan(
    { sizeBytes: 1e8, originTls: false },
    ['d0', 'd1'].map((id) => ({ id, tls: false, state: 'up' as const })),
    NOW,
  );
  if (!planned.ok) throw planned.error;
  const { chain, lanes, basis } = planned.value;
  jobs.add({ jobId: 'mine', chain, alternatives: [], isAsked: false, lanes, basis, network, host });
  const told = {
    requests: 1,
    bodyBytes: 1e8,
    isWhole: true,
    outcome: 'complete' as const,
    seconds: 2,
    chain: [...chain],
  };
  const known = () => ways.of({ network, host }, later(0)).length;
  book.report('d0', [{ ...reportOf('mine', 'client', 1e8, 0), download: told }], NOW);
  expect(known()).toBe(1);
  carry(2);
  expect(distrusted()).toEqual(['d0']);
  ways.forgetFrom('d0');
  book.report('d1', [{ ...reportOf('mine', 'd0', 1e8, 0), seconds: 2 }], later(0));
  expect(known()).toBe(0);
});

test('an overlay of honest depots believes all of them', () => {
  const { carry, distrusted } = overlayWith(8, 0);
  carry(2);
  expect(distrusted()).toEqual([]);
});

test('of two depots that contradict each other nobody knows which one lies', () => {
  const { carry, distrusted } = overlayWith(2, 1);
  carry(3);
  expect(distrusted()).toEqual([]);
});

test('a depot that has lied is believed again an hour after the last contradiction', () => {
  const { carry, distrusted, later } = overlayWith(10, 1);
  carry(2);
  expect(distrusted()).toEqual(['d0']);
  later(3_600_001);
  expect(distrusted()).toEqual([]);
});

test('what another master learned before the newest report here has no leg judged before its time', () => {
  let nowMs = NOW;
  const changes: string[] = [];
  const facts = new Facts({ kinds: JOB_FACTS });
  const book = new OutcomeBook({
    facts,
    jobs: new RecentJobs(),
    emit: () => {},
    steadyMs: () => nowMs,
    onTrust: (depot, isTrusted) => changes.push(`${depot} ${isTrusted}`),
  });
  const neighbours = ['d1', 'd2', 'd3'];
  const hear = (part: number) => {
    for (const id of neighbours) book.report(id, [reportOf(`of-${id}`, 'd0', 0, part)], nowMs);
  };
  hear(1e7);
  const sent = neighbours.map((id) => reportOf(`of-${id}`, id, 1e8, 0));
  nowMs += 100;
  book.report('d0', sent, nowMs);
  nowMs += 40;
  const elsewhere = { kind: 'job-reported', source: 'there', epoch: 1, sequence: 1, timeMs: NOW + 60 };
  facts.store.take({ ...elsewhere, key: 'other d4', value: reportOf('other', 'd5', 1, 0) }, nowMs);
  expect(changes).toEqual([]);
  hear(9e7);
  nowMs += 30_000;
  book.report('d5', [reportOf('other', 'd4', 0, 1)], nowMs);
  expect(changes).toEqual([]);
});

test('a report that waits for its other half contradicts nobody', () => {
  let nowMs = 0;
  const book = new DisputeBook({
    reportOf: (jobId, depot) => (depot === 'd1' ? reportOf(jobId, 'd2', 1e8, 0) : undefined),
    steadyMs: () => nowMs,
  });
  for (let job = 0; job < 100; job += 1) {
    book.note('d1', reportOf(`j${job}`, 'd2', 1e8, 0));
    nowMs += 60_000;
  }
  expect(book.isTrusted('d1')).toBe(true);
});

test('what a depot that is not believed has measured steers no plan any more', () => {
  const config = testConfig({
    links: [
      { between: ['client', 'origin'], rttMs: 200, lossRate: 0.01, rateBps: 1e9 },
      ...['d0', 'd1'].map((id) => ({ between: ['client', id], rttMs: 5, rateBps: 1e9 })),
      { between: ['x', 'origin'], rttMs: 5, rateBps: 1e9 },
    ],
  });
  const links = new LinkTable(config.links, 3e6);
  const planner = new Planner(config.planner, links);
  const depots = ['d0', 'd1', 'x'].map((id) => ({ id, tls: false, state: 'up' as const }));
  const chain = () => {
    const route = planner.plan({ sizeBytes: 1e9, originTls: false, lanes: 1 }, depots, NOW);
    return route.ok ? route.value.chain : undefined;
  };
  for (let times = 0; times < 5; times += 1) {
    links.report('d0', { to: 'x', rttMs: 190, goodputBps: 9e8 }, NOW);
    links.report('d1', { to: 'x', rttMs: 190, goodputBps: 1e8 }, NOW);
  }
  expect(chain()).toEqual(['d0', 'x']);
  links.forgetFrom('d0');
  expect(chain()).toEqual(['d1', 'x']);
});

test('a depot that tells of the same job again and again keeps nobody from being judged, nor its own job for ever', () => {
  const judged: string[] = [];
  let nowMs = 0;
  const book = new DisputeBook({
    reportOf: (jobId, depot) => {
      judged.push(`${jobId} ${depot}`);
      return undefined;
    },
    steadyMs: () => nowMs,
  });
  const hold = reportOf('hold', 'zz', 0, 1);
  const tellUntil = (seconds: number) => {
    for (; nowMs <= 1000 * seconds; nowMs += 5_000) book.note('d9', hold);
  };
  book.note('d1', reportOf('honest', 'd2', 1, 0));
  tellUntil(60);
  expect(judged).toContain('honest d1');
  expect(judged).not.toContain('hold d9');
  tellUntil(700);
  expect(judged).toContain('hold d9');
});

test('a depot that tells of countless neighbours leaves room for what others tell', () => {
  const judged = new Set<string>();
  let nowMs = 0;
  const book = new DisputeBook({
    reportOf: (jobId) => {
      judged.add(jobId);
      return undefined;
    },
    steadyMs: () => nowMs,
  });
  for (let job = 0; job < 50_000; job += 1) book.note('d9', reportOf(`flood-${job}`, 'zz', 1, 0));
  book.note('d1', reportOf('honest', 'd2', 1, 0));
  for (let job = 0; job < 50_000; job += 1) book.note('d9', reportOf(`more-${job}`, 'zz', 1, 0));
  nowMs = 60_000;
  book.note('d1', reportOf('later', 'd2', 1, 0));
  expect(judged.has('honest')).toBe(true);
  expect(judged.size).toBeLessThan(20_000);
});
