import type { LinkReport } from '@longhaul/shared';
import { describe, expect, test } from 'vitest';
import { Facts } from '../../facts/facts.ts';
import { CLIENT_FACTS, ClientTable } from '../../measuring/client-table.ts';
import { ORIGIN_FACTS, OriginTable } from '../../measuring/origin-table.ts';
import { testConfig } from '../../testing/start-master.ts';
import { scenariosOf } from './leg-scenarios.ts';
import { LINK_FACTS, LinkTable } from './link-table.ts';
import { REPORT_LIFE_MS } from './two-directions.ts';

const NOW = 1_795_000_000_000;
const links = testConfig({
  links: [
    { between: ['d1', 'd2'], rttMs: 50, lossRate: 0.01, rateBps: 1e8 },
    { between: ['d2', 'd3'], rttMs: 60, rateBps: 2e8, windowBytes: 500, fixed: true },
  ],
}).links;

describe('a link', () => {
  test('is known in both directions', () => {
    const table = new LinkTable(links, 1000);
    expect(table.estimate('d1', 'd2', NOW)).toMatchObject({ rttMs: 50, windowBytes: 1000, ageMs: undefined });
    expect(table.estimate('d2', 'd1', NOW)).toEqual(table.estimate('d1', 'd2', NOW));
    expect(table.estimate('d1', 'd3', NOW)).toBeUndefined();
  });

  test('is what depots measured, the newest of it most, while that is fresh', () => {
    const table = new LinkTable(links, 1000);
    table.report('d1', { to: 'd2', rttMs: 70 }, NOW);
    table.report('d2', { to: 'd1', rttMs: 80, goodputBps: 9e7 }, NOW + 1000);
    const estimate = table.estimate('d1', 'd2', NOW + 3000);
    expect(estimate).toMatchObject({ lossRate: 0.01, rateBps: 1e8, goodputBps: 9e7, ageMs: 2000 });
    expect(estimate?.rttMs).toBeCloseTo(Math.sqrt(70 * 80), 1);
    expect(table.estimate('d1', 'd2', NOW + 1000 + REPORT_LIFE_MS + 1)).toMatchObject({ rttMs: 50 });
  });

  test('is within one site where both of its ends have measured so, or nobody has and it is typed in so', () => {
    const near = { between: ['d4', 'd5'], rttMs: 2, rateBps: 1e9 };
    const table = new LinkTable([...links, ...testConfig({ links: [near] }).links], 1000);
    const areTogether = (one: string, other: string) => {
      expect(table.areAtOneSite(one, other)).toBe(table.areAtOneSite(other, one));
      return table.areAtOneSite(one, other);
    };
    expect(areTogether('d1', 'd1')).toBe(true);
    expect(areTogether('d1', 'd7')).toBe(false);
    expect(areTogether('d1', 'd2')).toBe(false);
    expect(areTogether('d4', 'd5')).toBe(true);
    table.report('d1', { to: 'd7', rttMs: 0.5 }, NOW);
    expect(areTogether('d1', 'd7')).toBe(false);
    table.report('d7', { to: 'd1', rttMs: 40 }, NOW);
    expect(areTogether('d1', 'd7')).toBe(false);
    for (const [one, other] of [
      ['d8', 'd9'],
      ['d9', 'd8'],
    ] as const)
      table.report(one, { to: other, rttMs: 1 }, NOW);
    expect(areTogether('d8', 'd9')).toBe(true);
    table.report('d4', { to: 'd5', rttMs: 30 }, NOW);
    expect(areTogether('d4', 'd5')).toBe(false);
    // What is typed in as fixed stands.
    for (const [one, other] of [
      ['d2', 'd3'],
      ['d3', 'd2'],
    ] as const)
      table.report(one, { to: other, rttMs: 1 }, NOW);
    expect(areTogether('d2', 'd3')).toBe(false);
  });

  test('is as fast as is expected where a sender that had met no limit came to half of that, or faster, and nothing less by that', () => {
    const table = new LinkTable([], 1000);
    const goodput = () => table.estimate('d2', 'd1', NOW)?.goodputBps;
    table.report('d1', { to: 'd2', rttMs: 80, leastGoodputBps: 9e6 }, NOW);
    expect(goodput()).toBeUndefined();
    table.report('d1', { to: 'd2', rttMs: 80, leastGoodputBps: 6e7 }, NOW);
    expect(goodput()).toBe(1e8);
    table.report('d1', { to: 'd2', rttMs: 80, leastGoodputBps: 2e8 }, NOW);
    expect(goodput()).toBe(2e8);
    table.report('d1', { to: 'd2', rttMs: 80, leastGoodputBps: 1e8 }, NOW);
    expect(goodput()).toBe(2e8);
    // One connection shared it or lost much; another one showed what it carries.
    table.report('d1', { to: 'd2', rttMs: 80, goodputBps: 5e6, leastGoodputBps: 1.1e8 }, NOW);
    expect(goodput()).toBeGreaterThan(1e8);
  });

  test('that only a start has told of is what is measured first, and has not fallen by that', () => {
    const table = new LinkTable([], 1000);
    table.report('d1', { to: 'd2', rttMs: 80, leastGoodputBps: 6e7 }, NOW);
    expect(table.mostSentBps('d1')).toBeLessThan(6.2e7);
    table.report('d1', { to: 'd2', rttMs: 80, goodputBps: 6e7 }, NOW + 5000);
    expect(table.estimate('d2', 'd1', NOW + 5000)?.goodputBps).toBe(6e7);
    expect(table.distribution('d2', 'd1', NOW + 5000)).toMatchObject({
      fellFromBps: undefined,
      doubtedBps: undefined,
    });
  });

  test('carries what several connections got through together, and one of them what one had', () => {
    const table = new LinkTable([], 1000);
    const shared = { to: 'd2', rttMs: 80, goodputBps: 17e6, totalBps: 96e6 };
    for (let report = 0; report < 9; report += 1) table.report('d1', shared, NOW + report * 5000);
    const estimate = (atMs: number) => table.estimate('d2', 'd1', NOW + atMs);
    const seen = estimate(60_000);
    expect((seen?.rateBps ?? 0) / 1e6).toBeCloseTo(96, 3);
    expect((seen?.goodputBps ?? 0) / 1e6).toBeCloseTo(17, 3);
    expect((table.distribution('d2', 'd1', NOW + 60_000).totalBps ?? 0) / 1e6).toBeCloseTo(96, 3);
    // Fewer of them, or one that has little to get through, take nothing away from it ...
    for (let report = 0; report < 9; report += 1)
      table.report(
        'd1',
        { to: 'd2', rttMs: 80, goodputBps: 17e6, totalBps: 3e7 },
        NOW + 60_000 + report * 5000,
      );
    expect(estimate(110_000)?.rateBps).toBeGreaterThan(85e6);
    // ... but that it grows old.
    expect(table.distribution('d2', 'd1', NOW + 20 * 3_600_000).totalBps).toBeUndefined();
  });

  test('is no wider in one direction for what connections got through in the other one', () => {
    const table = new LinkTable([], 1000);
    table.report('d1', { to: 'd2', rttMs: 80, goodputBps: 1e7 }, NOW);
    table.report('d2', { to: 'd1', rttMs: 80, goodputBps: 17e6, totalBps: 9e7 }, NOW);
    expect(table.estimate('d2', 'd1', NOW)?.rateBps).toBe(1e7);
    expect(table.estimate('d1', 'd2', NOW)?.rateBps).toBe(9e7);
  });

  test('that becomes narrower is known to be so', () => {
    const table = new LinkTable([], 1000);
    table.report('d1', { to: 'd2', rttMs: 80, goodputBps: 17e6, totalBps: 96e6 }, NOW);
    for (let report = 1; report <= 720; report += 1)
      table.report('d1', { to: 'd2', rttMs: 80, goodputBps: 4e6, totalBps: 3e7 }, NOW + report * 10_000);
    expect(table.estimate('d2', 'd1', NOW + 7_200_000)?.rateBps).toBeLessThan(36e6);
  });

  test('that becomes thirty times narrower is known to be so by two reports, also what several got through before', () => {
    const table = new LinkTable([], 1000);
    for (let report = 0; report < 9; report += 1)
      table.report('d1', { to: 'd2', rttMs: 80, goodputBps: 93e6, totalBps: 285e6 }, NOW);
    const seen = (atMs: number) => {
      table.report('d1', { to: 'd2', rttMs: 80, goodputBps: 9.6e6 }, NOW + atMs);
      return table.estimate('d2', 'd1', NOW + atMs)?.rateBps;
    };
    expect(seen(1000)).toBeGreaterThan(200e6);
    expect(seen(2000)).toBe(9.6e6);
  });

  test('that may be slower by one report is as fast as before once it got through more than that, at least', () => {
    const table = new LinkTable([], 1000);
    const report = (told: Omit<LinkReport, 'to' | 'rttMs'>, atMs: number) =>
      table.report('d1', { to: 'd2', rttMs: 80, ...told }, NOW + atMs);
    for (let time = 0; time < 9; time += 1) report({ goodputBps: 6e8 }, 0);
    report({ goodputBps: 1.2e8 }, 1000);
    const doubted = () => table.distribution('d2', 'd1', NOW).doubtedBps;
    expect(doubted()).toBe(1.2e8);
    report({ leastGoodputBps: 2e8 }, 2000);
    expect(doubted()).toBeUndefined();
  });

  test('is no narrower by what came through at least, however long nobody has measured it', () => {
    const table = new LinkTable([], 1000);
    for (let time = 0; time < 9; time += 1)
      table.report('d1', { to: 'd2', rttMs: 80, goodputBps: 3e8, totalBps: 9e8 }, NOW);
    for (const minutes of [120, 121])
      table.report('d1', { to: 'd2', rttMs: 80, leastGoodputBps: 6e7 }, NOW + minutes * 60_000);
    expect(table.estimate('d2', 'd1', NOW + 7_260_000)?.rateBps).toBeGreaterThan(5e8);
    expect(table.distribution('d2', 'd1', NOW + 7_260_000).fellFromBps).toBeUndefined();
  });

  describe('that several connections fill', () => {
    const lanes = (totalBps: number) => ({ to: 'd2', rttMs: 80, leastGoodputBps: totalBps / 8, totalBps });
    const full = (fullBps: number) => ({ ...lanes(fullBps), fullBps });
    /** A link that one connection was measured on, each five seconds for five minutes. */
    const measured = (goodputBps = 97e6) => {
      const table = new LinkTable([], 1000);
      let atMs = NOW;
      const report = (told: Omit<LinkReport, 'to' | 'rttMs'>, times: number) => {
        for (let count = 0; count < times; count += 1) {
          atMs += 5000;
          table.report('d1', { to: 'd2', rttMs: 80, ...told }, atMs);
        }
        const { rateBps = 0, goodputBps: oneBps = 0 } = table.estimate('d2', 'd1', atMs) ?? {};
        return {
          rateBps,
          goodputBps: oneBps,
          spread: table.distribution('d2', 'd1', atMs).goodputBps.spread,
        };
      };
      report({ goodputBps }, 60);
      return report;
    };

    test('is known to have fallen when together they get less through, however many share it', () => {
      const report = measured();
      expect(report(full(10e6), 15).rateBps).toBeLessThan(16e6);
      const { rateBps, goodputBps } = report(full(10e6), 45);
      expect(rateBps).toBeLessThan(11e6);
      expect(goodputBps).toBeGreaterThan(9.9e6);
    });

    test('carried more together before, and is known to carry no more', () => {
      const report = measured(17e6);
      expect(report(full(96e6), 20).rateBps).toBeGreaterThan(90e6);
      const fallen = report(full(10e6), 60);
      expect(fallen.rateBps).toBeLessThan(11e6);
      expect(fallen.goodputBps).toBeLessThan(11e6);
    });

    test('is moved by a fifth at most by one report', () => {
      const report = measured();
      expect(report(full(1e3), 1).rateBps).toBeGreaterThan(97e6 / 1.21);
    });

    test('gives one connection as much as before while together they get that or more', () => {
      const report = measured(20e6);
      const { goodputBps, rateBps } = report(full(97e6), 60);
      expect(goodputBps).toBeCloseTo(20e6);
      expect(rateBps).toBeCloseTo(97e6, -4);
    });

    test('gives one connection no more for what they get, also where they had got less a moment before', () => {
      const report = measured(80e6);
      const { goodputBps } = report(full(10e6), 1);
      expect(goodputBps).toBeLessThan(80e6);
      expect(report(full(97e6), 1).goodputBps).toBeCloseTo(goodputBps);
    });

    test('is the mean of what they get through, neither the most nor the least of it', () => {
      const report = measured(97e6);
      for (let count = 0; count < 60; count += 1) report(full(count % 2 ? 86e6 : 97e6), 1);
      const { rateBps, goodputBps } = report(full(90e6), 1);
      for (const bps of [rateBps, goodputBps]) expect(Math.abs(bps / 91e6 - 1)).toBeLessThan(0.05);
    });

    test('is no slower for what a lane has of it, nor for what a depot tells that does not know when it is full', () => {
      const report = measured();
      const { rateBps, goodputBps } = report(lanes(10e6), 60);
      expect(rateBps).toBeCloseTo(97e6);
      expect(goodputBps).toBeCloseTo(97e6);
    });

    test('is known to carry more again once they get more through, or one alone does', () => {
      const report = measured();
      report(full(10e6), 60);
      expect(report(full(97e6), 30).rateBps).toBeGreaterThan(80e6);
      expect(report({ goodputBps: 97e6 }, 30).goodputBps).toBeGreaterThan(80e6);
      report(full(10e6), 60);
      expect(report({ goodputBps: 97e6 }, 30).goodputBps).toBeGreaterThan(80e6);
    });

    test('is known by that alone, where it is far less than links like it carry', () => {
      const table = new LinkTable([], 1000);
      table.report('d1', { to: 'd2', rttMs: 80, fullBps: 10e6 }, NOW);
      expect(table.estimate('d2', 'd1', NOW)).toMatchObject({ rateBps: 10e6, goodputBps: 10e6 });
    });

    test('stays as it is typed in', () => {
      const table = new LinkTable(links, 1000);
      for (let second = 0; second < 60; second += 1) {
        table.report('d2', { to: 'd3', rttMs: 60, fullBps: 10e6 }, NOW);
        table.report('d1', { to: 'd2', rttMs: 50, fullBps: 10e6 }, NOW);
      }
      expect(table.estimate('d2', 'd3', NOW)?.rateBps).toBe(2e8);
      expect(table.estimate('d2', 'd1', NOW)?.rateBps).toBe(1e8);
    });
  });

  test('that is typed in carries more where connections got more through', () => {
    const table = new LinkTable(links, 1000);
    table.report('d1', { to: 'd2', rttMs: 50, goodputBps: 4e7, totalBps: 3e8 }, NOW);
    expect(table.estimate('d2', 'd1', NOW)).toMatchObject({ rateBps: 3e8, goodputBps: 4e7 });
    expect(table.estimate('d2', 'd1', NOW + REPORT_LIFE_MS + 1)).toMatchObject({ rateBps: 1e8 });
  });

  test('says nothing of connections that had little to get through', () => {
    const table = new LinkTable([], 1000);
    table.report('d1', { to: 'd2', rttMs: 80, totalBps: 1e5 }, NOW);
    expect(table.estimate('d2', 'd1', NOW)?.rateBps).toBeGreaterThan(1e7);
    table.report('d1', { to: 'd2', rttMs: 80, totalBps: 4e8 }, NOW);
    expect(table.estimate('d2', 'd1', NOW)).toMatchObject({ rateBps: 4e8, goodputBps: undefined });
  });

  test('is measured anew by what it carries at least where what was known is forgotten', () => {
    const table = new LinkTable([], 1000);
    table.report('d1', { to: 'd2', rttMs: 80, goodputBps: 3e8 }, NOW);
    const later = NOW + 6 * 3_600_000;
    const spread = () => table.distribution('d2', 'd1', later).goodputBps.spread;
    const before = spread();
    table.report('d1', { to: 'd2', rttMs: 80, leastGoodputBps: 1.2e8 }, later);
    expect(spread()).toBeLessThan(before / 2);
  });

  test('follows a route that changes within ten reports', () => {
    const table = new LinkTable([], 1000);
    for (let second = 0; second < 3600; second += 5) {
      table.report('d1', { to: 'd2', rttMs: 20, goodputBps: 8e7 }, second * 1000);
    }
    for (let second = 3600; second < 3650; second += 5) {
      table.report('d1', { to: 'd2', rttMs: 90, goodputBps: 5e6 }, second * 1000);
    }
    const { rttMs = 0, goodputBps = 0 } = table.estimate('d2', 'd1', 3_650_000) ?? {};
    expect(rttMs).toBeGreaterThan(50);
    expect(goodputBps).toBeLessThan(16e6);
  });

  test('is in each direction what its sender measured, and else what the other end did', () => {
    const table = new LinkTable([], 1000);
    table.report('d1', { to: 'd2', rttMs: 20, goodputBps: 8e7 }, NOW);
    expect(table.estimate('d1', 'd2', NOW)).toMatchObject({ goodputBps: 8e7 });
    table.report(
      'd2',
      { to: 'd1', rttMs: 20, goodputBps: 5e6, sentBytes: 1e8, retransmittedBytes: 1e6 },
      NOW,
    );
    expect(table.estimate('d2', 'd1', NOW)).toMatchObject({ goodputBps: 8e7 });
    expect(table.estimate('d1', 'd2', NOW)).toMatchObject({ goodputBps: 5e6, lossRate: 0.01 });
  });

  test('that is fixed is never overridden', () => {
    const table = new LinkTable(links, 1000);
    table.report('d2', { to: 'd3', rttMs: 1, goodputBps: 1 }, NOW);
    expect(table.estimate('d2', 'd3', NOW)).toMatchObject({ rttMs: 60, rateBps: 2e8, windowBytes: 500 });
  });

  test('that nobody configured is planned with by its round trip alone until somebody has tested it, for some hours', () => {
    const table = new LinkTable(links, 1000);
    table.report('d1', { to: 'd3', rttMs: 20 }, NOW);
    const untested = { rttMs: 20, rateBps: 1e8, goodputBps: undefined, rateSource: 'assumed' };
    expect(table.estimate('d1', 'd3', NOW)).toMatchObject(untested);
    expect(table.doubt('d1', 'd3', NOW).rate).toBeGreaterThan(0.4);
    expect(table.estimate('d1', 'd3', NOW + 12 * 3_600_000)).toBeUndefined();
    table.report('d1', { to: 'd3', rttMs: 20, goodputBps: 5e6 }, NOW);
    expect(table.estimate('d1', 'd3', NOW)).toMatchObject({ rateBps: 5e6, goodputBps: 5e6, lossRate: 0 });
  });

  describe('that nobody has tested', () => {
    /** Others than `d0`, whose own lines `d9` shows to be wide. */
    const othersWide = ['d1', 'd2', 'd3'];
    const rateBps = (table: LinkTable, to: string, from: string) =>
      table.estimate(to, from, NOW)?.rateBps ?? 0;
    const measured = (reports: readonly (readonly [from: string, to: string, goodputBps?: number])[]) => {
      const table = new LinkTable([], 1e6);
      for (const [from, to, goodputBps] of reports) table.report(from, { to, rttMs: 100, goodputBps }, NOW);
      return table;
    };

    test('is thought to carry one and a half times what its sender was seen to send over three others, at most', () => {
      const narrow = othersWide.flatMap((to) => [['d0', to, 1.5e7] as const, ['d9', to, 2e8] as const]);
      const untested = [
        ['d0', 'd4'],
        ['d4', 'd0'],
      ] as const;
      expect(rateBps(measured([...narrow.slice(2), ...untested]), 'd4', 'd0')).toBeGreaterThan(6e7);
      const table = measured([...narrow, ...untested]);
      expect(rateBps(table, 'd4', 'd0')).toBeCloseTo(2.25e7, -7);
      expect(table.distribution('d4', 'd0', NOW).goodputBps.value).toBeCloseTo(2.25e7, -7);
      expect(rateBps(table, 'd0', 'd4')).toBeGreaterThan(6e7);
      // One that is wide shows that its line is.
      table.report('d0', { to: 'd5', rttMs: 100, goodputBps: 2e8 }, NOW);
      expect(rateBps(table, 'd4', 'd0')).toBeGreaterThan(6e7);
    });

    test('raises no such bound by a start that comes to half of it', () => {
      const table = measured(
        othersWide.flatMap((to) => [['d0', to, 2e7] as const, ['d9', to, 2e8] as const]),
      );
      for (const to of ['d4', 'd5', 'd6']) table.report('d0', { to, rttMs: 100, leastGoodputBps: 2e7 }, NOW);
      expect(rateBps(table, 'd4', 'd0')).toBeCloseTo(2e7, -6);
      table.report('d0', { to: 'd7', rttMs: 100 }, NOW);
      expect(rateBps(table, 'd7', 'd0')).toBeCloseTo(3e7, -7);
    });

    test('is bounded so by what its receiver was seen to receive, as well', () => {
      const narrow = othersWide.flatMap((from) => [[from, 'd0', 1.5e7] as const, [from, 'd9', 2e8] as const]);
      const table = measured([...narrow, ['d4', 'd0'], ['d0', 'd4']]);
      expect(rateBps(table, 'd0', 'd4')).toBeCloseTo(2.25e7, -7);
      expect(rateBps(table, 'd4', 'd0')).toBeGreaterThan(6e7);
    });

    test('is not bounded so by links whose other ends were never seen to do more', () => {
      const senders = ['n1', 'n2', 'n3'];
      const table = measured([
        ...senders.flatMap((from) => [[from, 'd0', 1.5e7] as const, [from, 'd9', 1.6e7] as const]),
        ['wide', 'd0'],
      ]);
      expect(rateBps(table, 'd0', 'wide')).toBeGreaterThan(6e7);
      // Also a start of theirs that came to more tells that they could.
      for (const from of senders) table.report(from, { to: 'd8', rttMs: 100, leastGoodputBps: 6e7 }, NOW);
      expect(rateBps(table, 'd0', 'wide')).toBeCloseTo(2.25e7, -7);
    });

    test('is bounded so where only the other direction was measured', () => {
      const table = measured([
        ...othersWide.flatMap((to) => [['d0', to, 1.5e7] as const, ['d9', to, 2e8] as const]),
        ['d4', 'd0', 5e8],
      ]);
      expect(rateBps(table, 'd0', 'd4')).toBe(5e8);
      expect(rateBps(table, 'd4', 'd0')).toBeCloseTo(2.25e7, -7);
    });

    test.each([{ goodputBps: 1e8 }, {}])(
      'is bounded so where several got more in the other direction, beside %o of one',
      (one) => {
        const table = measured(
          othersWide.flatMap((to) => [['d0', to, 1.5e7] as const, ['d9', to, 2e8] as const]),
        );
        table.report('d4', { to: 'd0', rttMs: 100, ...one, totalBps: 5e8 }, NOW);
        expect(rateBps(table, 'd0', 'd4')).toBe(5e8);
        expect(rateBps(table, 'd4', 'd0')).toBeCloseTo(2.25e7, -7);
        expect(table.distribution('d4', 'd0', NOW).totalBps ?? 0).toBeLessThan(2.5e7);
        expect(table.doubt('d4', 'd0', NOW).leastBps ?? 0).toBeLessThan(2.5e7);
      },
    );
  });

  test('keeps loss and goodput, which only the sending end can tell, when the other end reports without them', () => {
    const table = new LinkTable([], 1e6);
    table.report('d1', { to: 'd2', rttMs: 30, lossRate: 0.01, goodputBps: 5e7 }, 0);
    table.report('d2', { to: 'd1', rttMs: 29 }, 1000);
    expect(table.estimate('d1', 'd2', 1000)).toMatchObject({ lossRate: 0.01, goodputBps: 5e7 });
    table.report('d2', { to: 'd1', rttMs: 28 }, REPORT_LIFE_MS + 1);
    expect(table.estimate('d1', 'd2', REPORT_LIFE_MS + 1)).toMatchObject({ lossRate: 0.01 });
  });

  test.each([1, 100, 125, 160])(
    'that both ends measured %d hours ago has the round trip that they measured',
    (hours) => {
      const table = new LinkTable([], 1e6);
      table.report('d1', { to: 'd2', rttMs: 30, goodputBps: 5e7 }, 0);
      table.report('d2', { to: 'd1', rttMs: 29, goodputBps: 5e7 }, 1000);
      const { rttMs = 0 } = table.estimate('d1', 'd2', hours * 3_600_000) ?? {};
      expect(rttMs).toBeGreaterThanOrEqual(29);
      expect(rttMs).toBeLessThanOrEqual(30);
    },
  );

  test('forgets an old goodput, however often losses are reported since', () => {
    const table = new LinkTable(links, 1000);
    table.report('d1', { to: 'd2', rttMs: 30, goodputBps: 9e6 }, 0);
    for (let atMs = 0; atMs <= REPORT_LIFE_MS; atMs += 60_000) {
      table.report('d1', { to: 'd2', rttMs: 30, lossRate: 0.02 }, atMs);
    }
    expect(table.estimate('d1', 'd2', REPORT_LIFE_MS)).toMatchObject({ goodputBps: 9e6 });
    expect(table.estimate('d1', 'd2', REPORT_LIFE_MS + 1)).toMatchObject({
      lossRate: expect.closeTo(0.02, 5),
      goodputBps: undefined,
    });
  });

  test('forgets an old loss, however often goodput is reported since', () => {
    const table = new LinkTable(links, 1000);
    table.report('d1', { to: 'd2', rttMs: 30, lossRate: 0.3 }, 0);
    table.report('d1', { to: 'd2', rttMs: 30, goodputBps: 9e6 }, REPORT_LIFE_MS);
    expect(table.estimate('d1', 'd2', REPORT_LIFE_MS)).toMatchObject({ lossRate: 0.3, goodputBps: 9e6 });
    const laterMs = 12 * 3_600_000;
    table.report('d1', { to: 'd2', rttMs: 30, goodputBps: 9e6 }, laterMs);
    expect(table.estimate('d1', 'd2', laterMs)).toMatchObject({ lossRate: 0.01, goodputBps: 9e6 });
  });

  test('that is typed in goes back to that little by little when what was measured grows old', () => {
    const typed = { between: ['d1', 'd2'], rttMs: 50, lossRate: 0.01, rateBps: 1e9 };
    const table = new LinkTable(testConfig({ links: [typed] }).links, 1000);
    for (let report = 0; report < 60; report += 1)
      table.report('d1', { to: 'd2', rttMs: 30, goodputBps: 4e7 }, report * 5000);
    const rates = [];
    for (let minute = 6; minute <= 300; minute += 1) {
      table.report('d2', { to: 'd1', rttMs: 30 }, minute * 60_000);
      rates.push(table.estimate('d2', 'd1', minute * 60_000)?.goodputBps);
    }
    const known = rates.filter((bps) => bps !== undefined);
    expect(known.length).toBeGreaterThan(100);
    expect(rates.slice(known.length)).toEqual(Array(rates.length - known.length).fill(undefined));
    for (const [minute, bps] of known.entries()) expect(bps / (known[minute - 1] ?? bps)).toBeLessThan(1.6);
    expect(known.at(-1)).toBeGreaterThan(1.5e8);
  });

  test('says how old the oldest of its figures is', () => {
    const table = new LinkTable(links, 1000);
    table.report('d1', { to: 'd2', rttMs: 30, goodputBps: 9e6 }, 0);
    table.report('d2', { to: 'd1', rttMs: 31 }, 5000);
    expect(table.estimate('d1', 'd2', 6000)).toMatchObject({ goodputBps: 9e6, ageMs: 6000 });
  });

  test('that nobody configured goes back to what links like it are, as it grows old', () => {
    const table = new LinkTable([], 1e6);
    for (let index = 3; index < 40; index += 1) {
      table.report('d1', { to: `d${index}`, rttMs: 30, goodputBps: 5e7 }, 0);
    }
    table.report('d1', { to: 'd2', rttMs: 31, goodputBps: 1e6 }, 0);
    const goodputAfter = (hours: number) => table.estimate('d1', 'd2', hours * 3_600_000)?.goodputBps ?? 0;
    expect(goodputAfter(0)).toBeCloseTo(1e6);
    expect(goodputAfter(3)).toBeGreaterThan(1.2e6);
    expect(goodputAfter(48)).toBeGreaterThan(3e7);
  });
});

describe('how sure a link is known', () => {
  const sure = (table: LinkTable, nowMs = NOW) => table.distribution('d1', 'd2', nowMs);

  test('is not at all where nobody has said anything', () => {
    const { rttMs, goodputBps, lossRate } = sure(new LinkTable([], 1000));
    for (const { spread, source, samples } of [rttMs, goodputBps, lossRate]) {
      expect({ source, samples }).toEqual({ source: 'assumed', samples: 0 });
      expect(spread).toBeGreaterThan(1);
    }
  });

  test('is about a third where the operator has typed it in, and without doubt where it is fixed', () => {
    const table = new LinkTable(links, 1000);
    expect(sure(table).rttMs).toMatchObject({ value: 50, source: 'configured' });
    expect(sure(table).rttMs.spread).toBeCloseTo(Math.hypot(0.3, 0.1));
    table.report('d2', { to: 'd3', rttMs: 10, goodputBps: 1e6 }, NOW);
    const fixed = table.distribution('d2', 'd3', NOW);
    expect(fixed.rttMs).toMatchObject({ value: 60, spread: 0, source: 'configured' });
    expect(fixed.goodputBps).toMatchObject({ value: 2e8, spread: 0, source: 'configured' });
  });

  test('is none of what a link that nobody has tested was seen to carry', () => {
    const table = new LinkTable([], 1e6);
    const doubtWith = (totalBps: number) => {
      table.report('d1', { to: 'd2', rttMs: 30, totalBps }, NOW);
      const { rate, leastBps } = table.doubt('d2', 'd1', NOW);
      expect(rate).toBeGreaterThan(0.3);
      const leg = { rttMs: 30, lossRate: 0, rateBps: 100e6, windowBytes: 1e6, sender: 'bbr' as const };
      const rates = scenariosOf(leg, table.doubt('d2', 'd1', NOW), 'd2 d1').map(({ rateBps }) => rateBps);
      return { leastBps, slowestBps: Math.min(...rates), fastestBps: Math.max(...rates) };
    };
    expect(doubtWith(1e6)).toMatchObject({ leastBps: undefined });
    const { leastBps, slowestBps, fastestBps } = doubtWith(90e6);
    expect(leastBps).toBeCloseTo(90e6, -5);
    expect(slowestBps).toBe(leastBps);
    expect(fastestBps).toBeGreaterThan(150e6);
  });

  test('grows with what is measured, and less in the other direction', () => {
    const table = new LinkTable([], 1000);
    const spreads = [sure(table).goodputBps.spread];
    for (let report = 0; report < 5; report += 1) {
      table.report('d2', { to: 'd1', rttMs: 30, goodputBps: 4e7 }, NOW);
      spreads.push(sure(table).goodputBps.spread);
    }
    expect(spreads).toEqual(spreads.toSorted((one, other) => other - one));
    expect(spreads.at(-1)).toBeLessThan(0.3);
    expect(sure(table).goodputBps).toMatchObject({ source: 'measured', ageMs: 0 });
    expect(table.distribution('d2', 'd1', NOW).goodputBps.spread).toBeGreaterThan(0.5);
  });
});

describe('a depot that has changed its master', () => {
  const kinds = [...LINK_FACTS, ...CLIENT_FACTS, ...ORIGIN_FACTS];
  /** Two masters that tell each other all they learn. */
  const masters = () => {
    const [one, other] = [new Facts({ kinds, source: 'm1' }), new Facts({ kinds, source: 'm2' })];
    one.tellOthers((fact) => other.store.take(fact, fact.timeMs));
    other.tellOthers((fact) => one.store.take(fact, fact.timeMs));
    return [one, other].map((facts) => ({
      links: new LinkTable([], 1e6, facts),
      clients: new ClientTable(facts),
      origins: new OriginTable(facts),
    }));
  };

  test('has measured what it told the one before, which a mere round trip does not end', () => {
    const both = masters();
    const [before, after] = both;
    const prefix = '198.51.100.0/24';
    const host = 'origin.example';
    for (let report = 0; report < 5; report += 1) {
      before?.links.report('d2', { to: 'd1', rttMs: 30, goodputBps: 8e6 }, NOW);
      const sent = { sentBytes: 1e8, retransmittedBytes: 1e6 };
      before?.clients.report('d1', { prefix, rttMs: 5, goodputBps: 8e7, ...sent }, NOW);
      before?.origins.report(
        'd1',
        { host, rttMs: 90, receivedBytes: 1e8, lostBytes: 1e6, takesRanges: true },
        NOW,
      );
    }
    after?.links.report('d2', { to: 'd1', rttMs: 30 }, NOW + 1000);
    after?.clients.report('d1', { prefix, rttMs: 5 }, NOW + 1000);
    after?.origins.report('d1', { host, rttMs: 90, takesAhead: true }, NOW + 1000);
    for (const { links: table, clients, origins } of both) {
      expect(table.estimate('d1', 'd2', NOW + 1000)?.goodputBps).toBeCloseTo(8e6, -5);
      expect(clients.distribution('d1', prefix, NOW + 1000).goodputBps.value).toBeGreaterThan(7e7);
      expect(origins.distribution('d1', host, NOW + 1000).lossRate.value).toBeGreaterThan(5e-3);
      expect(origins.manners(host, NOW)).toMatchObject({ takesRanges: true, takesAhead: true });
    }
  });
});
