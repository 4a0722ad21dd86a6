import { chainSeconds, type LegEstimate } from '@longhaul/shared';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LinkConfig, PlannerConfig } from '../config.ts';
import { TEST_LINKS, testConfig } from '../testing/start-master.ts';
import { LinkTable } from './link-table.ts';
import { Planner, type PlanningDepot, type Route, type RouteQuery } from './planner.ts';

const NOW = 1_795_000_000_000;
const SIZE = 1_000_000_000;
const depots: PlanningDepot[] = ['d1', 'd2', 'd3'].map((id) => ({ id, tls: false, state: 'up' }));

function plannerWith(links: readonly object[], planner: object = {}): Planner {
  const config = testConfig({ links, planner });
  return new Planner(config.planner, new LinkTable(config.links, config.planner.assumptions.windowBytes));
}

function route(planner: Planner, query: Partial<RouteQuery> = {}, over = depots): Route {
  const planned = planner.plan({ sizeBytes: SIZE, originTls: false, ...query }, over, NOW);
  if (!planned.ok) throw planned.error;
  return planned.value;
}

describe('the planner', () => {
  test('chooses the chain that is predicted to finish first, and names what else there is', () => {
    const planned = route(plannerWith(TEST_LINKS));
    expect(planned).toMatchObject({ decision: 'chain', chain: ['d1', 'd2'], alternatives: [['d3', 'd2']] });
    expect(planned.prediction.legs.map(({ from, to }) => `${from}>${to}`)).toEqual([
      'd1>client',
      'd2>d1',
      'origin>d2',
    ]);
    expect(planned.prediction.seconds).toBeLessThan(planned.direct.seconds / 10);
    expect(planned.reasons.join(' ')).toMatch(/client - d1 - d2 - origin is predicted .* times faster/);
    expect(planned.reasons.join(' ')).toMatch(/Runner-up: client - d3 - d2 - origin/);
  });

  test('sends a mouse directly', () => {
    const planned = route(plannerWith(TEST_LINKS), { sizeBytes: 4000 });
    expect(planned).toMatchObject({ decision: 'direct', chain: [], alternatives: [] });
    expect(planned.prediction).toEqual(planned.direct);
    expect(planned.reasons[0]).toContain('so direct');
  });

  test('sends an elephant directly where the origin is near', () => {
    const near = TEST_LINKS.map((link, index) => (index === 0 ? { ...link, rttMs: 4, lossRate: 0 } : link));
    expect(route(plannerWith(near)).decision).toBe('direct');
  });

  test('asks for a clear win, not for any', () => {
    const links = plannerWith(TEST_LINKS, { minimumGain: 1000 });
    expect(route(links).decision).toBe('direct');
    expect(route(links).reasons[0]).toContain('at least 1000 times faster');
  });

  test('takes only depots that are up and not to be avoided, and says why', () => {
    const planner = plannerWith(TEST_LINKS);
    expect(route(planner, { avoid: ['d1'] }).chain).toEqual(['d3', 'd2']);
    const states: PlanningDepot[] = [
      { id: 'd1', tls: false, state: 'lost' },
      { id: 'd2', tls: false, state: 'up' },
      { id: 'd3', tls: false, state: 'draining' },
      { id: 'd9', tls: false, state: 'up' },
    ];
    const planned = route(planner, {}, states);
    expect(planned.decision).toBe('direct');
    expect(planned.reasons).toEqual(
      expect.arrayContaining([
        'No chain is possible: direct.',
        'Left out: d1, which sends no heartbeats.',
        'Left out: d3, which takes no new downloads.',
        'Left out: d9, because no known links lead from it to the client.',
      ]),
    );
  });

  test("derives the direct way from the chain's legs where nothing else is known", () => {
    const planned = route(plannerWith(TEST_LINKS.slice(1)));
    expect(planned.direct.legs[0]).toMatchObject({ from: 'origin', to: 'client', rttMs: 200, limit: 'loss' });
    expect(planned.reasons.join(' ')).toContain("derived from the chain's legs");
  });

  test('answers even when it knows nothing at all', () => {
    const planned = route(plannerWith([]), {}, []);
    expect(planned.decision).toBe('direct');
    expect(planned.reasons.join(' ')).toContain('assumptions are used');
  });

  test('takes exactly the depots of via, which are written from the origin to the client', () => {
    const planned = route(plannerWith(TEST_LINKS), { via: ['d2', 'd3', 'd1'] });
    expect(planned).toMatchObject({ decision: 'chain', chain: ['d1', 'd3', 'd2'], alternatives: [] });
    expect(planned.reasons).toContain('No estimate of the link d1 - d3: assumptions are used for it.');
    const refused = plannerWith([]).plan({ sizeBytes: 1, originTls: false, via: ['d7'] }, depots, NOW);
    expect(refused).toMatchObject({ ok: false, error: { code: 'bad-options' } });
    const twice = plannerWith([]).plan({ sizeBytes: 1, originTls: false, via: ['d1', 'd1'] }, depots, NOW);
    expect(twice).toMatchObject({ ok: false, error: { code: 'bad-options' } });
  });

  test('plans with what depots measured', () => {
    const config = testConfig();
    const links = new LinkTable(config.links, 1e6);
    links.report('d1', { to: 'd2', rttMs: 190, goodputBps: 1e6 }, NOW - 5000);
    const planned = route(new Planner(config.planner, links));
    expect(planned.chain).toEqual(['d3', 'd2']);
  });
});

describe('over any overlay the planner', () => {
  const ids = ['d1', 'd2', 'd3', 'd4', 'd5'];
  const ends = ['client', 'origin', ...ids];
  const pairs = ends.flatMap((one, index) => ends.slice(index + 1).map((other) => [one, other] as const));
  const estimate = fc.record({
    rttMs: fc.double({ min: 0.1, max: 300, noNaN: true }),
    lossRate: fc.constantFrom(0, 0.00001, 0.001, 0.02),
    rateBps: fc.double({ min: 1e5, max: 1e10, noNaN: true }),
    windowBytes: fc.integer({ min: 10_000, max: 1e8 }),
  });
  const overlay = fc.tuple(...pairs.map(() => fc.option(estimate, { freq: 3 }))).map((estimates) =>
    pairs.flatMap(([one, other], index): LinkConfig[] => {
      const known = estimates[index];
      return known ? [{ ...known, between: [one, other], fixed: false }] : [];
    }),
  );
  const tls = fc.array(fc.boolean(), { minLength: ids.length, maxLength: ids.length });
  const sizes = fc.integer({ min: 1, max: 1e11 });

  test('finds what trying every chain finds', () => {
    fc.assert(
      fc.property(
        overlay,
        tls,
        sizes,
        fc.boolean(),
        fc.integer({ min: 0, max: 3 }),
        (links, tlsOf, sizeBytes, originTls, maxDepots) => {
          const config = testConfig({ planner: { maxDepots, minimumGain: 1 } }).planner;
          const over: PlanningDepot[] = ids.map((id, index) => ({
            id,
            tls: tlsOf[index] ?? false,
            state: 'up',
          }));
          const planner = new Planner(config, new LinkTable(links, config.assumptions.windowBytes));
          const planned = route(planner, { sizeBytes, originTls }, over);
          const all = everyChain(links, over, { sizeBytes, originTls }, config);
          const best = Math.min(...all.map(({ seconds }) => seconds));
          if (planned.direct.seconds < best) expect(planned.decision).toBe('direct');
          else expect(planned.prediction.seconds).toBeCloseTo(best, 9);
          const elsewhere = all.filter(({ chain }) => chain[0] !== planned.chain[0]);
          const otherEntry = planned.alternatives.find((chain) => chain[0] !== planned.chain[0]);
          expect(otherEntry !== undefined).toBe(planned.decision === 'chain' && elsewhere.length > 0);
          const timeOf = (chain: readonly string[]) =>
            all.find((one) => one.chain.join() === chain.join())?.seconds;
          if (otherEntry) {
            expect(timeOf(otherEntry)).toBeCloseTo(Math.min(...elsewhere.map(({ seconds }) => seconds)), 9);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  /** All permutations, without any of the planner's own code. */
  function everyChain(
    links: readonly LinkConfig[],
    over: readonly PlanningDepot[],
    { sizeBytes, originTls }: RouteQuery,
    config: PlannerConfig,
  ) {
    const legBetween = (near: string, far: string): LegEstimate | undefined => {
      const link = links.find(({ between }) => between.includes(near) && between.includes(far));
      if (!link) return undefined;
      const { rttMs, lossRate, rateBps, windowBytes = 0 } = link;
      return { rttMs, lossRate, rateBps, windowBytes, sender: far === 'origin' ? 'cubic' : 'bbr' };
    };
    const chains = (length: number): string[][] =>
      length === 0
        ? [[]]
        : chains(length - 1).flatMap((chain) =>
            over.filter(({ id }) => !chain.includes(id)).map(({ id }) => [...chain, id]),
          );
    return Array.from({ length: config.maxDepots }, (_, index) => chains(index + 1))
      .flat()
      .flatMap((chain) => {
        const stops = ['client', ...chain, 'origin'];
        const legs = stops.slice(1).map((stop, index) => legBetween(stops[index] ?? '', stop));
        if (!legs.every((leg) => leg !== undefined)) return [];
        const clientTls = over.find(({ id }) => id === chain[0])?.tls ?? false;
        return [{ chain, seconds: chainSeconds(legs, sizeBytes, { clientTls, originTls }) }];
      });
  }
});
