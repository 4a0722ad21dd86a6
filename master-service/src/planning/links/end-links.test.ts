import { chainSeconds, type LegEstimate } from '@longhaul/shared';
import { describe, expect, test } from 'vitest';
import { ClientAliases } from '../../measuring/client-aliases.ts';
import { ClientTable } from '../../measuring/client-table.ts';
import { masterOf } from '../../measuring/measured-by.ts';
import { OriginTable } from '../../measuring/origin-table.ts';
import { testConfig } from '../../testing/start-master.ts';
import { Planner } from '../decision/planner.ts';
import type { PromisedChains, RerouteQuery, Route, RouteQuery } from '../decision/route.ts';
import type { PlanningDepot } from '../search/planning-depot.ts';
import { EndLinks } from './end-links.ts';
import { LinkTable } from './link-table.ts';
import type { DownloadEnds } from './link-view.ts';

const NOW = 1_795_000_000_000;
const CLIENT = '198.51.100.7';
const PREFIX = '198.51.100.0/24';
const HOST = 'origin.example';
const SIZE = 200_000_000;

/** A master that knows what it was told, over depots with measured links. */
function world(
  links: Readonly<Record<string, number>>,
  typed: readonly object[] = [],
  uplinksBps: Readonly<Record<string, number>> = {},
) {
  const { planner: config, links: configured } = testConfig({ links: typed });
  const table = new LinkTable(configured, config.assumptions.windowBytes);
  const aliases = new ClientAliases();
  const clients = new ClientTable(undefined, (depot) => table.mostSentBps(depot), aliases);
  const origins = new OriginTable();
  const ids = new Set(Object.keys(links).flatMap((pair) => pair.split(' ')));
  for (const [pair, rttMs] of Object.entries(links)) {
    const [one = '', other = ''] = pair.split(' ');
    const seen = { rttMs, sentBytes: 2e7, retransmittedBytes: 2000 };
    table.report(one, { to: other, ...seen, goodputBps: uplinksBps[one] ?? 5e8 }, NOW);
    table.report(other, { to: one, ...seen, goodputBps: uplinksBps[other] ?? 5e8 }, NOW);
  }
  const ends = new EndLinks({ links: table, clients, origins, windowBytes: config.assumptions.windowBytes });
  const planner = new Planner(config, table, ends);
  const depots: PlanningDepot[] = [...ids].map((id) => ({ id, tls: false, state: 'up' }));
  return {
    ends,
    planner,
    seesLink: (sender: string, to: string, rttMs: number, goodputBps: number) =>
      table.report(sender, { to, rttMs, sentBytes: 2e7, retransmittedBytes: 2000, goodputBps }, NOW),
    seesClient: (depot: string, rttMs: number, more: object = {}, prefix = PREFIX) =>
      clients.report(depot, { prefix, rttMs, ...more }, NOW),
    saysOf: (depot: string, network: string, prefix: string) => aliases.note(depot, network, prefix, NOW),
    seesOrigin: (depot: string, rttMs: number, more: object = {}) =>
      origins.report(depot, { host: HOST, rttMs, ...more }, NOW),
    reroute: (query: Partial<RerouteQuery> & Pick<RerouteQuery, 'entry'>): PromisedChains => {
      const asked = {
        sizeBytes: SIZE,
        originTls: false,
        ends: { origin: HOST },
        avoid: [],
        lanes: 1,
        ...query,
      };
      const planned = planner.reroute(asked, depots, NOW);
      if (!planned.ok) throw planned.error;
      return planned.value;
    },
    plan: (
      query: Partial<RouteQuery> = {},
      ends: DownloadEnds = { client: CLIENT, origin: HOST },
      states: Readonly<Record<string, Partial<PlanningDepot>>> = {},
    ): Route => {
      const now = depots.map((depot) => ({ ...depot, ...states[depot.id] }));
      const planned = planner.plan({ sizeBytes: SIZE, originTls: false, ends, ...query }, now, NOW);
      if (!planned.ok) throw planned.error;
      return planned.value;
    },
  };
}

/** In a row: client, d1, d2, d3, origin. */
const ROW = { 'd1 d2': 60, 'd2 d3': 60, 'd1 d3': 120 };
const CLEAN = { sentBytes: 4e7, retransmittedBytes: 0 };
const LOSSY = { sentBytes: 4e7, retransmittedBytes: 4e5 };

describe('with no link typed in', () => {
  test('a download whose ends nobody has met goes direct', () => {
    expect(world(ROW).plan()).toMatchObject({ decision: 'direct', decisionReason: 'links-unknown' });
  });

  test('a client whom nobody has met is led through the depot beside the origin, which is no detour wherever it is', () => {
    const { seesOrigin, plan } = world(ROW);
    for (const [depot, rttMs] of [
      ['d1', 125],
      ['d2', 65],
      ['d3', 4],
    ] as const)
      seesOrigin(depot, rttMs);
    const route = plan();
    expect(route).toMatchObject({ decision: 'chain', chain: ['d3'] });
    expect(route.reasons.join(' ')).toContain('worked out from what depots have measured');
    expect(route.reasons.join(' ')).toContain('were not measured, but worked out or assumed');
    expect(route.prediction.source).toBe('assumed');
    expect(plan({ sizeBytes: 4000 }).decision).toBe('direct');
  });

  test('an origin that nobody has met is fetched from by the depot beside the client', () => {
    const { seesClient, plan } = world(ROW);
    for (const [depot, rttMs] of [
      ['d1', 4],
      ['d2', 64],
      ['d3', 124],
    ] as const)
      seesClient(depot, rttMs);
    expect(plan()).toMatchObject({ decision: 'chain', chain: ['d1'] });
  });

  test('depots that are far from the only end that is known are left alone', () => {
    const { seesOrigin, plan } = world(ROW);
    for (const depot of ['d1', 'd2', 'd3']) seesOrigin(depot, 150, { receivedBytes: 4e7, lostBytes: 0 });
    expect(plan().decision).toBe('direct');
  });

  test('a client whose window is too small for the direct way is led over short legs, as soon as one of them has shown it', () => {
    const lineBps = 6e7;
    const planFor = (more: object) => {
      const { seesOrigin, seesClient, plan } = world({ 'd1 d3': 30 });
      for (const [depot, toClientMs, toOriginMs] of [
        ['d1', 4, 32],
        ['d3', 34, 2],
      ] as const) {
        for (let look = 0; look < 5; look += 1)
          seesClient(depot, toClientMs, { ...CLEAN, goodputBps: lineBps, ...more });
        seesOrigin(depot, toOriginMs, { receivedBytes: 4e7, lostBytes: 0, goodputBps: 3e8 });
      }
      const { decision, direct } = plan();
      return { decision, directBps: direct.goodputBps };
    };
    expect(planFor({}).directBps).toBeGreaterThan(0.8 * lineBps);
    for (const more of [{ windowBytes: 100_000 }, { mostWindowBytes: 65_535 }]) {
      const { decision, directBps } = planFor(more);
      expect(decision).toBe('chain');
      expect(directBps).toBeLessThan((8 * 120_000) / 0.03);
    }
  });

  test('what may be the window or the queue of a neighbour leads over no chain that is slower without them', () => {
    const decisionWith = (more: object, handshakeWaitsMs = 0) => {
      const { seesOrigin, seesClient, plan } = world({ 'd1 d3': 300 });
      // A detour.
      for (let look = 0; look < 9; look += 1) seesClient('d1', 60, { goodputBps: 6e7, ...more });
      for (let look = 0; look < 9; look += 1) seesClient(masterOf('d1'), 60, { queueMs: handshakeWaitsMs });
      seesOrigin('d1', 60, { receivedBytes: 4e7, lostBytes: 0, goodputBps: 4e7 });
      seesOrigin('d3', 20, { receivedBytes: 4e7, lostBytes: 0, goodputBps: 4e7 });
      return plan({ sizeBytes: 5_000_000 }).decision;
    };
    expect(decisionWith({})).toBe('direct');
    expect(decisionWith({ windowBytes: 400_000, leastWindowBytes: 400_000, queueMs: 40 })).toBe('direct');
    expect(decisionWith({}, 40)).toBe('direct');
    expect(decisionWith({ mostWindowBytes: 65_535 })).toBe('chain');
  });

  test('an origin is planned with by what its connections bring when they have lost often enough, and not by how they begin', () => {
    const planFor = (more: object) => {
      const { seesOrigin, seesClient, plan } = world({ 'd1 d3': 75 });
      for (let look = 0; look < 9; look += 1) seesClient('d1', 5, { ...CLEAN, goodputBps: 9.5e7 });
      const lossy = { receivedBytes: 6e7, lostBytes: 6e4, goodputBps: 7.8e7, limit: 'network', ...more };
      for (let time = 0; time < 5; time += 1) seesOrigin('d1', 80, lossy);
      seesOrigin('d3', 5, { receivedBytes: 4e7, lostBytes: 0, goodputBps: 9.5e7 });
      return plan({ sizeBytes: 30_000_000 });
    };
    // A young CUBIC is as fast as the line; over its chain even four of them are not, later.
    const worn = { goodputBps: 6e6, receivedBytes: 4e7, lostBytes: 4e4 };
    expect(planFor({}).chain).toEqual(['d1']);
    expect(planFor({ worn }).chain).toEqual(['d1', 'd3']);
    expect(planFor({ worn, totalBps: 2.4e7 }).chain).toEqual(['d1', 'd3']);
    // Lanes that fill the line have a part of it each.
    expect(planFor({ worn, totalBps: 9.5e7 }).chain).toEqual(['d1']);
  });

  test('what waits before a client, because others fill its line, waits on the direct way, too', () => {
    const directOf = (more: object) => {
      const { seesOrigin, seesClient, plan } = world({ 'd1 d3': 30 });
      seesOrigin('d1', 32, { receivedBytes: 4e7, lostBytes: 0, goodputBps: 3e8 });
      seesOrigin('d3', 2, { receivedBytes: 4e7, lostBytes: 0, goodputBps: 3e8 });
      for (let look = 0; look < 5; look += 1)
        seesClient('d1', 4, { sentBytes: 4e7, retransmittedBytes: 8e4, goodputBps: 4e7, ...more });
      return plan().direct;
    };
    const [idle, busy] = [directOf({}), directOf({ queueMs: 36 })];
    expect((busy.legs[0]?.rttMs ?? 0) - (idle.legs[0]?.rttMs ?? 0)).toBeCloseTo(30, 0);
    expect(busy.seconds).toBeGreaterThan(1.2 * idle.seconds);
  });

  test('a line that is full of others leaves an origin that gives way little of what a depot on BBR gets over it', () => {
    const routeFor = (queueMs: number, more = {}) => {
      const { seesOrigin, seesClient, plan } = world({ 'd1 d3': 8 });
      for (const [depot, rttMs] of [
        ['d1', 16],
        ['d3', 8],
      ] as const)
        seesOrigin(depot, rttMs, { receivedBytes: 4e7, lostBytes: 0, goodputBps: 1e8, ...more });
      seesClient('d1', 15, { sentBytes: 3e6, retransmittedBytes: 0, goodputBps: 7.8e7, queueMs: 0 });
      for (let handshake = 0; handshake < 3; handshake += 1) seesClient(masterOf('d1'), 3, { queueMs });
      return plan({ sizeBytes: 10_000_000 });
    };
    const directOver = ({ unsent = false, uplinkBps = 5e8, queueMs = 0 }) => {
      const { seesOrigin, seesClient, plan } = world({ 'd1 d3': 8 }, [], { d1: uplinkBps, d3: uplinkBps });
      seesOrigin('d1', 16, { receivedBytes: 4e7, lostBytes: 0, goodputBps: 1e8 });
      const sent = { sentBytes: 3e6, retransmittedBytes: 0, goodputBps: Math.min(uplinkBps, 7.8e7) };
      for (let look = 0; look < 3; look += 1) seesClient('d1', 15, unsent ? {} : sent);
      for (let handshake = 0; handshake < 3; handshake += 1) seesClient(masterOf('d1'), 3, { queueMs });
      return plan({ sizeBytes: 100_000_000 }).direct.goodputBps;
    };
    expect(routeFor(0).decision).toBe('direct');
    const full = routeFor(20);
    expect(full.chain[0]).toBe('d1');
    expect(full.direct.goodputBps).toBeLessThan(4e7);
    expect(full.reasons).toContain('Others fill the line of your network: that is counted.');
    // Another one on BBR gives way no more than a depot.
    // Of what nobody has sent over the line, and of what a depot could not send, a part says nothing.
    expect(directOver({ unsent: true, queueMs: 20 })).toBeGreaterThan(0.8 * directOver({ unsent: true }));
    expect(directOver({ uplinkBps: 2e7, queueMs: 20 })).toBeGreaterThan(0.8 * directOver({ uplinkBps: 2e7 }));
    const worn = { goodputBps: 1e8, receivedBytes: 4e7, lostBytes: 4e5 };
    expect(routeFor(20, { worn }).direct.goodputBps).toBeGreaterThan(7e7);
  });

  test('what an origin gives to one depot it can give over the direct way', () => {
    const { seesOrigin, seesClient, plan } = world({ 'd1 d3': 60 }, [], { d1: 2e8, d3: 2e8 });
    for (let look = 0; look < 9; look += 1) seesClient('d1', 5, { ...CLEAN, goodputBps: 9e8 });
    seesOrigin('d1', 62);
    for (let look = 0; look < 9; look += 1)
      seesOrigin('d3', 3, { receivedBytes: 4e8, lostBytes: 0, goodputBps: 9e8 });
    expect(plan({ sizeBytes: 1e9 }).direct.goodputBps).toBeGreaterThan(1.4e8);
  });

  test('a pair whose ends lie beside each other goes direct', () => {
    const { seesOrigin, seesClient, plan } = world(ROW);
    seesOrigin('d1', 3, { receivedBytes: 4e7, lostBytes: 0 });
    seesClient('d1', 3, CLEAN);
    expect(plan().decision).toBe('direct');
  });

  test('a lossy way between ends that depots know is cut into short ones', () => {
    const { seesOrigin, seesClient, plan } = world(ROW);
    seesOrigin('d3', 5, { receivedBytes: 4e7, lostBytes: 0 });
    seesClient('d3', 125, LOSSY);
    seesClient('d1', 5, CLEAN);
    const route = plan();
    expect(route.decision).toBe('chain');
    expect(route.direct.legs[0]?.rttMs).toBeGreaterThan(110);
    expect(route.direct.legs[0]?.rttMs).toBeLessThan(140);
    expect(route.prediction.seconds).toBeLessThan(route.direct.seconds / 2);
  });

  test('the depots that have not met an end are placed by the triangles with those that have', () => {
    const { ends, seesOrigin, seesClient } = world(ROW);
    seesOrigin('d3', 10);
    seesClient('d1', 10);
    const around = (depot: string) =>
      depot === 'd3'
        ? ([
            ['d2', 60],
            ['d1', 120],
          ] as const)
        : [];
    const view = ends.between({ client: CLIENT, origin: HOST }, { around, isUsable: () => true }, NOW);
    expect(view.estimate('d2', 'origin', NOW)).toMatchObject({ source: 'derived' });
    expect(view.estimate('d2', 'origin', NOW)?.rttMs).toBeCloseTo(61, 0);
    expect(view.estimate('d1', 'origin', NOW)?.rttMs).toBeCloseTo(120, 0);
    expect(view.doubt?.('d1', 'origin', NOW).rtt).toBeLessThan(0.2);
  });

  test('each client and each origin has its own links', () => {
    const { seesOrigin, plan } = world(ROW);
    seesOrigin('d3', 4);
    expect(plan().decision).toBe('chain');
    expect(plan({}, { client: CLIENT, origin: 'other.example' }).decision).toBe('direct');
  });

  test('a site that the operator gives a client stands in until it is measured', () => {
    const { seesOrigin, seesClient, plan } = world(ROW);
    seesOrigin('d3', 4, { receivedBytes: 4e7, lostBytes: 0 });
    const ends = { client: CLIENT, clientSite: 'd1', origin: HOST };
    const legs = (route: Route) => route.direct.legs[0]?.rttMs ?? 0;
    expect(legs(plan({}, ends))).toBeGreaterThan(100);
    seesClient('d3', 20);
    expect(legs(plan({}, ends))).toBeLessThan(30);
  });

  test('an origin with a small window is asked by the depot beside it, which hardly sees that', () => {
    const { seesOrigin, seesClient, plan } = world({ 'd1 d3': 140 });
    seesClient('d1', 5, { ...CLEAN, goodputBps: 90e6 });
    seesClient('d3', 145, { ...CLEAN, goodputBps: 85e6 });
    // 64 KiB on their way at once.
    const held = { receivedBytes: 4e7, lostBytes: 0, limit: 'origin' };
    seesOrigin('d1', 145, { ...held, goodputBps: 3.6e6 });
    seesOrigin('d3', 5, { ...held, goodputBps: 95e6 });
    for (const sizeBytes of [3e6, 10e6]) {
      const route = plan({ sizeBytes });
      expect(route).toMatchObject({ decision: 'chain' });
      expect(route.chain.at(-1)).toBe('d3');
      expect(route.prediction.seconds).toBeLessThan(route.direct.seconds / 2);
    }
  });

  test('a depot that says that an origin holds it back from afar makes the direct way slower by a fifth at most, until another one says so, too', () => {
    const near = { receivedBytes: 4e7, lostBytes: 0, goodputBps: 95e6 };
    const honest = { 'd1 d2': 10, 'd1 d3': 140, 'd1 d4': 141, 'd2 d3': 135, 'd3 d4': 2 };
    const ofLiar = { 'd1 liar': 20, 'd3 liar': 150, 'd4 liar': 151 };
    for (const limit of ['network', 'origin']) {
      const { seesOrigin, seesClient, plan } = world({ ...honest, ...ofLiar });
      seesClient('d1', 5, { ...CLEAN, goodputBps: 300e6 });
      seesOrigin('d1', 145, { receivedBytes: 4e7, lostBytes: 0 });
      seesOrigin('d3', 5, { ...near, limit });
      seesOrigin('d4', 6, { ...near, limit });
      const { seconds } = plan().direct;
      seesOrigin('liar', 150, { goodputBps: 1e5, limit: 'origin' });
      expect(plan().direct.seconds / seconds).toBeLessThan(1.21);
      seesOrigin('d2', 140, { receivedBytes: 4e7, lostBytes: 0, goodputBps: 3.6e6, limit: 'origin' });
      expect(plan().direct.seconds / seconds).toBeGreaterThan(10);
      // As many got more from there, and were held back by something else.
      for (const depot of ['d1', 'liar'])
        seesOrigin(depot, 145, { ...CLEAN, goodputBps: 3.6e6, limit: 'network' });
      expect(plan().direct.seconds / seconds).toBeLessThan(1.21);
    }
  });

  test('what an origin gives to each connection, wherever that comes from, is held back over the direct way, too', () => {
    const { seesOrigin, seesClient, plan } = world({ 'd1 d3': 140 });
    seesClient('d1', 5, CLEAN);
    const held = { receivedBytes: 4e7, lostBytes: 0, limit: 'origin', goodputBps: 10e6 };
    seesOrigin('d1', 145, held);
    seesOrigin('d3', 5, held);
    const directBps = plan().direct.legs[0]?.goodputBps;
    expect(directBps).toBeGreaterThan(8e6);
    expect(directBps).toBeLessThan(12e6);
  });

  test('an origin that gives one address only so much is not asked by several connections of a depot', () => {
    const { seesOrigin, seesClient, plan } = world({ 'd1 d3': 80 });
    seesClient('d1', 5, { ...CLEAN, goodputBps: 90e6 });
    const held = { receivedBytes: 4e7, lostBytes: 0, limit: 'origin', goodputBps: 20e6 };
    const many = () =>
      seesOrigin('d3', 5, { ...held, totalBps: 95e6, several: { goodputBps: 95e6, connections: 8 } });
    const together = { totalBps: 20e6, several: { goodputBps: 20e6, connections: 8 } };
    for (let time = 0; time < 3; time += 1) {
      seesOrigin('d1', 85, { ...held, ...together });
      seesOrigin('d3', 5, { ...held, ...together });
    }
    const alone = plan({ sizeBytes: 100e6 });
    expect(alone.lanes).toBe(1);
    expect(alone.prediction.seconds).toBeGreaterThan(35);
    // Where several connections get more, they are worth it.
    for (let time = 0; time < 8; time += 1) many();
    const route = plan({ sizeBytes: 100e6 });
    expect(route).toMatchObject({ decision: 'chain' });
    expect(route.lanes).toBeGreaterThan(1);
  });

  test('what one depot got of an origin by several connections stands against what others did not, however many they were', () => {
    const { seesOrigin, seesClient, plan } = world({ 'd1 d2': 80, 'd1 d3': 80, 'd1 d4': 80 });
    seesClient('d1', 5, { ...CLEAN, goodputBps: 90e6 });
    const held = { receivedBytes: 4e7, lostBytes: 0, limit: 'origin', goodputBps: 20e6 };
    const together = { totalBps: 20e6, several: { goodputBps: 20e6, connections: 8 } };
    for (let time = 0; time < 3; time += 1)
      for (const depot of ['d1', 'd3']) seesOrigin(depot, depot === 'd1' ? 85 : 5, { ...held, ...together });
    seesOrigin('d4', 5, { receivedBytes: 4e7, lostBytes: 0, goodputBps: 20e6 });
    const bpsOverD4 = () => plan({ via: ['d4'], lanes: 8 }).prediction.legs.at(-1)?.goodputBps ?? 0;
    expect(bpsOverD4()).toBeLessThan(22e6);
    for (let time = 0; time < 3; time += 1) seesOrigin('d2', 40, { ...held, totalBps: 95e6 });
    expect(bpsOverD4()).toBeGreaterThan(40e6);
  });

  test('what the few lanes of a slower client got from an origin is no bound for the lanes of a faster one', () => {
    const { seesOrigin, seesClient, plan } = world({ 'd1 d3': 80 });
    seesClient('d1', 5, { ...CLEAN, goodputBps: 95e6 });
    const held = { receivedBytes: 4e7, lostBytes: 0, limit: 'origin' };
    seesOrigin('d1', 85);
    for (let time = 0; time < 4; time += 1) seesOrigin('d3', 5, { ...held, goodputBps: 5e6 });
    const before = plan();
    expect(before.lanes).toBe(8);
    const four = { totalBps: 20e6, several: { goodputBps: 20e6, connections: 4 } };
    for (let time = 0; time < 4; time += 1) seesOrigin('d3', 5, { ...held, ...four });
    const after = plan();
    expect(after).toMatchObject({ chain: before.chain, lanes: 8 });
    expect(after.prediction.seconds).toBeLessThan(1.1 * before.prediction.seconds);
  });

  test('a way from an origin that several connections have filled is planned with by what they got, and by more once more comes', () => {
    const { seesOrigin, seesClient, plan } = world({ 'd1 d2': 220 });
    seesClient('d1', 5, { ...CLEAN, goodputBps: 9e7 });
    const seen = { receivedBytes: 4e7, lostBytes: 0, limit: 'network' };
    seesOrigin('d1', 200, { ...seen, totalBps: 9.5e7 });
    seesOrigin('d2', 100, { ...seen, totalBps: 9.5e7 });
    expect(plan().chain).toEqual(['d1']);
    for (let time = 0; time < 2; time += 1) seesOrigin('d1', 200, { ...seen, totalBps: 9e6, fullBps: 9e6 });
    const narrow = plan();
    expect(narrow.chain).toEqual(['d1', 'd2']);
    // Nor is the direct way any wider.
    expect(narrow.direct.legs[0]?.goodputBps).toBeLessThan(1.2e7);
    seesOrigin('d1', 200, { ...seen, goodputBps: 9e6 });
    expect(plan().chain).toEqual(['d1', 'd2']);
    seesOrigin('d1', 200, { ...seen, totalBps: 9.5e7 });
    expect(plan().chain).toEqual(['d1']);
  });

  test('ways that lead by a place that has become narrow are not tried one after the other', () => {
    // From the origin by d3 to d2 and d1; d4 lies on another way.
    const far = { 'd1 d2': 80, 'd2 d3': 112, 'd1 d3': 192, 'd1 d4': 30, 'd3 d4': 190, 'd2 d4': 92 };
    const { seesOrigin, seesClient, seesLink, plan } = world(far);
    seesClient('d1', 5, { ...CLEAN, goodputBps: 5.7e7 });
    const seen = { receivedBytes: 4e7, lostBytes: 0, limit: 'network' };
    seesOrigin('d3', 10, { ...seen, goodputBps: 9e7 });
    for (const [depot, rttMs] of [
      ['d1', 202],
      ['d2', 122],
      ['d4', 200],
    ] as const)
      seesOrigin(depot, rttMs, { receivedBytes: 4e7, lostBytes: 40_000 });
    const bpsFrom = (depot: string) => {
      const { legs } = plan({ via: [depot], lanes: 8 }).prediction;
      return legs.at(-1)?.goodputBps ?? 0;
    };
    for (const depot of ['d1', 'd2', 'd4']) expect(bpsFrom(depot)).toBeGreaterThan(3e7);
    for (let time = 0; time < 3; time += 1) seesLink('d3', 'd2', 112, 1e7);
    // Nobody bounds others alone, nor by what it sends itself in the other direction.
    for (let time = 0; time < 3; time += 1) seesLink('d1', 'd2', 80, 1e7);
    for (const depot of ['d1', 'd2', 'd4']) expect(bpsFrom(depot)).toBeGreaterThan(3e7);
    seesOrigin('d2', 122, { receivedBytes: 1e6, lostBytes: 0, limit: 'network', fullBps: 9e6 });
    for (const depot of ['d1', 'd2']) expect(bpsFrom(depot)).toBeLessThan(1.5e7);
    expect(bpsFrom('d4')).toBeGreaterThan(3e7);
    // What a way was seen to carry stands against that.
    seesOrigin('d1', 202, { ...seen, goodputBps: 4e7 });
    expect(bpsFrom('d1')).toBeGreaterThan(3e7);
  });

  test('what an operator has typed in of a way is bounded by no narrow place that it leads by', () => {
    const typed = [{ between: ['origin', 'd1'], rttMs: 202, lossRate: 1e-5, rateBps: 9e7 }];
    const { seesOrigin, seesClient, seesLink, plan } = world(
      { 'd1 d2': 80, 'd2 d3': 112, 'd1 d3': 192 },
      typed,
    );
    seesClient('d1', 5, { ...CLEAN, goodputBps: 5.7e7 });
    for (const [depot, rttMs] of [
      ['d1', 202],
      ['d3', 10],
    ] as const)
      for (let look = 0; look < 5; look += 1) seesOrigin(depot, rttMs);
    const narrow = { receivedBytes: 1e6, lostBytes: 0, limit: 'network', fullBps: 9e6 };
    for (let time = 0; time < 3; time += 1) {
      seesLink('d3', 'd2', 112, 1e7);
      seesOrigin('d2', 122, narrow);
    }
    expect(plan({ via: ['d1'], lanes: 8 }).prediction.goodputBps).toBeGreaterThan(3e7);
  });

  test('a way from an origin on which many connections had little together is planned with by twice that, until they have more', () => {
    const { seesOrigin, seesClient, plan } = world({ 'd1 d2': 220 });
    seesClient('d1', 5, { ...CLEAN, goodputBps: 9e7 });
    const seen = { receivedBytes: 4e7, lostBytes: 0, limit: 'network' };
    seesOrigin('d2', 100, seen);
    const had = (goodputBps: number, connections = 8) =>
      seesOrigin('d1', 200, { ...seen, totalBps: goodputBps, several: { goodputBps, connections } });
    for (let time = 0; time < 2; time += 1) had(9e7);
    expect(plan().chain).toEqual(['d1']);
    for (let time = 0; time < 2; time += 1) had(8e6);
    expect(plan().chain).toEqual(['d1', 'd2']);
    // Two that had so little say nothing of what eight would have.
    for (let time = 0; time < 2; time += 1) had(14e6, 2);
    expect(plan().chain).toEqual(['d1']);
    for (let time = 0; time < 2; time += 1) had(8e6);
    expect(plan().chain).toEqual(['d1', 'd2']);
    for (let time = 0; time < 2; time += 1) had(9e7);
    expect(plan().chain).toEqual(['d1']);
  });

  test('a depot that says that an origin gives each address no more takes no lanes from others, until another one has seen so, too', () => {
    const links = { 'd1 d2': 140, 'd1 d3': 140, 'd2 d3': 10, 'd1 liar': 20, 'd2 liar': 150, 'd3 liar': 150 };
    const { seesClient, seesOrigin, plan } = world(links);
    seesClient('d1', 5, { ...CLEAN, goodputBps: 90e6 });
    seesOrigin('d3', 20, { receivedBytes: 4e7, lostBytes: 4e5, goodputBps: 8e6, limit: 'network' });
    seesOrigin('d1', 145, { receivedBytes: 4e7, lostBytes: 4e5, goodputBps: 2e6, limit: 'network' });
    const honest = plan();
    expect(honest.chain).toEqual(['d1', 'd3']);
    expect(honest.lanes).toBeGreaterThan(4);
    const held = (goodputBps: number) => ({
      goodputBps,
      totalBps: goodputBps,
      several: { goodputBps, connections: 8 },
      limit: 'origin',
    });
    for (let time = 0; time < 10; time += 1) seesOrigin('liar', 150, held(1e6));
    expect(plan()).toMatchObject({ chain: honest.chain, lanes: honest.lanes });
    for (let time = 0; time < 10; time += 1) seesOrigin('d2', 15, held(8e6));
    expect(plan().prediction.seconds).toBeGreaterThan(3 * honest.prediction.seconds);
  });

  test('a site that the operator gives a client stands in, too, when its master far away has seen it', () => {
    const { seesClient, seesOrigin, plan } = world({ 'fra syd': 280, 'fra nyc': 80, 'syd nyc': 210 });
    const ends = { client: CLIENT, origin: HOST, clientSite: 'syd' };
    seesOrigin('syd', 5, { receivedBytes: 4e7, lostBytes: 0 });
    seesClient(masterOf('fra'), 285);
    const route = plan({}, ends);
    expect(route.chain).not.toContain('fra');
    expect(route.direct.legs[0]?.rttMs).toBeLessThan(30);
    // What a depot has measured shows that it cannot be there.
    seesClient('nyc', 10, CLEAN);
    expect(plan({}, ends).direct.legs[0]?.rttMs).toBeGreaterThan(100);
  });

  test('a depot beside the one that has met a client takes its place when that is full, or gone', () => {
    const { seesClient, seesOrigin, plan } = world({
      'd1a d1b': 1,
      'd1a d3': 140,
      'd1b d3': 140,
      'd2 d3': 70,
      'd1a d2': 80,
      'd1b d2': 80,
    });
    seesClient('d1a', 5, { ...CLEAN, goodputBps: 90e6 });
    seesClient('d2', 85, { ...CLEAN, goodputBps: 30e6 });
    seesOrigin('d3', 5, { receivedBytes: 4e8, lostBytes: 0, goodputBps: 4e8 });
    seesOrigin('d1a', 145, { receivedBytes: 4e7, lostBytes: 8e3 });
    const ends = { client: CLIENT, origin: HOST };
    expect(plan().chain[0]).toBe('d1a');
    expect(plan({}, ends, { d1a: { roomBps: 2e6 } }).chain[0]).toBe('d1b');
    expect(plan({ avoid: ['d1a'] }).chain[0]).toBe('d1b');
  });

  test('one slow line does not make those of its neighbours look slow', () => {
    const { seesClient, seesOrigin, plan } = world({ 'd1 d3': 140 });
    seesOrigin('d3', 5, { receivedBytes: 4e8, lostBytes: 0, goodputBps: 4e8 });
    seesOrigin('d1', 145, { receivedBytes: 4e7, lostBytes: 4e3, goodputBps: 20e6 });
    for (let time = 0; time < 12; time += 1) seesClient('d1', 5, { ...CLEAN, goodputBps: 250e6 });
    for (let time = 0; time < 30; time += 1)
      seesClient('d1', 5, { sentBytes: 4e6, retransmittedBytes: 0, goodputBps: 6e6 });
    const route = plan();
    expect(route).toMatchObject({ decision: 'chain', chain: ['d1', 'd3'] });
    expect(route.prediction.seconds).toBeLessThan(route.direct.seconds * 0.9);
  });

  test('a first client with a slow line does not send all others of its network directly over a lossy way', () => {
    const { seesClient, seesOrigin, plan } = world({ 'd1 d3': 120 });
    seesOrigin('d3', 5, { receivedBytes: 4e8, lostBytes: 0, goodputBps: 3e8 });
    for (let time = 0; time < 12; time += 1)
      seesClient('d1', 10, { sentBytes: 25e5, retransmittedBytes: 25e2, goodputBps: 4e6 });
    expect(plan().decision).toBe('chain');
  });

  test('a depot with a narrow line of its own makes neither the direct way look slow nor that over others', () => {
    const { seesClient, seesOrigin, plan } = world({ 'd1 d2': 20, 'd1 d3': 85, 'd2 d3': 85 }, [], {
      d1: 10e6,
    });
    seesOrigin('d3', 5, { receivedBytes: 4e8, lostBytes: 0, goodputBps: 4e8 });
    seesOrigin('d1', 88, { receivedBytes: 4e7, lostBytes: 8e3, goodputBps: 10e6 });
    for (let time = 0; time < 10; time += 1) seesClient('d1', 8, { ...CLEAN, goodputBps: 9.5e6 });
    const { chain, direct, prediction } = plan();
    expect(chain).not.toContain('d1');
    expect(prediction.goodputBps).toBeGreaterThan(20e6);
    expect(direct.goodputBps).toBeGreaterThan(12e6);
  });

  test('depots with narrow lines take no client over them whose own line may be wider, however many they are', () => {
    const narrow = { d1: 30e6, d2: 30e6, d3: 30e6 };
    const { seesClient, seesOrigin, plan } = world({ 'd1 d2': 20, 'd1 d3': 40, 'd2 d3': 30 }, [], narrow);
    for (let time = 0; time < 10; time += 1) {
      for (const [depot, toClientMs, toOriginMs] of [
        ['d1', 5, 40],
        ['d2', 20, 30],
        ['d3', 42, 5],
      ] as const) {
        seesClient(depot, toClientMs, { ...CLEAN, goodputBps: 29e6 });
        seesOrigin(depot, toOriginMs, { receivedBytes: 4e7, lostBytes: 0, goodputBps: 29e6 });
      }
    }
    expect(plan().decision).toBe('direct');
    expect(plan().direct.goodputBps).toBeGreaterThan(40e6);
  });

  test.each(['client', 'origin'])(
    'depots that are gone take no places of those that are there, although they were near the %s',
    (end) => {
      const gone = Array.from({ length: 40 }, (_, number) => `gone${number}`);
      const [near, far] = end === 'client' ? ['d1', 'd3'] : ['d3', 'd1'];
      const { seesClient, seesOrigin, plan } = world({
        'd1 d3': 90,
        ...Object.fromEntries(
          gone.flatMap((id) => [
            [`${near} ${id}`, 3],
            [`${far} ${id}`, 89],
          ]),
        ),
      });
      const origin = { receivedBytes: 4e7, lostBytes: 0, goodputBps: 4e8 };
      for (const id of gone) {
        if (end === 'client') seesClient(id, 2, { ...CLEAN, goodputBps: 9e7 });
        else seesOrigin(id, 2, origin);
      }
      for (let time = 0; time < 5; time += 1) {
        seesClient('d1', 5, { ...CLEAN, goodputBps: 9e7 });
        seesOrigin('d3', 5, origin);
        seesOrigin('d1', 95, { receivedBytes: 4e7, lostBytes: 4e4, goodputBps: 1.5e7 });
      }
      const states = Object.fromEntries(gone.map((id) => [id, { state: 'lost' as const }]));
      const ends = { client: CLIENT, origin: HOST };
      expect(plan({}, ends, states)).toMatchObject({ decision: 'chain', chain: ['d1', 'd3'] });
    },
  );

  test('depots that are gone take no places of those that are placed by the triangles with others', () => {
    const gone = Array.from({ length: 40 }, (_, number) => `gone${number}`);
    const { ends, seesClient } = world({});
    seesClient('met', 40);
    const around = () => [...gone.map((id) => [id, 30] as const), ['d1', 60] as const];
    const isUsable = (depot: string) => !gone.includes(depot);
    const view = ends.between({ client: CLIENT, origin: HOST }, { around, isUsable }, NOW);
    expect(view.estimate('client', 'd1', NOW)).toMatchObject({ source: 'derived' });
  });

  test('a depot that a client has only greeted makes no direct way slow whose line others have seen', () => {
    const directBps = (isGreeted: boolean) => {
      const { seesClient, seesOrigin, plan } = world({ 'd1 d3': 12 });
      for (let time = 0; time < 6; time += 1) {
        seesClient('d1', 5, { ...CLEAN, goodputBps: 2e8, leastWindowBytes: 12e6, mostWindowBytes: 16e6 });
        seesOrigin('d3', 2, { receivedBytes: 4e7, lostBytes: 0, goodputBps: 9e8, limit: 'network' });
        seesOrigin('d1', 13, { receivedBytes: 8e7, lostBytes: 0, goodputBps: 8e8, limit: 'network' });
      }
      if (isGreeted) seesClient('d3', 14);
      return plan({ sizeBytes: 5e7 }).direct.goodputBps;
    };
    expect(directBps(true)).toBeGreaterThan(0.9 * directBps(false));
  });

  test('what a far depot could send to a client says nothing of the line to a near one', () => {
    const { seesClient, seesOrigin, plan } = world({ 'd1 d3': 140 });
    seesOrigin('d3', 5, { receivedBytes: 4e8, lostBytes: 0, goodputBps: 4e8 });
    seesOrigin('d1', 145, { receivedBytes: 4e7, lostBytes: 8e3, goodputBps: 15e6 });
    seesClient(masterOf('d1'), 5);
    for (let time = 0; time < 10; time += 1)
      seesClient('d3', 145, { sentBytes: 2e6, retransmittedBytes: 2e4, goodputBps: 3e6 });
    expect(plan()).toMatchObject({ decision: 'chain', chain: ['d1', 'd3'] });
  });

  test('an origin that hundreds of depots have met is fetched from by the nearest one', () => {
    const many = Array.from({ length: 200 }, (_, number) => `m${number}`);
    const { seesClient, seesOrigin, plan } = world({
      'd1 d3': 140,
      ...Object.fromEntries(many.map((id) => [`d1 ${id}`, 150])),
    });
    for (const [number, id] of many.entries())
      seesOrigin(id, 20 + number, { receivedBytes: 4e7, lostBytes: 4e4 });
    seesOrigin('d3', 5, { receivedBytes: 4e8, lostBytes: 0, goodputBps: 4e8 });
    seesOrigin('d1', 145, { receivedBytes: 4e7, lostBytes: 8e3, goodputBps: 15e6 });
    for (let time = 0; time < 10; time += 1) seesClient('d1', 5, { ...CLEAN, goodputBps: 250e6 });
    expect(plan()).toMatchObject({ decision: 'chain', chain: ['d1', 'd3'] });
  });

  test('another way for a running download leaves through the depot that carries most, not through a narrow one that is nearer to the origin', () => {
    const { seesOrigin, reroute } = world({ 'e1 x1': 60, 'e1 x2': 60, 'x1 x2': 10 });
    const seen = { receivedBytes: 4e7, lostBytes: 0, limit: 'network' };
    for (let time = 0; time < 3; time += 1) {
      seesOrigin('x1', 4, { ...seen, goodputBps: 5e6, totalBps: 5e6, fullBps: 5e6 });
      seesOrigin('x2', 12, { ...seen, goodputBps: 6e8 });
    }
    // Who the client is says nothing of the way from its entry depot on.
    for (const ends of [{ origin: HOST }, { client: CLIENT, origin: HOST }]) {
      const { chains, promises } = reroute({ entry: 'e1', ends });
      expect(chains[0]).toEqual(['e1', 'x2']);
      expect(promises[0]?.rateBps).toBeGreaterThan(5e7);
      expect(chains).toContainEqual(['e1', 'x1']);
    }
    // What nobody has measured may be slow, and is hardly as slow as that one.
    expect(reroute({ entry: 'e1', avoid: ['x2'] }).chains).toEqual([['e1'], ['e1', 'x1']]);
  });

  test('an origin that gives no parts gets one lane', () => {
    const { seesOrigin, plan } = world(ROW);
    seesOrigin('d3', 20, { receivedBytes: 4e7, lostBytes: 4e4, takesRanges: true });
    expect(plan({ lanes: undefined }).lanes).toBeGreaterThan(1);
    seesOrigin('d3', 20, { takesRanges: false });
    expect(plan().lanes).toBe(1);
  });
});

test('what is typed in for everybody counts until depots have measured, and then only where it is fixed', () => {
  const typed = (fixed: boolean) => [
    { between: ['client', 'd1'], rttMs: 10, rateBps: 1e8, fixed },
    { between: ['d3', 'origin'], rttMs: 10, rateBps: 1e8, fixed },
  ];
  for (const fixed of [false, true]) {
    const { ends, seesClient, seesOrigin } = world(ROW, typed(fixed));
    const rtts = () => {
      const view = ends.between(
        { client: CLIENT, origin: HOST },
        { around: () => [], isUsable: () => true },
        NOW,
      );
      return [view.estimate('client', 'd1', NOW)?.rttMs, view.estimate('d3', 'origin', NOW)?.rttMs];
    };
    expect(rtts()).toEqual([10, 10]);
    seesClient('d1', 40);
    seesOrigin('d3', 40);
    for (const rttMs of rtts()) expect(Math.round(rttMs ?? 0)).toBe(fixed ? 10 : 40);
  }
});

test('a chain that goes round a lossy way does not make that way look clean, wherever between both ends the depot lies that has met it', () => {
  for (const toClientMs of [17, 18, 24, 30]) {
    const { seesClient, seesOrigin, plan } = world({ 'd1 d2': 40 });
    for (let look = 0; look < 5; look += 1) {
      seesClient('d1', toClientMs, { ...CLEAN, goodputBps: 2e7 });
      seesOrigin('d1', 54, { receivedBytes: 4e7, lostBytes: 4e5, goodputBps: 2.6e6 });
      seesOrigin('d2', 20, { receivedBytes: 4e7, lostBytes: 0, goodputBps: 3e8 });
    }
    for (const sizeBytes of [3e6, 1e7, 1e8])
      expect(plan({ sizeBytes }), `${toClientMs} ms, ${sizeBytes} bytes`).toMatchObject({
        chain: ['d1', 'd2'],
      });
  }
});

test('a direct way has no smaller window than both ends were seen to have', () => {
  const shownOf = (offered: object, goodputBps: number) => {
    const { ends, seesClient, seesOrigin } = world({ 'd1 d2': 40 });
    for (let look = 0; look < 5; look += 1) {
      seesClient('d1', 5, { ...CLEAN, goodputBps: 9e7, ...offered });
      seesOrigin('d1', 40, { receivedBytes: 4e7, lostBytes: 0, goodputBps });
    }
    const overlay = { around: () => [], isUsable: () => true };
    return ends.between({ client: CLIENT, origin: HOST }, overlay, NOW).pair?.shownWindowBytes ?? 0;
  };
  expect(shownOf({ leastWindowBytes: 6e6 }, 9e7) / 450_000).toBeCloseTo(1, 1);
  expect(shownOf({ leastWindowBytes: 1e5 }, 9e7)).toBe(1e5);
  expect(shownOf({}, 9e7)).toBe(0);
});

test('a chain that took half as long as direct downloads did is not left for the direct way as that is worked out', () => {
  for (const apartMs of [60, 120, 200]) {
    const { seesClient, seesOrigin, plan } = world({ 'd1 d3': apartMs });
    seesClient('d1', 10, { sentBytes: 4e7, retransmittedBytes: 4000, goodputBps: 1e8 });
    seesClient('d3', apartMs + 5);
    seesOrigin('d1', apartMs + 5);
    seesOrigin('d3', 10);
    const { decision, chain, lanes, prediction, direct } = plan();
    expect(decision).toBe('chain');
    const told = (seconds: number, planned: number, asLanes: number) => {
      const one = { bodyBytes: SIZE, lanes: asLanes, seconds, timesPlanned: seconds / planned };
      return Array.from({ length: 5 }, () => ({ ...one, isSeconded: true, agoMs: 0 }));
    };
    for (const times of [1.4, 2, 3]) {
      const directSeconds = times * direct.seconds;
      const taken = [{ chain, downloads: told(directSeconds / 2, prediction.seconds, lanes) }];
      const takenDirect = told(directSeconds, direct.seconds, 1);
      expect(plan({ taken, takenDirect }).decision, `${apartMs} ms, ${times} times`).toBe('chain');
    }
  }
});

test('a depot that may be much nearer to a client than the one that serves it is met by a download that may be used to learn', () => {
  // The only master stands at d1: of d2, where the client is, triangles say next to nothing.
  const { seesClient, seesOrigin, plan } = world({ 'd1 d2': 78, 'd1 d3': 60 });
  seesClient(masterOf('d1'), 89);
  for (let look = 0; look < 5; look += 1) seesClient('d1', 89, { ...LOSSY, goodputBps: 6.6e7 });
  seesOrigin('d2', 5, { receivedBytes: 4e7, lostBytes: 4e4 });
  seesOrigin('d1', 83, { receivedBytes: 4e7, lostBytes: 4e5, goodputBps: 4e6 });
  const sizes = [8e6, 3e7];
  for (const sizeBytes of sizes) expect(plan({ sizeBytes }).chain[0]).toBe('d1');
  const exploring = { mostRegret: 0.5, isToMeet: true };
  const met = sizes.map((sizeBytes) => plan({ sizeBytes, exploring }));
  for (const route of met) expect(route).toMatchObject({ decisionReason: 'to-learn', chain: ['d2'] });
  seesClient('d2', 12, { ...CLEAN, goodputBps: 6.6e7 });
  for (const sizeBytes of sizes) {
    expect(plan({ sizeBytes }).chain).not.toContain('d1');
    expect(plan({ sizeBytes, exploring }).decisionReason).not.toBe('to-learn');
  }
});

test('a depot further away is met where the one beside the client may be narrower than the line', () => {
  const metWhere = (uplinkBps: number) => {
    const links = { 'd1 d2': 30, 'd1 d3': 80, 'd2 d3': 70 };
    const { seesClient, seesOrigin, plan } = world(links, [], { d1: uplinkBps });
    for (let look = 0; look < 5; look += 1) seesClient('d1', 8, { ...CLEAN, goodputBps: 1.5e7 });
    seesOrigin('d3', 5, { receivedBytes: 4e7, lostBytes: 0, goodputBps: 9e7 });
    seesOrigin('d1', 84, { receivedBytes: 4e7, lostBytes: 4e5, goodputBps: 4e6 });
    expect(plan({ sizeBytes: 3e7 }).chain[0]).toBe('d1');
    return plan({ sizeBytes: 3e7, exploring: { mostRegret: 0.5, isToMeet: true } });
  };
  expect(metWhere(1.5e7)).toMatchObject({ decisionReason: 'to-learn', chain: ['d2'] });
  expect(metWhere(9e7).decisionReason).not.toBe('to-learn');
});

test('a depot that knows a client by another network than the master is met once', () => {
  for (const seenAs of ['203.0.113.0/24', '172.17.0.0/24']) {
    const { seesClient, seesOrigin, saysOf, plan } = world({ 'd1 d2': 78, 'd1 d3': 60 });
    seesClient(masterOf('d1'), 89);
    for (let look = 0; look < 5; look += 1) seesClient('d1', 89, { ...LOSSY, goodputBps: 6.6e7 });
    seesOrigin('d2', 5, { receivedBytes: 4e7, lostBytes: 4e4 });
    seesOrigin('d1', 83, { receivedBytes: 4e7, lostBytes: 4e5, goodputBps: 4e6 });
    const exploring = { mostRegret: 0.5, isToMeet: true };
    expect(plan({ sizeBytes: 3e7, exploring })).toMatchObject({ decisionReason: 'to-learn', chain: ['d2'] });
    saysOf('d2', PREFIX, seenAs);
    seesClient('d2', 12, { ...CLEAN, goodputBps: 6.6e7 }, seenAs);
    expect(plan({ sizeBytes: 3e7, exploring }).decisionReason).not.toBe('to-learn');
  }
});

test('a download that may be used to learn takes a chain past a direct way that is only worked out, as far as the bound allows', () => {
  const { seesClient, seesOrigin, plan } = world({ 'd1 d2': 40 });
  for (const [depot, toClient, toOrigin] of [
    ['d1', 6, 42],
    ['d2', 44, 5],
  ] as const) {
    seesClient(depot, toClient, CLEAN);
    seesOrigin(depot, toOrigin, { receivedBytes: 4e7, lostBytes: 0 });
  }
  const sizes = [1e5, 3e5, 1e6, 3e6, 1e7, 3e7, 1e8, 3e8].filter(
    (sizeBytes) => plan({ sizeBytes }).decision === 'direct',
  );
  expect(sizes.length).toBeGreaterThan(0);
  const learnt = (mostRegret: number) =>
    sizes.filter((sizeBytes) => plan({ sizeBytes, exploring: { mostRegret } }).decisionReason === 'to-learn');
  expect(learnt(1).length).toBeGreaterThan(0);
  expect(learnt(-0.5)).toEqual([]);
  for (const sizeBytes of learnt(0.25)) expect(learnt(1)).toContain(sizeBytes);
});

test('a round trip alone, as a master or a probe sees it, leaves what is typed in of rate and losses', () => {
  const typed = { rttMs: 5, rateBps: 7e6, lossRate: 0.01 };
  const { ends, seesClient, seesOrigin } = world(ROW, [
    { between: ['client', 'd1'], ...typed },
    { between: ['d3', 'origin'], ...typed },
  ]);
  seesClient('d1', 8);
  seesOrigin('d3', 9);
  const overlay = { around: () => [], isUsable: () => true };
  const view = ends.between({ client: CLIENT, origin: HOST }, overlay, NOW);
  const seen = { rateBps: 7e6, lossRate: 0.01, ageMs: 0 };
  const [first, last] = [view.estimate('client', 'd1', NOW), view.estimate('d3', 'origin', NOW)];
  expect(first).toMatchObject(seen);
  expect(last).toMatchObject(seen);
  expect(first?.rttMs).toBeGreaterThan(7.5);
  expect(last?.rttMs).toBeGreaterThan(8.5);
});

test('first downloads are not slower than direct, wherever depots, clients and origins lie', () => {
  let state = 7;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const point = () => ({ x: 150 * random(), y: 100 * random() });
  const rtt = (one: ReturnType<typeof point>, other: ReturnType<typeof point>) =>
    2 + Math.hypot(one.x - other.x, one.y - other.y);
  const ratios: number[] = [];
  let chains = 0;
  for (let draw = 0; draw < 150; draw += 1) {
    const places = { d1: point(), d2: point(), d3: point(), client: point(), origin: point() };
    const at = (id: string) => places[id as keyof typeof places];
    const pairs = [
      ['d1', 'd2'],
      ['d2', 'd3'],
      ['d1', 'd3'],
    ] as const;
    const { seesOrigin, seesClient, plan } = world(
      Object.fromEntries(pairs.map(([one, other]) => [`${one} ${other}`, rtt(at(one), at(other))])),
    );
    // One end has been met by some depots, the pair by nobody.
    const isClient = draw % 2 === 0;
    for (const depot of ['d1', 'd2', 'd3'].slice(0, 1 + (draw % 3)))
      if (isClient) seesClient(depot, rtt(at(depot), at('client')));
      else seesOrigin(depot, rtt(at(depot), at('origin')));
    const { chain, lanes } = plan();
    if (chain.length > 0) chains += 1;
    const lossPerMs = 2e-7 * Math.exp(2.5 * (random() + random() + random() - 1.5));
    const stops = ['client', ...chain, 'origin'];
    const leg = (one: string, other: string): LegEstimate => {
      const rttMs = rtt(at(one), at(other));
      const sender = other === 'origin' ? 'cubic' : 'bbr';
      return { rttMs, lossRate: lossPerMs * rttMs, rateBps: 1e8, windowBytes: 3e6, sender };
    };
    const seconds = (ids: readonly string[], over: number) =>
      chainSeconds(
        ids.slice(1).map((id, index) => leg(ids[index] ?? '', id)),
        SIZE,
        { clientTls: false, originTls: false },
        over,
      );
    ratios.push(seconds(['client', 'origin'], 1) / seconds(stops, lanes));
  }
  const sorted = ratios.toSorted((one, other) => one - other);
  expect(chains).toBeGreaterThan(30);
  expect(sorted[Math.floor(sorted.length / 2)]).toBeGreaterThanOrEqual(0.98);
  // Nor is one that is unlucky.
  expect(sorted[0]).toBeGreaterThanOrEqual(0.98);
});

test('a client whose only master is far away is led over the depot beside its neighbours, not over that of the master', () => {
  const europe = { 'd1 d2': 10, 'd1 d3': 12, 'd2 d3': 14 };
  const asia = {
    'd1 d5': 240,
    'd2 d5': 245,
    'd3 d5': 238,
    'd5 d6': 90,
    'd1 d6': 290,
    'd2 d6': 292,
    'd3 d6': 291,
  };
  const { seesClient, seesOrigin, plan } = world({ ...europe, ...asia });
  for (let network = 1; network < 60; network += 1)
    seesClient('d5', 5, { ...LOSSY, goodputBps: 80e6 }, `198.51.${network}.0/24`);
  seesClient(masterOf('d1'), 245);
  seesOrigin('d6', 4, { receivedBytes: 4e7, lostBytes: 0, goodputBps: 90e6, limit: 'origin' });
  seesOrigin('d5', 92);
  seesOrigin('d1', 292);
  const route = plan();
  expect(route.chain[0]).toBe('d5');
  expect(route.chain).not.toContain('d1');
  expect(route.direct.legs[0]?.rttMs).toBeLessThan(150);
});

describe('an origin that is near depots far from each other', () => {
  const NEAR = { receivedBytes: 4e7, lostBytes: 0, goodputBps: 100e6 };

  function contentNetwork(betweenMs: number) {
    const told = world({ 'dA dB': 150, 'dA dC': 155, 'dB dC': betweenMs });
    told.seesClient('dA', 20, LOSSY);
    told.seesClient('dB', 155, LOSSY);
    told.seesClient('dC', 160, LOSSY);
    for (const depot of ['dB', 'dC']) told.seesOrigin(depot, 4, NEAR);
    return told;
  }

  test('stands in several places, and is as near to a client as over the depot beside it', () => {
    const { seesOrigin, plan } = contentNetwork(100);
    seesOrigin('dA', 4, NEAR);
    for (const sizeBytes of [100e3, 1e6]) {
      const route = plan({ sizeBytes });
      expect(route.decision).toBe('direct');
      expect(route.direct.legs[0]?.rttMs).toBeLessThan(25);
    }
  });

  test('stands in several places where the only two depots that have met it are both near it, and far from each other', () => {
    const { seesClient, seesOrigin, plan } = world({ 'dA dB': 100 });
    for (let time = 0; time < 5; time += 1) seesClient('dA', 120, { ...CLEAN, goodputBps: 90e6 });
    for (const depot of ['dA', 'dB']) seesOrigin(depot, 4, NEAR);
    for (const sizeBytes of [100e3, 1e6, 20e6])
      expect([sizeBytes, plan({ sizeBytes }).decision]).toEqual([sizeBytes, 'direct']);
  });

  test('is near to a client that is far from all depots, unless one between them says that it has no server there', () => {
    const { seesClient, seesOrigin, plan } = world({ 'dA dB': 150, 'dA dC': 150, 'dB dC': 150 });
    for (const [depot, rttMs] of [
      ['dA', 180],
      ['dB', 190],
      ['dC', 200],
    ] as const) {
      for (let time = 0; time < 5; time += 1) seesClient(depot, rttMs, { ...CLEAN, goodputBps: 90e6 });
      seesOrigin(depot, 4, NEAR);
    }
    for (const sizeBytes of [100e3, 1e6, 20e6])
      expect([sizeBytes, plan({ sizeBytes }).decision]).toEqual([sizeBytes, 'direct']);
    expect(plan().direct.legs[0]?.rttMs).toBeLessThan(50);
    seesClient('dD', 10, CLEAN);
    seesOrigin('dD', 150, NEAR);
    expect(plan().direct.legs[0]?.rttMs).toBeGreaterThan(90);
  });

  test('is no nearer to a client for all that a depot says that cannot be beside it, by the ways to others that have met it', () => {
    const fromNear = { 'dA dB': 150, 'dA dC': 155, 'dA dD': 160, 'dA liar': 120 };
    const others = { 'dB dC': 100, 'dB dD': 100, 'dC dD': 100, 'dB liar': 90, 'dC liar': 90, 'dD liar': 90 };
    const { seesClient, seesOrigin, plan } = world({ ...fromNear, ...others });
    for (const [depot, toClientMs, toOriginMs] of [
      ['dA', 20, 100],
      ['dB', 155, 4],
      ['dC', 160, 4],
      ['dD', 165, 4],
    ] as const) {
      seesClient(depot, toClientMs, LOSSY);
      seesOrigin(depot, toOriginMs, NEAR);
    }
    const directMs = () => plan().direct.legs[0]?.rttMs ?? 0;
    const honestMs = directMs();
    expect(honestMs).toBeGreaterThan(80);
    seesClient('liar', 1, CLEAN);
    seesOrigin('liar', 1, NEAR);
    expect(directMs() / honestMs).toBeGreaterThan(0.8);
  });

  test('stands in one place for all that one depot says', () => {
    const { seesOrigin, plan } = contentNetwork(6);
    seesOrigin('dA', 1, NEAR);
    expect(plan().direct.legs[0]?.rttMs).toBeGreaterThan(100);
  });
});

test('what several connections were given counts less the longer ago that was', () => {
  const { ends, seesOrigin, seesClient } = world(ROW);
  seesClient('d1', 5, CLEAN);
  seesOrigin('d3', 5, { totalBps: 2e9 });
  const leg = (hours: number) => {
    const atMs = NOW + hours * 3_600_000;
    const view = ends.between(
      { client: CLIENT, origin: HOST },
      { around: () => [], isUsable: () => true },
      atMs,
    );
    return [view.estimate('d3', 'origin', atMs)?.rateBps ?? 0, view.doubt?.('d3', 'origin', atMs).rate ?? 0];
  };
  const [rates, spreads] = [0, 1].map((figure) => [0, 3, 12, 100].map((hours) => leg(hours)[figure] ?? 0));
  expect(rates).toEqual(rates?.toSorted((one, other) => other - one));
  expect(rates?.[0]).toBeGreaterThan(2.5 * (rates?.[3] ?? 0));
  expect(spreads?.[3]).toBeCloseTo(0.5);
  expect(spreads?.[0]).toBeLessThan(0.5);
});

describe('a client that asks by IPv6 and comes to depots by IPv4', () => {
  const V6 = '2001:db8:5::/48';
  const ends = { client: '2001:db8:5::7', origin: HOST };
  const links = { 'd1 d3': 140, 'd1 d2': 80, 'd2 d3': 70 };
  /** What depots know of the origin, and of the client under a prefix. */
  const toldOf = (prefix: string) => {
    const known = world(links);
    known.seesOrigin('d3', 5, { receivedBytes: 4e7, lostBytes: 0, goodputBps: 3e8 });
    known.seesOrigin('d1', 145, { receivedBytes: 4e7, lostBytes: 8e3 });
    for (let look = 0; look < 5; look += 1) {
      const more = { windowBytes: 400_000, leastWindowBytes: 400_000, queueMs: 9 };
      known.seesClient('d1', 5, { ...CLEAN, goodputBps: 90e6, ...more }, prefix);
      known.seesClient('d3', 145, { ...LOSSY, goodputBps: 8e6 }, prefix);
    }
    // What depots met of its neighbours counts as well.
    known.seesClient('d2', 40, CLEAN, prefix === PREFIX ? '198.51.7.0/24' : '2001:db8:9::/48');
    return known;
  };

  test('is planned as it would be if both were of one family', () => {
    const expected = toldOf(V6).plan({}, ends);
    const { saysOf, plan, ends: endLinks } = toldOf(PREFIX);
    const before = endLinks.stateOf(ends);
    expect(plan({}, ends).chain).toEqual(['d3']);
    saysOf('d1', V6, PREFIX);
    expect(plan({}, ends)).toEqual(expected);
    expect(expected.chain[0]).toBe('d1');
    expect(endLinks.stateOf(ends), 'what was decided before counts no more').not.toBe(before);
    expect(endLinks.evidence(ends, 'client', 'd1', NOW)?.rttMs.source).toBe('measured');
  });

  test('is planned so, too, where the other one is IPv6, and where its master knows how far it is', () => {
    const reverse = toldOf(V6);
    reverse.saysOf('d3', PREFIX, V6);
    expect(reverse.plan()).toEqual(toldOf(PREFIX).plan());
    const { saysOf, seesClient, plan } = toldOf(PREFIX);
    seesClient(masterOf('d3'), 146, {}, V6);
    saysOf('d1', V6, PREFIX);
    expect(plan({}, ends)).toEqual(toldOf(V6).plan({}, ends));
  });

  test('keeps the leg of a depot by its own word, where others have measured the network of its plans', () => {
    const { saysOf, seesClient, plan, ends: endLinks } = toldOf(PREFIX);
    saysOf('d1', V6, PREFIX);
    seesClient('d2', 85, CLEAN, V6);
    expect(plan({}, ends).chain[0]).toBe('d1');
    const view = endLinks.between(ends, { around: () => [], isUsable: () => true }, NOW);
    const rttOf = (depot: string) => view.estimate('client', depot, NOW)?.rttMs;
    expect(rttOf('d1')).toBeCloseTo(5, 0);
    expect(rttOf('d2')).toBeCloseTo(85, 0);
    // One depot speaks for its own leg alone.
    expect(rttOf('d3')).toBeUndefined();
    saysOf('d3', V6, PREFIX);
    const later = endLinks.between(ends, { around: () => [], isUsable: () => true }, NOW);
    expect(later.estimate('client', 'd3', NOW)?.rttMs).toBeCloseTo(145, 0);
  });

  test('is not moved by one depot alone from where depots have measured it, nor are those moved by two', () => {
    const far = '203.0.113.0/24';
    const world = toldOf(V6);
    // Beside d2 are others.
    world.seesClient('d2', 1, { ...CLEAN, goodputBps: 9e8 }, far);
    const honest = world.plan({}, ends);
    world.saysOf('liar', V6, far);
    expect(world.plan({}, ends)).toEqual(honest);
    world.saysOf('liar2', V6, far);
    // By its own word, which counts for its own leg.
    world.seesClient('d9', 300, CLEAN, far);
    world.seesClient('d9', 20, CLEAN);
    world.saysOf('d9', V6, PREFIX);
    const view = world.ends.between(ends, { around: () => [], isUsable: () => true }, NOW);
    expect(view.estimate('client', 'd1', NOW)?.rttMs).toBeCloseTo(5, 0);
    expect(view.estimate('client', 'd2', NOW)?.rttMs).toBeCloseTo(1, 0);
    expect(view.estimate('client', 'd9', NOW)?.rttMs).toBeCloseTo(20, 0);
  });
});

describe('a client', () => {
  const [V4, V6, HOME] = ['8.8.8.8', '2606:4700::1111', '10.0.0.7'];
  const V4_PREFIX = '8.8.8.0/24';
  const BY_IPV6 = { d3: { onlyFamily: 'IPv6' } } as const;
  const from = (client: string): DownloadEnds => ({ client, origin: HOST });

  test.each([
    ['IPv4', V4, 'IPv6'],
    ['IPv4 that is mapped', `::ffff:${V4}`, 'IPv6'],
    ['IPv6', V6, 'IPv4'],
  ] as const)(
    'that asks by %s is not led to a depot that it cannot reach, but to the next one',
    (_, client, onlyFamily) => {
      const { seesOrigin, plan } = world({ 'd2 d3': 16 });
      seesOrigin('d3', 4);
      const states = { d3: { onlyFamily } };
      expect(plan({}, from(client)).chain).toEqual(['d3']);
      const { chain, reasons } = plan({}, from(client), states);
      expect(chain).toEqual(['d2']);
      expect(reasons).toContain(`Left out as entry depot: d3, which clients reach by ${onlyFamily} alone.`);
    },
  );

  test('is led there by the family that leads there, and where nobody knows how it is seen on the internet', () => {
    const { seesOrigin, plan } = world(ROW);
    seesOrigin('d3', 4);
    for (const client of [V6, HOME, CLIENT]) {
      const { chain, reasons } = plan({}, from(client), BY_IPV6);
      expect(chain).toEqual(['d3']);
      expect(reasons.join(' ')).not.toContain('as entry depot');
    }
  });

  test('is led there once clients of its network have come there, and not because a master has seen them', () => {
    const { seesClient, seesOrigin, plan } = world({ 'd3 d4': 150 });
    seesOrigin('d3', 140, { receivedBytes: 4e7, lostBytes: 0, goodputBps: 3e8 });
    seesOrigin('d4', 5, { receivedBytes: 4e7, lostBytes: 0, goodputBps: 3e8 });
    seesClient(masterOf('d3'), 5, {}, V4_PREFIX);
    expect(plan({}, from(V4)).chain[0]).toBe('d3');
    expect(plan({}, from(V4), BY_IPV6).chain[0]).not.toBe('d3');
    seesClient('d3', 5, { ...CLEAN, goodputBps: 9e7 }, V4_PREFIX);
    expect(plan({}, from(V4), BY_IPV6).chain[0]).toBe('d3');
  });

  test('passes it behind another one, and is neither to meet it nor to fall back on it', () => {
    const { seesClient, seesOrigin, plan } = world(ROW);
    seesClient('d1', 4, { ...CLEAN, goodputBps: 9e7 }, V4_PREFIX);
    for (const [depot, rttMs] of [
      ['d1', 125],
      ['d2', 65],
      ['d3', 4],
    ] as const)
      seesOrigin(depot, rttMs, { receivedBytes: 4e7, lostBytes: 0, goodputBps: 3e8 });
    const entriesOf = ({ chain, alternatives }: Route) => [chain, ...alternatives].map(([entry]) => entry);
    const open = plan({}, from(V4), { d2: { state: 'draining' } });
    expect(entriesOf(open)).toContain('d3');
    expect(open.toMeet).toContain('d3');
    const route = plan({}, from(V4), { d2: { state: 'draining' }, ...BY_IPV6 });
    expect(route.chain).toEqual(['d1', 'd3']);
    expect(entriesOf(route)).not.toContain('d3');
    expect(route.toMeet).not.toContain('d3');
  });

  test('is not used to learn of a depot that it cannot reach', () => {
    const { seesClient, seesOrigin, plan } = world({ 'd1 d2': 78, 'd1 d3': 60 });
    seesClient(masterOf('d1'), 89, {}, V4_PREFIX);
    for (let look = 0; look < 5; look += 1) seesClient('d1', 89, { ...LOSSY, goodputBps: 6.6e7 }, V4_PREFIX);
    seesOrigin('d2', 5, { receivedBytes: 4e7, lostBytes: 4e4 });
    seesOrigin('d1', 83, { receivedBytes: 4e7, lostBytes: 4e5, goodputBps: 4e6 });
    const query = { sizeBytes: 3e7, exploring: { mostRegret: 0.5, isToMeet: true } };
    expect(plan(query, from(V4))).toMatchObject({ decisionReason: 'to-learn', chain: ['d2'] });
    expect(plan(query, from(V4), { d2: { onlyFamily: 'IPv6' } }).chain[0]).toBe('d1');
  });
});
