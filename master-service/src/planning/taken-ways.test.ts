import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { testConfig } from '../testing/start-master.ts';
import { LinkTable } from './link-table.ts';
import { Planner } from './planner.ts';
import type { Route } from './route.ts';
import { type TakenWay, TakenWays, type TimedDownload } from './taken-ways.ts';

const NOW = 1_795_000_000_000;
const SIZE_BYTES = 1e7;
/** What the model says of any chain. */
const MODEL = () => 2;

const took = (timesPlanned: number, more: Partial<TimedDownload> = {}): TimedDownload => ({
  bodyBytes: SIZE_BYTES,
  lanes: 1,
  seconds: 2 * timesPlanned,
  timesPlanned,
  agoMs: 0,
  ...more,
});
const way = (chain: string, ...downloads: TimedDownload[]): TakenWay => ({
  chain: chain.split('-'),
  downloads,
});
const factorOf = (ways: readonly TakenWay[], chain: string, model: () => number = MODEL) =>
  new TakenWays(ways).factor(chain.split('-'), SIZE_BYTES, model);

describe('what downloads took', () => {
  test('is expected of the next one over the same chain, the newest most', () => {
    expect(factorOf([way('d1', took(2))], 'd1')).toBeGreaterThan(1.7);
    const better = factorOf([way('d1', took(1), took(3, { agoMs: 60_000 }))], 'd1');
    const worse = factorOf([way('d1', took(3), took(1, { agoMs: 60_000 }))], 'd1');
    expect(better).toBeLessThan(worse);
  });

  test('counts less the older it is, and the less its size is like this one', () => {
    const now = factorOf([way('d1', took(2))], 'd1');
    expect(factorOf([way('d1', took(2, { agoMs: 3_600_000 }))], 'd1')).toBeLessThan(0.85 * now);
    expect(factorOf([way('d1', took(2, { bodyBytes: 1e5 }))], 'd1')).toBeLessThan(now);
  });

  test('says nothing any more where the model was right, and the world has got better since', () => {
    expect(factorOf([way('d1', took(1, { seconds: 2 }))], 'd1', () => 1)).toBeCloseTo(1, 1);
  });

  test('stands against a model that has come to say more, up to a fifth', () => {
    expect(factorOf([way('d1', took(1, { seconds: 2 }))], 'd1', () => 4)).toBeLessThan(0.9);
  });

  test('is expected of chains that nobody has tried, too, for the worse only, and no entry depot decides that', () => {
    expect(factorOf([way('d1', took(0.5))], 'd9')).toBe(1);
    expect(factorOf([way('d1', took(3))], 'd9')).toBe(1.2);
    expect(factorOf([way('d1', took(3)), way('d2', took(1))], 'd9')).toBeLessThan(1.2);
    expect(factorOf([way('d1', took(1.5)), way('d2', took(1.5))], 'd9')).toBeGreaterThan(1.3);
  });

  const download = fc.record({
    bodyBytes: fc.double({ min: 1, max: 1e13, noNaN: true }),
    lanes: fc.integer({ min: 1, max: 16 }),
    seconds: fc.double({ min: 1e-9, max: 1e9, noNaN: true }),
    timesPlanned: fc.double({ min: 1e-9, max: 1e9, noNaN: true }),
    agoMs: fc.double({ min: 0, max: 1e9, noNaN: true }),
  });
  const ways = fc.uniqueArray(
    fc.record({
      chain: fc.uniqueArray(fc.constantFrom('d1', 'd2', 'd3', 'd4'), { minLength: 1, maxLength: 4 }),
      downloads: fc.array(download, { minLength: 1, maxLength: 3 }),
    }),
    { selector: ({ chain }) => chain.join(), maxLength: 6 },
  );

  test('makes no chain more than a fifth faster, or four times slower, whatever entry depots say', () => {
    fc.assert(
      fc.property(ways, fc.double({ min: 1e-6, max: 1e6, noNaN: true }), (all, seconds) => {
        for (const { chain } of [...all, { chain: ['d9'] }]) {
          const factor = new TakenWays(all).factor(chain, SIZE_BYTES, () => seconds);
          expect(factor).toBeGreaterThanOrEqual(1 / 1.2);
          expect(factor).toBeLessThanOrEqual(4);
        }
      }),
    );
  });

  test('of one entry depot moves the chains of others by a fifth at most', () => {
    fc.assert(
      fc.property(ways, (all) => {
        const lies = all.map((one) => ({ ...one, chain: ['d0', ...one.chain] }));
        expect(new TakenWays(lies).untried).toBeLessThanOrEqual(1.2);
        const honest = way('d9', took(1));
        expect(new TakenWays([...lies, honest]).factor(['d9'], SIZE_BYTES, MODEL)).toBeLessThanOrEqual(1.2);
      }),
    );
  });
});

/** Depots beside a client and an origin far from each other; over `d2` everything takes a little longer. */
function planAfter(...ways: TakenWay[]): Route {
  const rateBps = 1e9;
  const links = ['d1', 'd2', 'd3'].flatMap((id, index) => [
    { between: ['client', id], rttMs: 50 + 5 * index, rateBps },
    { between: [id, 'origin'], rttMs: 50 + 5 * index, rateBps },
  ]);
  const direct = { between: ['client', 'origin'], rateBps, rttMs: 300, lossRate: 0.001 };
  const config = testConfig({ links: [direct, ...links] });
  const table = new LinkTable(config.links, config.planner.assumptions.windowBytes);
  const depots = ['d1', 'd2', 'd3'].map((id) => ({ id, tls: false, state: 'up' as const }));
  const query = { sizeBytes: SIZE_BYTES, originTls: false, taken: new TakenWays(ways) };
  const planned = new Planner(config.planner, table).plan(query, depots, NOW);
  if (!planned.ok) throw planned.error;
  return planned.value;
}

describe('a plan', () => {
  const seconds = planAfter().prediction.seconds;
  const over = (chain: string, times: number): TakenWay =>
    way(chain, took(times, { seconds: times * seconds }));

  test('leaves the chain that took longer than its legs say, and says why', () => {
    expect(planAfter().chain).toEqual(['d1']);
    const left = planAfter(over('d1', 2));
    expect(left.chain).toEqual(['d2']);
    expect(left.reasons.join(' ')).toMatch(/none of them took are expected to take 1\.2 times as long/);
  });

  test('comes back to the best that was tried once the others were no better than they look', () => {
    const back = planAfter(over('d1', 1.5), over('d2', 3), over('d3', 2));
    expect(back.chain).toEqual(['d1']);
    expect(back.reasons.join(' ')).toMatch(/took 1\.\d times as long over this chain as their legs say/);
    expect(back.prediction.seconds).toBeGreaterThan(1.2 * seconds);
  });

  test('prefers no direct way because chains took longer: that one was not tried either', () => {
    const route = planAfter(over('d1', 4), over('d2', 4), over('d3', 4));
    expect(route.decision).toBe('chain');
  });
});
