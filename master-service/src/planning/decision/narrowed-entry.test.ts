import type { JobDownload, JobReport } from '@longhaul/shared';
import { describe, expect, test } from 'vitest';
import { ClientTable } from '../../measuring/client-table.ts';
import { OriginTable } from '../../measuring/origin-table.ts';
import { OutcomeBook } from '../../outcomes/outcome-book.ts';
import { RecentJobs } from '../../outcomes/recent-jobs.ts';
import { WayBook } from '../../outcomes/way-book.ts';
import { testConfig } from '../../testing/start-master.ts';
import { EndLinks } from '../links/end-links.ts';
import { LinkTable } from '../links/link-table.ts';
import { Planner } from './planner.ts';
import type { Route, RouteQuery } from './route.ts';

const NOW = 1_795_000_000_000;
const SIZE_BYTES = 1e8;
const NETWORK = '198.51.100.0/24';
const ORIGIN = 'o.example';
const PAIR = { network: NETWORK, host: ORIGIN };
/** Depots tell of what runs as often. */
const REPORT_MS = 5000;
/** Between two downloads. */
const PAUSE_MS = 60_000;

/** What downloads take whose way is none of `d1`'s. */
const ELSEWHERE_SECONDS = { direct: 28, chain: 15 };

interface Downloads {
  readonly most: number;
  /** What `d1`'s leg to the client really carries. */
  readonly carriedBps: number;
  /** After so long clients give up. */
  readonly patienceSeconds?: number;
  readonly exploring?: RouteQuery['exploring'];
}

/**
 * `d1` is 8 ms from a client to whose network it was seen to send 100 Mbit/s, `d2` beside the origin; the
 * origin's way to `d1` is long and lossy. Where there is a `d3`, it is a little further from the client.
 */
class NarrowedEntry {
  nowMs = NOW;
  readonly #clients: ClientTable;
  readonly #planner: Planner;
  readonly #jobs = new RecentJobs();
  readonly #ways = new WayBook();
  readonly #ids: readonly string[];
  readonly #book = new OutcomeBook({
    jobs: this.#jobs,
    ways: this.#ways,
    emit: () => {},
    steadyMs: () => this.nowMs,
  });
  #planned = 0;

  constructor(ids: readonly string[]) {
    this.#ids = ids;
    const { planner: config, links: configured } = testConfig({ links: [] });
    const links = new LinkTable(configured, config.assumptions.windowBytes);
    this.#clients = new ClientTable(undefined, (depot) => links.mostSentBps(depot));
    const origins = new OriginTable();
    const ends = new EndLinks({
      links,
      clients: this.#clients,
      origins,
      windowBytes: config.assumptions.windowBytes,
    });
    this.#planner = new Planner(config, links, ends);
    const rtts = { 'd1 d2': 120, 'd3 d2': 110, 'd1 d3': 20 };
    for (const [pair, rttMs] of Object.entries(rtts)) {
      const [one = '', other = ''] = pair.split(' ');
      if (![one, other].every((id) => ids.includes(id))) continue;
      const seen = { rttMs, sentBytes: 2e7, retransmittedBytes: 0, goodputBps: 3e8 };
      for (let time = 0; time < 4; time += 1) {
        links.report(one, { to: other, ...seen }, NOW);
        links.report(other, { to: one, ...seen }, NOW);
      }
    }
    const ofOrigin = { host: ORIGIN, prefix: '203.0.113.0/24', receivedBytes: 4e7 };
    for (let time = 0; time < 8; time += 1) {
      this.#tellClient('d1', 100e6, 8);
      if (ids.includes('d3')) this.#tellClient('d3', 60e6, 25);
      origins.report('d1', { ...ofOrigin, rttMs: 125, lostBytes: 8000, limit: 'network' }, NOW);
      origins.report('d2', { ...ofOrigin, rttMs: 5, goodputBps: 3e8, lostBytes: 0, limit: 'origin' }, NOW);
    }
  }

  plan(exploring?: RouteQuery['exploring']): Route {
    const ends = { client: '198.51.100.7', origin: ORIGIN };
    const taken = this.#ways.of(PAIR, this.nowMs);
    const query = {
      sizeBytes: SIZE_BYTES,
      originTls: false,
      ends,
      taken,
      ...(exploring ? { exploring } : {}),
    };
    const depots = this.#ids.map((id) => ({ id, tls: false, state: 'up' as const }));
    const planned = this.#planner.plan(query, depots, this.nowMs);
    if (!planned.ok) throw planned.error;
    return planned.value;
  }

  /** Downloads one after the other, and gives their chains. */
  take({ most, carriedBps, patienceSeconds = 1e6, exploring }: Downloads): string[] {
    return Array.from({ length: most }, () => {
      const route = this.plan(exploring);
      const isNarrowed = route.chain[0] === 'd1';
      const needed = isNarrowed ? (8 * SIZE_BYTES) / carriedBps : ELSEWHERE_SECONDS[route.decision];
      const seconds = Math.min(needed, patienceSeconds);
      const endMs = this.nowMs + 1000 * seconds;
      if (isNarrowed) this.#tellWhile(endMs, carriedBps);
      this.nowMs = endMs;
      if (route.chain.length > 0) this.#end(route, seconds, seconds / needed);
      this.nowMs += PAUSE_MS;
      return route.chain.join('-');
    });
  }

  #tellWhile(endMs: number, carriedBps: number): void {
    for (; this.nowMs < endMs; this.nowMs += REPORT_MS) this.#tellClient('d1', carriedBps, 8);
  }

  #tellClient(depot: string, goodputBps: number, rttMs: number): void {
    const sentBytes = (goodputBps / 8) * (REPORT_MS / 1000);
    const told = { prefix: NETWORK, rttMs, goodputBps, sentBytes, retransmittedBytes: 0 };
    this.#clients.report(depot, told, this.nowMs);
  }

  #end({ chain, lanes, basis }: Route, seconds: number, share: number): void {
    this.#planned += 1;
    const jobId = `job-${this.#planned}`;
    const [entry = ''] = chain;
    const more = { network: NETWORK, host: ORIGIN, client: 'client', sizeBytes: SIZE_BYTES };
    this.#jobs.add({ jobId, chain, alternatives: [], isAsked: false, lanes, basis, ...more });
    const isWhole = share === 1;
    const bodyBytes = Math.floor(share * SIZE_BYTES);
    const download: JobDownload = {
      requests: 1,
      bodyBytes,
      seconds,
      isWhole,
      outcome: isWhole ? 'complete' : 'client-left',
      chain: [...chain],
    };
    const leg: JobReport['legs'][number] = {
      peer: 'client',
      connections: 1,
      sentBytes: bodyBytes,
      retransmittedBytes: 0,
      receivedBytes: 0,
      goodputBps: (8 * bodyBytes) / seconds,
      limitedBy: 'congestion-window',
    };
    this.#book.report(entry, [{ jobId, seconds, legs: [leg], download }], this.nowMs);
  }
}

const PATIENCE = [
  ['wait', {}],
  ['give up after two minutes', { patienceSeconds: 120 }],
] as const;
const MOST_OVER_IT = 4;
const isOverD1 = (chain: string) => chain.startsWith('d1');
const LATER = Array.from({ length: 12 - MOST_OVER_IT });

describe('an entry depot whose way to its clients becomes narrow', () => {
  test.each(PATIENCE)('is left after a few downloads for the direct way, where clients %s', (_, how) => {
    const world = new NarrowedEntry(['d1', 'd2']);
    const { chain, prediction, direct } = world.plan();
    expect(chain).toEqual(['d1', 'd2']);
    expect(prediction.seconds).toBeLessThan(direct.seconds / 3);
    const taken = world.take({ most: 12, carriedBps: 2e6, ...how });
    expect(taken[0]).toBe('d1-d2');
    expect(taken.slice(MOST_OVER_IT)).toEqual(LATER.fill(''));
    expect(world.plan()).toMatchObject({ decision: 'direct', decisionReason: 'chain-disappoints' });
  });

  test.each(PATIENCE)('is left for another one where there is one, where clients %s', (_, how) => {
    const world = new NarrowedEntry(['d1', 'd2', 'd3']);
    const taken = world.take({ most: 12, carriedBps: 2e6, ...how });
    expect(taken[0]).toMatch(/^d1/);
    expect(taken.slice(MOST_OVER_IT)).toEqual(LATER.fill('d3-d2'));
  });

  test('is tried seldom as long as it stays narrow', () => {
    const world = new NarrowedEntry(['d1', 'd2']);
    const taken = world.take({ most: 40, carriedBps: 2e6 });
    expect(taken.slice(MOST_OVER_IT).filter(isOverD1).length).toBeLessThanOrEqual(4);
  });

  test('is taken again within half an hour after it has healed, once what it took is old enough', () => {
    const world = new NarrowedEntry(['d1', 'd2']);
    world.take({ most: 8, carriedBps: 2e6 });
    expect(world.plan().decision).toBe('direct');
    const healedMs = world.nowMs;
    for (let more = 0; more < 20; more += 1) world.take({ most: 1, carriedBps: 100e6 });
    expect(world.nowMs - healedMs).toBeLessThan(1_800_000);
    expect(world.plan()).toMatchObject({ decisionReason: 'chain-faster', chain: ['d1', 'd2'] });
  });

  test('is taken again after a single download that was to learn, however new what it took before', () => {
    const world = new NarrowedEntry(['d1', 'd2']);
    world.take({ most: 5, carriedBps: 2e6 });
    const exploring = { mostRegret: 0.25 };
    expect(world.plan().decision).toBe('direct');
    expect(world.plan(exploring)).toMatchObject({ decisionReason: 'to-learn', chain: ['d1'] });
    world.take({ most: 1, carriedBps: 100e6, exploring });
    expect(world.plan()).toMatchObject({ decisionReason: 'chain-faster', chain: ['d1'] });
  });
});
