import { chainSeconds, type LegEstimate } from '@longhaul/shared';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LinkConfig, PlannerConfig } from '../../config.ts';
import { TEST_LINKS, testConfig } from '../../testing/start-master.ts';
import { LinkTable } from '../links/link-table.ts';
import type { PlanningDepot } from '../search/planning-depot.ts';
import { Planner } from './planner.ts';
import type { Route, RouteQuery } from './route.ts';
import { predictedSeconds } from './route-basis.ts';

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

  test('counts what a break costs where everything would have to come again', () => {
    const planner = plannerWith(TEST_LINKS);
    const { seconds } = route(planner).prediction;
    expect(route(planner, { depotBreaksPerSecond: 0.01 / seconds })).toMatchObject({ chain: ['d1', 'd2'] });
    expect(route(planner, { depotBreaksPerSecond: 3 / seconds })).toMatchObject({ decision: 'direct' });
  });

  test('counts that a direct way which nobody has measured may have a small window', () => {
    const [toClient, toOrigin] = [
      { between: ['client', 'd1'], rttMs: 10, rateBps: 100e6 },
      { between: ['d1', 'origin'], rttMs: 150, rateBps: 100e6 },
    ];
    const all = { assumptions: { originSender: 'bbr', depotSender: 'bbr' } };
    const worked = route(plannerWith([toClient, toOrigin], all));
    expect(worked).toMatchObject({ decision: 'chain', chain: ['d1'] });
    const direct = { between: ['client', 'origin'], rttMs: 160, rateBps: 100e6 };
    expect(route(plannerWith([toClient, toOrigin, direct], all)).decision).toBe('direct');
  });

  test('knows ways of no length, as links on one machine are', () => {
    const links = [
      { between: ['client', 'd1'], rttMs: 0, rateBps: 1e9 },
      { between: ['d1', 'origin'], rttMs: 0, rateBps: 1e9 },
    ];
    const { prediction, direct } = route(plannerWith(links));
    expect(prediction.seconds).toBeGreaterThan(0);
    expect(direct.seconds).toBeGreaterThan(0);
  });

  test('sends a mouse directly', () => {
    const planned = route(plannerWith(TEST_LINKS), { sizeBytes: 4000 });
    expect(planned).toMatchObject({ decision: 'direct', chain: [], alternatives: [] });
    expect(planned.prediction).toEqual(planned.direct);
    expect(planned.reasons[0]).toContain('only where it is at least 1.1 times faster');
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
        'Depots are up, but no chain of known links leads from the client to the origin.',
        'Left out: d1, which sends no heartbeats.',
        'Left out: d3, which takes no new downloads.',
        'Left out: d9, because no known links lead from it to the client.',
      ]),
    );
  });

  test.each([
    ['a chain', TEST_LINKS, {}, 1.5],
    ['the direct way by its own link', TEST_LINKS, { isDirectPreferred: true }, 1],
    ["the direct way by a chain's legs", TEST_LINKS.slice(1), { isDirectPreferred: true }, 1.5],
    ['the direct way by nothing', [], {}, 1.5],
    ['what was asked for', TEST_LINKS, { via: ['d1'] }, 1.5],
  ])('keeps what its prediction was worked out from: %s', (_what, links, wish, factor) => {
    const { basis, lanes, prediction } = route(plannerWith(links), { ...wish, calibration: 1.5 });
    expect(predictedSeconds(basis, lanes, SIZE)).toBeCloseTo(prediction.seconds, 6);
    expect(prediction.calibration ?? 1).toBe(factor);
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

  test('sends a small file of unknown size through the chain that is best for it, though a large one would gain nothing', () => {
    const stops = ['client', 'd1', 'd2', 'd3', 'origin'];
    const rtts = [20, 30, 30, 20];
    const links = stops.flatMap((one, start) =>
      stops.slice(start + 1).map((other, index) => ({
        between: [one, other],
        rttMs: rtts.slice(start, start + index + 1).reduce((sum, rttMs) => sum + rttMs, 0),
        lossRate: 0,
        rateBps: 95e6,
      })),
    );
    const planner = plannerWith(links);
    const large = { sizeBytes: 100_000_000 };
    expect(route(planner, large).decision).toBe('direct');
    expect(route(planner, { sizeBytes: 100_000 }).decision).toBe('chain');
    const unknown = route(planner, { ...large, isSizeAssumed: true });
    expect(unknown.decision).toBe('chain');
    expect(unknown.reasons[0]).toMatch(/times faster, in the mean over sizes down to a thousandth\./);
  });

  test('plans with what depots measured', () => {
    const config = testConfig();
    const links = new LinkTable(config.links, 1e6);
    links.report('d1', { to: 'd2', rttMs: 190, goodputBps: 1e6 }, NOW - 5000);
    const planned = route(new Planner(config.planner, links));
    expect(planned.chain).toEqual(['d3', 'd2']);
  });
});

describe('lanes', () => {
  /** Four links in a row of 20, 30, 30 and 20 ms round trip, with a depot at each place between. */
  const row = (lossOfLink: number, originSender = 'cubic') => {
    const rtts = [20, 30, 30, 20];
    const stops = ['client', 'd1', 'd2', 'd3', 'origin'];
    const links = stops.flatMap((one, start) =>
      stops.slice(start + 1).map((other, index) => ({
        between: [one, other],
        rttMs: rtts.slice(start, start + index + 1).reduce((sum, rttMs) => sum + rttMs, 0),
        lossRate: 1 - (1 - lossOfLink) ** (index + 1),
        rateBps: 95e6,
      })),
    );
    return (planner: object = {}) =>
      plannerWith(links, { ...planner, assumptions: { originSender, depotSender: 'bbr' } });
  };
  const size = { sizeBytes: 31_457_280 };

  test('are as many as losses before the exit depot ask for, and the plan says why', () => {
    const planned = route(row(0.0025)(), size);
    expect(planned).toMatchObject({ chain: ['d1', 'd2', 'd3'], lanes: 8 });
    expect(planned.prediction.goodputBps).toBeGreaterThan(90e6);
    expect(planned.reasons).toContain(
      '8 lanes: one connection from the origin is predicted to carry 14.2 Mbit/s, because of loss.',
    );
    const [promise] = planned.promises;
    expect(promise).toMatchObject({ rateBps: planned.prediction.goodputBps, worstRttMs: 20 });
    expect(promise?.worstLossRate).toBeCloseTo(0.0025);
    expect(route(row(0.00025)(), size).lanes).toBeGreaterThan(1);
  });

  test('are one where the way is clean, and where the origin sends with BBR, whatever it loses', () => {
    expect(route(row(0)(), size).lanes).toBe(1);
    for (const loss of [0, 0.00025, 0.0025]) {
      const planned = route(row(loss, 'bbr')(), size);
      expect(planned).toMatchObject({ lanes: 1 });
      for (const { worstLossRate } of planned.promises) expect(worstLossRate).toBe(0);
    }
  });

  test('are one for small files and for direct downloads, and no more than the operator allows', () => {
    const small = { sizeBytes: 4_194_303 };
    expect(route(row(0.0025)(), small)).toMatchObject({ decision: 'chain', lanes: 1 });
    expect(route(row(0.0025)({ minLaneBytes: 1_000_000 }), small).lanes).toBeGreaterThan(1);
    expect(route(row(0.0025)({ maxLanes: 3 }), size).lanes).toBe(3);
    const direct = route(row(0.0025)({ minimumGain: 1e6 }), size);
    expect(direct).toMatchObject({ decision: 'direct', lanes: 1, alternatives: [] });
    expect(direct.reasons.join()).not.toContain('lanes');
  });

  test('are those the client asks for', () => {
    const planned = route(row(0.0025)(), { ...size, lanes: 5 });
    expect(planned).toMatchObject({ decision: 'chain', lanes: 5 });
    expect(planned.reasons).toContain('5 lanes, as the client asks.');
    const chosen = route(row(0.0025)(), { ...size, via: ['d3', 'd1'] });
    expect(chosen, 'nothing but what was chosen').toMatchObject({ chain: ['d1', 'd3'], lanes: 1 });
    expect(route(row(0.0025)(), { sizeBytes: 10, lanes: 2, via: ['d1'] })).toMatchObject({
      chain: ['d1'],
      lanes: 2,
      promises: [{ worstRttMs: 80 }],
    });
    const tooMany = row(0)({ maxLanes: 4 }).plan({ ...size, originTls: false, lanes: 5 }, depots, NOW);
    expect(tooMany).toMatchObject({ ok: false, error: { code: 'bad-options' } });
  });

  test('are not fooled by what lanes on one link were measured at', () => {
    const links = [
      { between: ['client', 'd1'], rttMs: 10, rateBps: 95e6 },
      { between: ['d1', 'd2'], rttMs: 80, rateBps: 95e6 },
      { between: ['d2', 'origin'], rttMs: 10, rateBps: 95e6 },
      { between: ['client', 'origin'], rttMs: 100, lossRate: 0.01, rateBps: 95e6 },
    ];
    const config = testConfig({ links });
    const planWith = (goodputBps: number) => {
      const table = new LinkTable(config.links, 1e7);
      table.report('d1', { to: 'd2', rttMs: 80, goodputBps }, NOW);
      return route(new Planner(config.planner, table), size);
    };
    expect(planWith(12e6)).toMatchObject({ decision: 'chain', chain: ['d1', 'd2'], lanes: 8 });
    expect(planWith(12e6).reasons).toContain(
      '8 lanes: one connection from d2 is predicted to carry 12 Mbit/s, as measured.',
    );
    expect(planWith(90e6)).toMatchObject({ chain: ['d1', 'd2'], lanes: 1 });
  });
});

describe('another way for a running download', () => {
  const ids = ['d1', 'd2', 'd3', 'd4'];
  const over = ids.map((id): PlanningDepot => ({ id, tls: false, state: 'up' }));
  const links = ['client', ...ids].flatMap((one, index) =>
    [...ids.slice(index), 'origin'].map((other) => ({
      between: [one, other],
      rttMs: 20,
      lossRate: one === 'client' || other === 'origin' ? 0 : 0.001,
      rateBps: 1e8,
    })),
  );
  const ask = { sizeBytes: SIZE, originTls: false, entry: 'd1', avoid: ['d2'], lanes: 4 };

  test('begins with the depot that asks, passes none that failed, and keeps the lanes', () => {
    const planned = plannerWith(links).reroute(ask, over, NOW);
    if (!planned.ok) throw planned.error;
    const { chains, promises } = planned.value;
    expect(chains.length).toBeGreaterThan(1);
    expect(promises).toHaveLength(chains.length);
    for (const chain of chains) {
      expect(chain[0]).toBe('d1');
      expect(chain).not.toContain('d2');
    }
  });

  test('is found for an entry depot that drains, and for clients of whom nothing is known', () => {
    const states: PlanningDepot[] = over.map((depot) =>
      depot.id === 'd1' ? { ...depot, state: 'draining' } : depot,
    );
    const unknown = links.filter(({ between }) => !between.includes('client'));
    expect(plannerWith(unknown).reroute(ask, states, NOW)).toMatchObject({ ok: true });
  });

  test('is refused where there is none but the entry depot alone', () => {
    const codeOf = (avoid: string[], states = over) => {
      const planned = plannerWith(links).reroute({ ...ask, avoid }, states, NOW);
      return planned.ok ? planned.value.chains : planned.error.code;
    };
    expect(codeOf(['d2', 'd3', 'd4'])).toBe('no-other-chain');
    const lost = over.map((depot): PlanningDepot => ({ ...depot, state: 'lost' }));
    expect(codeOf([], lost)).toBe('no-other-chain');
    expect(codeOf(['d1'])).toBe('bad-request');
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
        fc.integer({ min: 1, max: 8 }),
        fc.constantFrom('bbr', 'cubic', 'reno'),
        (links, tlsOf, sizeBytes, originTls, maxDepots, maxLanes, depotSender) => {
          const assumptions = { depotSender };
          const planner = { maxDepots, maxLanes, minimumGain: 1, maxAlternatives: 4, assumptions };
          const config = testConfig({ planner }).planner;
          const over: PlanningDepot[] = ids.map((id, index) => ({
            id,
            tls: tlsOf[index] ?? false,
            state: 'up',
          }));
          const table = new LinkTable(links, config.assumptions.windowBytes);
          const planned = route(new Planner(config, table), { sizeBytes, originTls }, over);
          const all = everyChain(links, over, { sizeBytes, originTls }, config);
          const best = Math.min(...all.map(({ seconds }) => seconds));
          const isDirectKnown = links.some(
            ({ between }) => between[0] === 'client' && between[1] === 'origin',
          );
          const isDirectFaster = planned.direct.seconds < best;
          if (isDirectFaster && isDirectKnown) expect(planned.decision).toBe('direct');
          // One that is only worked out may have a small window, which counts in the mean.
          if (!isDirectFaster || planned.decision === 'chain') {
            expect(planned.prediction.seconds / best).toBeCloseTo(1, 9);
          }
          const elsewhere = all.filter(({ chain }) => chain[0] !== planned.chain[0]);
          const otherEntry = planned.alternatives.find((chain) => chain[0] !== planned.chain[0]);
          expect(otherEntry !== undefined).toBe(planned.decision === 'chain' && elsewhere.length > 0);
          const timeOf = (chain: readonly string[]) =>
            all.find((one) => one.chain.join() === chain.join())?.seconds;
          if (otherEntry) {
            const least = Math.min(...elsewhere.map(({ seconds }) => seconds));
            // A slow link takes weeks for a large file: only the share can be compared.
            expect((timeOf(otherEntry) ?? 0) / least).toBeCloseTo(1, 9);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  test('names for every depot behind the entry depot a chain without it, if there is one', () => {
    fc.assert(
      fc.property(overlay, tls, sizes, fc.integer({ min: 1, max: 4 }), (links, tlsOf, sizeBytes, most) => {
        const limits = {
          maxDepots: 4,
          minimumGain: 1,
          maxAlternatives: 4,
          assumptions: { depotSender: 'bbr' },
        };
        const config = testConfig({ planner: limits }).planner;
        const over: PlanningDepot[] = ids.map((id, index) => ({
          id,
          tls: tlsOf[index] ?? false,
          state: 'up',
        }));
        const table = new LinkTable(links, config.assumptions.windowBytes);
        const query = { sizeBytes, originTls: false };
        const { chain, alternatives, lanes, promises } = route(new Planner(config, table), query, over);
        const [entry, ...others] = chain;
        const listed = [chain, ...alternatives].map((one) => one.join());
        expect(new Set(listed).size, 'no chain twice').toBe(listed.length);
        expect(promises).toHaveLength(listed.length);
        expect(listed, 'the entry depot alone goes without saying').not.toContain(
          others.length > 0 ? entry : '-',
        );
        const all = everyChain(links, over, query, { ...config, maxLanes: lanes }, [lanes]);
        for (const one of alternatives) expect(all.map((known) => known.chain.join())).toContain(one.join());
        const own = all.filter((known) => known.chain[0] === entry && known.chain.length > 1);
        const avoids = (one: readonly string[], dead: readonly string[]) =>
          !dead.some((id) => one.includes(id));
        for (const dead of others) {
          const possible = own.some((known) => avoids(known.chain, [dead]));
          const named = alternatives.some((one) => one[0] === entry && avoids(one, [dead]));
          expect(named, `${dead} of ${chain.join()}`).toBe(possible);
        }
        const disjoint = own.filter((known) => others.length > 0 && avoids(known.chain, others));
        if (disjoint.length > 0) {
          const first = disjoint.find((known) => known.chain.join() === alternatives[0]?.join());
          const least = Math.min(...disjoint.map(({ seconds }) => seconds));
          expect((first?.seconds ?? 0) / least).toBeCloseTo(1, 9);
        }
        const few = testConfig({ planner: { ...limits, maxAlternatives: most } }).planner;
        expect(route(new Planner(few, table), query, over).alternatives.length).toBeLessThanOrEqual(most);
      }),
      { numRuns: 100 },
    );
  });

  const lanesUpTo = (most: number) => (most < 4 ? [1, most] : [1, 4, 8].filter((count) => count <= most));

  /** All permutations with their best lanes, without any of the planner's own code. */
  function everyChain(
    links: readonly LinkConfig[],
    over: readonly PlanningDepot[],
    { sizeBytes, originTls }: RouteQuery,
    config: PlannerConfig,
    lanes = sizeBytes < 4 * 2 ** 20 ? [1] : lanesUpTo(config.maxLanes),
  ) {
    const legBetween = (near: string, far: string): LegEstimate | undefined => {
      const link = links.find(({ between }) => between.includes(near) && between.includes(far));
      if (!link) return undefined;
      const { rttMs, lossRate, rateBps, windowBytes = 0 } = link;
      return {
        rttMs,
        lossRate,
        rateBps,
        windowBytes,
        sender: far === 'origin' ? 'cubic' : config.assumptions.depotSender,
      };
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
        const times = lanes.map((count) => chainSeconds(legs, sizeBytes, { clientTls, originTls }, count));
        const seconds = times.find((time) => time <= 1.03 * Math.min(...times)) ?? 0;
        return [{ chain, seconds }];
      });
  }
});
