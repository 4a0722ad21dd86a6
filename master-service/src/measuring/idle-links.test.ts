import type { LinkTest } from '@longhaul/shared';
import { describe, expect, test } from 'vitest';
import { LinkTable } from '../planning/links/link-table.ts';
import { testConfig } from '../testing/start-master.ts';
import { IdleLinks, type TestableDepot } from './idle-links.ts';

const HOUR_MS = 3_600_000;
const NOW = 1_795_000_000_000;

const depot = (id: string, changes: Partial<TestableDepot> = {}): TestableDepot => {
  return { id, state: 'up', activeTransfers: 0, ...changes };
};
const some = (count: number) => Array.from({ length: count }, (_, index) => depot(`d${index}`));

/** Numbers that are drawn evenly, the same ones each time (Park and Miller's generator). */
function drawn() {
  let state = 7;
  return () => {
    state = (48_271 * state) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

function setUp(links: readonly object[] = []) {
  const table = new LinkTable(testConfig({ links }).links, 1e6);
  return { table, idle: new IdleLinks({ links: table, random: drawn() }) };
}

/** What a test shows of a link: in slow start the last round trip brings some two fifths of what is sent. */
function shown(bytes: number, rttMs: number, linkBps: number) {
  const leastGoodputBps = (8000 * 0.4 * bytes) / rttMs;
  return leastGoodputBps < linkBps ? { leastGoodputBps } : { goodputBps: linkBps };
}

/** Round trips between continents, in milliseconds. */
const CONTINENTS_MS = [
  [15, 95, 180, 200, 270, 130],
  [95, 35, 150, 130, 170, 220],
  [180, 150, 50, 300, 120, 250],
  [200, 130, 300, 30, 290, 300],
  [270, 170, 120, 290, 30, 330],
  [130, 220, 250, 300, 330, 40],
] as const;

/** Depots on six continents that have just met, whose links carry 400 Mbit/s, but one that sends 15 at most. */
function overlayOf(count: number, narrow?: number) {
  const { table, idle } = setUp();
  const depots = some(count);
  const rttMs = (from: number, to: number) => CONTINENTS_MS[from % 6]?.[to % 6] ?? 0;
  for (const [from, { id }] of depots.entries())
    for (const [to, other] of depots.entries())
      if (from !== to) table.report(id, { to: other.id, rttMs: rttMs(from, to) }, NOW);
  const tested = new Set<string>();
  let running: {
    readonly from: number;
    readonly to: number;
    readonly bytes: number;
    readonly second: number;
  }[] = [];
  /** Lets its depots be heard, each every five seconds. */
  const runFor = (fromSecond: number, toSecond: number) => {
    for (let second = fromSecond; second < toSecond; second += 1) {
      const nowMs = NOW + second * 1000;
      for (const { from, to, bytes } of running.filter((test) => test.second <= second)) {
        const figures = shown(bytes, rttMs(from, to), from === narrow ? 1.5e7 : 4e8);
        table.report(`d${from}`, { to: `d${to}`, rttMs: rttMs(from, to), ...figures }, nowMs);
        idle.noteSent(`d${from}`, `d${to}`, bytes);
      }
      running = running.filter((test) => test.second > second);
      for (const [to, { id }] of depots.entries()) {
        const test = (second + to) % 5 === 0 ? idle.next(id, depots, nowMs) : undefined;
        if (!test) continue;
        tested.add(`${test.from} ${id}`);
        running.push({ from: Number(test.from.slice(1)), to, bytes: test.bytes, second: second + 3 });
      }
    }
  };
  return { table, depots, tested, runFor };
}

describe('tests of idle links', () => {
  test('are asked for where nothing is known, and not where depots have measured or the operator has typed', () => {
    const { table, idle } = setUp([{ between: ['d0', 'd2'], rttMs: 20, rateBps: 1e8 }]);
    table.report('d1', { to: 'd0', rttMs: 20, goodputBps: 5e7 }, NOW);
    expect(idle.next('d0', some(3), NOW)).toBeUndefined();
    expect(idle.next('d0', some(4), NOW)).toMatchObject({ from: 'd3' });
  });

  test('are asked for again when what was measured has grown old', () => {
    const { table, idle } = setUp();
    table.report('d1', { to: 'd0', rttMs: 20, goodputBps: 5e7 }, NOW);
    const asked = Array.from({ length: 5 }, (_, hours) => idle.next('d0', some(2), NOW + hours * HOUR_MS));
    expect(asked.map((one) => one !== undefined)).toEqual([false, false, true, true, true]);
  });

  test('are asked for soon where a link has become slow, and less and less often while it stays so', () => {
    const { table, idle } = setUp();
    for (let report = 0; report < 20; report += 1)
      table.report('d1', { to: 'd0', rttMs: 20, goodputBps: 2e6 }, NOW);
    const minutes: number[] = [];
    for (let minute = 0; minute < 600; minute += 1) {
      const asked = idle.next('d0', some(2), NOW + minute * 60_000);
      if (!asked) continue;
      minutes.push(minute);
      table.report('d1', { to: 'd0', rttMs: 20, goodputBps: 2e6 }, NOW + minute * 60_000);
    }
    expect(minutes.slice(0, 4)).toEqual([2, 6, 14, 30]);
    expect(minutes.length).toBeLessThan(11);
    // Once it has healed, and is slow again, it is asked for as soon as before.
    const [healedMs, slowMs] = [NOW + 600 * 60_000, NOW + 700 * 60_000];
    const isFound = (goodputBps: number, atMs: number) => {
      for (let report = 0; report < 20; report += 1)
        table.report('d1', { to: 'd0', rttMs: 20, goodputBps }, atMs);
      return idle.next('d0', some(2), atMs + 2 * 60_000) !== undefined;
    };
    expect(isFound(9e7, healedMs)).toBe(false);
    expect(isFound(2e6, slowMs)).toBe(true);
  });

  test('follow each other, each of more bytes, while they show that a slow link is wide again', () => {
    const { table, idle } = setUp();
    const rttMs = 120;
    for (let report = 0; report < 20; report += 1)
      table.report('d1', { to: 'd0', rttMs, goodputBps: 1e7 }, NOW);
    let bytesSpent = 0;
    for (let second = 0; second < 300; second += 5) {
      const atMs = NOW + second * 1000;
      const asked = idle.next('d0', some(2), atMs);
      if (!asked) continue;
      bytesSpent += asked.bytes;
      idle.noteSent('d1', 'd0', asked.bytes);
      // In slow start the last round trip brings half of what is sent.
      const leastGoodputBps = Math.min(2.9e8, (8000 * asked.bytes) / 2 / rttMs);
      table.report('d1', { to: 'd0', rttMs, leastGoodputBps }, atMs + 2000);
    }
    expect(table.estimate('d0', 'd1', NOW + 300_000)?.goodputBps).toBeGreaterThan(8e7);
    expect(bytesSpent).toBeLessThan(1.5e7);
  });

  test('are asked for soon where a link became slower, by far or by less than half, be it as fast as is usual', () => {
    for (const [fastBps, slowBps] of [
      [6e8, 1.2e8],
      [1e8, 5.7e7],
    ] as const) {
      const { table, idle } = setUp();
      for (const goodputBps of [...Array(9).fill(fastBps), ...Array(20).fill(slowBps)])
        table.report('d1', { to: 'd0', rttMs: 20, goodputBps }, NOW);
      const asked = Array.from({ length: 80 }, (_, quarter) =>
        idle.next('d0', some(2), NOW + quarter * 15_000),
      );
      expect(asked.flatMap((one, quarter) => (one ? [quarter * 15] : []))).toEqual([45, 135, 315, 675]);
    }
  });

  test('tell within a minute that a link which lost less than half carries again what it did', () => {
    const { table, idle } = setUp();
    const rttMs = 20;
    const fallen = [...Array(9).fill(1e8), ...Array(20).fill(5.7e7)];
    for (const goodputBps of fallen) table.report('d1', { to: 'd0', rttMs, goodputBps }, NOW);
    let bytesSpent = 0;
    for (let second = 0; second <= 60; second += 5) {
      const asked = idle.next('d0', some(2), NOW + second * 1000);
      if (!asked) continue;
      bytesSpent += asked.bytes;
      idle.noteSent('d1', 'd0', asked.bytes);
      table.report('d1', { to: 'd0', rttMs, ...shown(asked.bytes, rttMs, 1e8) }, NOW + second * 1000 + 2000);
    }
    expect(table.estimate('d0', 'd1', NOW + 60_000)?.goodputBps).toBeGreaterThan(8e7);
    expect(bytesSpent).toBeLessThan(2.5e6);
  });

  test('are asked for once where nothing comes of one, though a link may have changed', () => {
    const { table, idle } = setUp();
    const report = (goodputBps: number) => table.report('d1', { to: 'd0', rttMs: 20, goodputBps }, NOW);
    for (const goodputBps of [1e8, 1e8, 1e8, 1e8, 1e7]) report(goodputBps);
    const asked = Array.from({ length: 12 }, (_, minute) => idle.next('d0', some(2), NOW + minute * 60_000));
    expect(asked.flatMap((one, minute) => (one ? [minute] : []))).toEqual([0, 10]);
  });

  test('never keep a depot busy twice at once, nor one that carries transfers or is not there', () => {
    const { idle } = setUp();
    const depots = [...some(3), depot('busy', { activeTransfers: 1 }), depot('lost', { state: 'lost' })];
    expect(idle.next('busy', depots, NOW)).toBeUndefined();
    const first = idle.next('d0', depots, NOW);
    expect(['d1', 'd2']).toContain(first?.from);
    const others = ['d0', 'd1', 'd2'].map((id) => idle.next(id, depots, NOW + 1000));
    expect(others).toEqual([undefined, undefined, undefined]);
    expect(idle.next('d0', depots, NOW + 21_000)?.from).not.toBe(first?.from);
  });

  test('follow each other as soon as who sends one has told that all of it is sent', () => {
    const { idle } = setUp();
    const depots = some(3);
    const { from = '', bytes = 0 } = idle.next('d0', depots, NOW) ?? {};
    const isAsked = () => idle.next('d0', depots, NOW + 2000) !== undefined;
    // What others send, what it sends to others, and a part of it say nothing.
    idle.noteSent('d0', from, bytes);
    idle.noteSent(from, depots.find(({ id }) => id !== from && id !== 'd0')?.id ?? '', bytes);
    idle.noteSent(from, 'd0', bytes - 1);
    expect(isAsked()).toBe(false);
    idle.noteSent(from, 'd0', 1);
    expect(isAsked()).toBe(true);
  });

  test('tell of all links of an overlay of three within half a minute from when it has met', () => {
    const { table, idle } = setUp();
    const depots = some(3);
    for (const one of depots)
      for (const other of depots) if (one !== other) table.report(one.id, { to: other.id, rttMs: 30 }, NOW);
    const asked = new Set<string>();
    let running: (LinkTest & { to: string }) | undefined;
    for (let second = 0; second < 30; second += 1) {
      const nowMs = NOW + second * 1000;
      const { id = '' } = depots[second % 5] ?? {};
      if (running?.from === id) {
        table.report(id, { to: running.to, rttMs: 30, goodputBps: 9e7 }, nowMs);
        idle.noteSent(id, running.to, running.bytes);
      }
      const test = id === '' ? undefined : idle.next(id, depots, nowMs);
      if (!test) continue;
      running = { ...test, to: id };
      asked.add(`${test.from} ${id}`);
    }
    expect(asked.size).toBe(6);
  });

  test('are asked of a depot whose transfers stand still, where its uplink tells', () => {
    const { idle } = setUp();
    const still = depot('still', { activeTransfers: 3, sentBps: 900_000 });
    const busy = depot('busy', { activeTransfers: 3, sentBps: 1_000_000 });
    expect(idle.next('busy', [busy, still], NOW)).toBeUndefined();
    expect(idle.next('still', [busy, still], NOW)).toBeUndefined();
    expect(idle.next('still', [still, depot('d0')], NOW)).toMatchObject({ from: 'd0' });
  });

  test('are asked of a depot that says that its transfers stand still, and of none that says that they move', () => {
    const { idle } = setUp();
    const still = depot('still', { activeTransfers: 3, isMoving: false });
    const busy = depot('busy', { activeTransfers: 3, isMoving: true, sentBps: 0 });
    expect(idle.next('busy', [busy, still], NOW)).toBeUndefined();
    expect(idle.next('still', [busy, still], NOW)).toBeUndefined();
    expect(idle.next('still', [still, depot('d0')], NOW)).toMatchObject({ from: 'd0' });
  });

  test('are as long as the link needs, within bounds, and longer where the first one has said nothing', () => {
    const bytesOf = (rttMs: number) => {
      const { table, idle } = setUp();
      table.report('d0', { to: 'd1', rttMs }, NOW);
      return [0, 600_000].map((afterMs) => idle.next('d1', some(2), NOW + afterMs)?.bytes);
    };
    expect(bytesOf(0.1)).toEqual([262_144, 262_144]);
    expect(bytesOf(20)).toEqual([expect.closeTo(5e5, -5), expect.closeTo(1.5e6, -5)]);
    expect(bytesOf(300)[0]).toBe(4_000_000);
  });

  test('are first ones, and short, also where only the other direction was measured', () => {
    const { table, idle } = setUp();
    table.report('d0', { to: 'd1', rttMs: 40, goodputBps: 1e8 }, NOW);
    const laterMs = NOW + 600_000;
    // Two round trips.
    expect(idle.next('d0', some(2), laterMs)).toEqual({ from: 'd1', bytes: expect.closeTo(1e6, -5) });
  });

  test.each([
    { count: 3, inHalfAMinute: 4, inFiveMinutes: 4 },
    { count: 7, inHalfAMinute: 10, inFiveMinutes: 10 },
    { count: 12, inHalfAMinute: 25, inFiveMinutes: 25 },
  ])('go far in an overlay of $count on six continents that has just met', ({ count, ...least }) => {
    const { tested, runFor } = overlayOf(count);
    runFor(0, 30);
    const inHalfAMinute = tested.size;
    runFor(30, 300);
    expect(inHalfAMinute).toBeGreaterThanOrEqual(least.inHalfAMinute);
    expect(tested.size).toBeGreaterThanOrEqual(least.inFiveMinutes);
  });

  test.each([
    { count: 7, narrow: 0 },
    { count: 12, narrow: 0 },
    { count: 12, narrow: 4 },
  ])(
    'tell by four that depot $narrow of $count has a narrow line, within half a minute',
    ({ count, narrow }) => {
      const { table, depots, tested, runFor } = overlayOf(count, narrow);
      const others = depots.filter((_, number) => number !== narrow);
      const isKnown = () =>
        others.every(({ id }) => (table.estimate(id, `d${narrow}`, NOW)?.rateBps ?? 0) < 3e7);
      for (let second = 0; second < 30 && !isKnown(); second += 1) runFor(second, second + 1);
      expect(isKnown()).toBe(true);
      expect([...tested].filter((pair) => pair.startsWith(`d${narrow} `)).length).toBeLessThanOrEqual(4);
    },
  );

  test('let a wide depot that joins be met by wide ones before narrow ones, and never take it for narrow', () => {
    const { table, idle } = setUp();
    const rttMs = 100;
    const [narrow, wide] = [
      ['n0', 'n1', 'n2'],
      ['w0', 'w1', 'w2'],
    ];
    for (const to of wide) {
      for (const from of narrow) table.report(from, { to, rttMs, goodputBps: 1.5e7 }, NOW);
      for (const from of wide) if (from !== to) table.report(from, { to, rttMs, goodputBps: 2e8 }, NOW);
    }
    const others = [...narrow, ...wide];
    for (const other of others) table.report('new', { to: other, rttMs }, NOW);
    const met: string[] = [];
    for (let second = 0; second < 3600 && met.length < others.length; second += 5) {
      const atMs = NOW + second * 1000;
      const asked = idle.next(
        'new',
        [...others, 'new'].map((id) => depot(id)),
        atMs,
      );
      if (!asked) continue;
      met.push(asked.from);
      idle.noteSent(asked.from, 'new', asked.bytes);
      const goodputBps = narrow.includes(asked.from) ? 1.5e7 : 2e8;
      table.report(asked.from, { to: 'new', rttMs, goodputBps }, atMs);
    }
    expect(met.slice(0, 3).toSorted()).toEqual(wide);
    for (const from of narrow) table.report(from, { to: 'newer', rttMs, goodputBps: 1.5e7 }, NOW);
    table.report('newer', { to: 'w0', rttMs }, NOW);
    expect(table.estimate('newer', 'w0', NOW)?.rateBps).toBeGreaterThan(6e7);
  });

  test('cost no depot more than its bytes of an hour, in a full mesh that nobody uses', () => {
    const { table, idle } = setUp();
    const depots = some(20);
    const spent = new Map<string, number>();
    for (let second = 0; second < 3600; second += 5) {
      for (const { id } of depots) {
        const asked: LinkTest | undefined = idle.next(id, depots, NOW + second * 1000);
        if (!asked) continue;
        for (const end of [id, asked.from]) spent.set(end, (spent.get(end) ?? 0) + asked.bytes);
        table.report(asked.from, { to: id, rttMs: 30, goodputBps: 5e7 }, NOW + second * 1000);
      }
    }
    expect(spent.size).toBe(20);
    expect(Math.max(...spent.values())).toBeLessThanOrEqual(20_000_000);
    expect(Math.min(...spent.values())).toBeGreaterThan(5_000_000);
  });
});
