import type { LinkReport } from '@longhaul/shared';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ClientTable } from '../../measuring/client-table.ts';
import { OriginTable } from '../../measuring/origin-table.ts';
import { testConfig } from '../../testing/start-master.ts';
import { EndLinks } from '../links/end-links.ts';
import { LinkTable } from '../links/link-table.ts';
import { Planner } from './planner.ts';
import type { RouteQuery } from './route.ts';

const NOW = 1_795_000_000_000;
const IDS = ['d1', 'd2', 'd3', 'd4'];
/** What is usual of links changes with each of them: those that it stands for are read again within this time. */
const USUAL_WITHIN_MS = 10_000;
const ENDS = { client: '198.51.100.7', origin: 'origin.example' };

const figures = {
  rttMs: fc.integer({ min: 1, max: 200 }),
  lossRate: fc.constantFrom(0, 1e-4, 0.01),
  rateBps: fc.constantFrom(2e7, 1e8, 1e9),
};
const pairs = ['client', ...IDS].flatMap((one, index, all) =>
  [...all.slice(index + 1), 'origin'].map((other) => [one, other] as const),
);
const typed = fc.tuple(
  ...pairs.map((between) =>
    fc.option(fc.record({ between: fc.constant([...between]), ...figures }), { nil: undefined, freq: 3 }),
  ),
);
const depot = fc.constantFrom(...IDS);
const report = fc.record({ to: depot, rttMs: figures.rttMs, goodputBps: figures.rateBps });
/** What a master is told, and asked, one after the other. */
const step = fc.oneof(
  fc.record({ type: fc.constant('link' as const), from: depot, report }),
  fc.record({ type: fc.constant('client' as const), from: depot, rttMs: figures.rttMs }),
  fc.record({ type: fc.constant('origin' as const), from: depot, rttMs: figures.rttMs }),
  fc.record({ type: fc.constant('later' as const), ms: fc.constantFrom(60_000, 3_600_000) }),
  fc.record({
    type: fc.constant('plan' as const),
    sizeBytes: fc.constantFrom(1e5, 1e7, 1e9),
    originTls: fc.boolean(),
    hasEnds: fc.boolean(),
    avoid: fc.subarray(IDS),
  }),
);

test('a master that has planned for long plans as one that has just started and knows as much', () => {
  const { planner: config } = testConfig();
  const { windowBytes } = config.assumptions;
  fc.assert(
    fc.property(typed, fc.array(step, { minLength: 5, maxLength: 30 }), (drawn, steps) => {
      const links = drawn.flatMap((link) => link ?? []);
      const table = new LinkTable(testConfig({ links }).links, windowBytes);
      const [clients, origins] = [new ClientTable(), new OriginTable()];
      const ends = new EndLinks({ links: table, clients, origins, windowBytes });
      const planner = new Planner(config, table, ends);
      let [nowMs, hasOldLinks] = [NOW, false];
      for (const one of steps) {
        if (one.type === 'later') [nowMs, hasOldLinks] = [nowMs + one.ms, true];
        if (one.type === 'link' && hasOldLinks) nowMs += USUAL_WITHIN_MS;
        if (one.type === 'link' && one.from !== one.report.to)
          table.report(one.from, one.report satisfies LinkReport, nowMs);
        if (one.type === 'client')
          clients.report(one.from, { prefix: '198.51.100.0/24', rttMs: one.rttMs }, nowMs);
        if (one.type === 'origin') origins.report(one.from, { host: ENDS.origin, rttMs: one.rttMs }, nowMs);
        if (one.type !== 'plan') continue;
        const { sizeBytes, originTls, avoid, hasEnds } = one;
        const query: RouteQuery = { sizeBytes, originTls, avoid, ...(hasEnds ? { ends: ENDS } : {}) };
        const depots = IDS.map((id) => ({ id, tls: id === 'd2', state: 'up' as const }));
        const now = (by: Planner) => {
          const planned = by.plan(query, depots, nowMs);
          if (!planned.ok) throw planned.error;
          const { chain, alternatives, lanes, promises, prediction, direct, reasons } = planned.value;
          return { chain, alternatives, lanes, promises, prediction, direct, reasons };
        };
        expect(now(planner)).toEqual(now(new Planner(config, table, ends)));
      }
    }),
    { numRuns: 60 },
  );
});
