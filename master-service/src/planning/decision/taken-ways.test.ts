import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WayBook } from '../../outcomes/way-book.ts';
import { testConfig } from '../../testing/start-master.ts';
import { LinkTable } from '../links/link-table.ts';
import { Planner } from './planner.ts';
import type { Route, RouteQuery } from './route.ts';
import { formatSeconds } from './route-reasons.ts';
import {
  type AtOneSite,
  entryFault,
  gainTaken,
  type TakenWay,
  type TimedDownload,
  timesTaken,
  twinFactor,
  wayFactors,
} from './taken-ways.ts';

const NOW = 1_795_000_000_000;
const SIZE_BYTES = 1e7;
/** What the model says of any chain. */
const MODEL = () => 2;

const took = (timesPlanned: number, more: Partial<TimedDownload> = {}): TimedDownload => ({
  bodyBytes: SIZE_BYTES,
  lanes: 1,
  seconds: 2 * timesPlanned,
  timesPlanned,
  isSeconded: true,
  agoMs: 0,
  ...more,
});
const way = (chain: string, ...downloads: TimedDownload[]): TakenWay => ({
  chain: chain.split('-'),
  downloads,
});
const APART: AtOneSite = (one, other) => one === other;
/** a1 and a2 are at one site, c1 is at another. */
const BY_LETTER: AtOneSite = (one, other) => one[0] === other[0];
/** Who is beside whom: d0 beside everybody, who are not beside each other; and all beside each other. */
const AROUND_D0: AtOneSite = (one, other) => one === other || one === 'd0' || other === 'd0';
const TOGETHER: AtOneSite = () => true;

function factorsOf(
  ways: readonly TakenWay[],
  model = MODEL,
  areAtOneSite: AtOneSite = APART,
): Record<string, number> {
  const taken = ways.map((one) => ({ way: one, model }));
  return Object.fromEntries(wayFactors(taken, SIZE_BYTES, areAtOneSite));
}
const bySite = (...ways: TakenWay[]) => factorsOf(ways, MODEL, BY_LETTER);

/** How many times more a chain gains over the direct way than the model says. */
const gainOf = (direct: readonly TimedDownload[], chain?: TakenWay) =>
  gainTaken({ downloads: direct, model: MODEL }, chain && { way: chain, model: MODEL }, SIZE_BYTES);
const often = (times: number) => Array.from({ length: 5 }, () => took(times));

describe('what direct downloads took', () => {
  test('counts for chains where it is too long, half of it as long as nobody took one', () => {
    expect(gainOf(often(1))).toBeCloseTo(1);
    expect(gainOf([took(3)])).toBeGreaterThan(1.2);
    expect(gainOf(often(3))).toBeGreaterThan(gainOf([took(3)]));
    expect(gainOf(often(3), way('d1', ...often(1)))).toBeGreaterThan(gainOf(often(3)));
  });

  test('counts for the direct way where it is shorter than is worked out', () => {
    expect(gainOf(often(0.5))).toBeLessThan(0.7);
    expect(gainOf(often(0.5), way('d1', ...often(0.5)))).toBeCloseTo(1);
  });

  test('is half as much too long as a chain, where nobody has told it: what is fast is not held against it', () => {
    expect(gainOf([])).toBe(1);
    expect(gainOf([], way('d1', ...often(4)))).toBeLessThan(0.6);
    expect(gainOf([], way('d1', ...often(4)))).toBeGreaterThan(0.5);
    expect(gainOf([], way('d1', ...often(0.5)))).toBe(1);
  });

  test('leaves a chain that its own depots say is slow, where clients say that the direct way is not', () => {
    const slow = way('d1', ...often(4));
    expect(gainOf(often(1), slow)).toBeLessThan(0.7 * gainOf([], slow));
  });

  test('says nothing where the chain took as long: that is the line, or the origin', () => {
    expect(gainOf(often(3), way('d1', ...often(3)))).toBeCloseTo(1);
  });

  test('moves a decision by a factor of two at most, whatever clients tell', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 1e-6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 5 }),
        (told) => {
          const gain = gainOf(told.map((times) => took(times)));
          expect(gain).toBeGreaterThanOrEqual(0.5 - 1e-9);
          expect(gain).toBeLessThanOrEqual(2 + 1e-9);
        },
      ),
    );
  });
});

describe('what downloads took', () => {
  test('is no fault of a chain where others took as long', () => {
    const ids = ['d1', 'd2', 'd3'];
    expect(factorsOf(ids.map((id) => way(id, took(3))))).toEqual({ d1: 1, d2: 1, d3: 1 });
  });

  test('is held against no chain that took what the model says, where others took less', () => {
    expect(factorsOf([way('d1', took(1)), way('d2', took(0.7)), way('d3', took(0.7))])['d1']).toBe(1);
  });

  test('is told by all: one entry depot that flatters itself is no reason to doubt the chains of others', () => {
    const slow = ['d1', 'd2', 'd3'].map((id) => way(id, took(3)));
    const { d0 = 0, d1 = 0 } = factorsOf([...slow, way('d0', took(0.1, { isSeconded: false }))]);
    expect(d0).toBe(1);
    expect(d1).toBeLessThan(1.3);
  });

  test('leaves a depot that takes four times as long for one that keeps its promise, though nobody seconds it', () => {
    const [slow, right] = [took(4, { isSeconded: false }), took(1, { isSeconded: false })];
    const alone = factorsOf([way('d1', slow, slow, slow)])['d1'] ?? 0;
    const beside = factorsOf([way('d1', slow, slow, slow), way('d2', right)]);
    expect(beside['d2']).toBe(1);
    expect(beside['d1']).toBeGreaterThan(alone);
  });

  test('of one chain alone is half its fault, and none after a single download', () => {
    expect(factorsOf([way('d1', took(3))])).toEqual({ d1: 1 });
    const often = factorsOf([way('d1', took(3), took(3), took(3))])['d1'] ?? 0;
    expect(often).toBeGreaterThan(1.3);
    expect(often).toBeLessThan(Math.sqrt(3));
  });

  test('of the chains of one entry depot is half its fault, however many they are: another depot is tried', () => {
    const slow = [took(4), took(4), took(4)];
    const { 'd1,d3': one = 0, 'd1,d4': other = 0 } = factorsOf([
      way('d1-d3', ...slow),
      way('d1-d4', ...slow),
    ]);
    expect(Math.min(one, other)).toBeGreaterThan(1.5);
    const both = factorsOf([way('d1-d3', ...slow), way('d2-d3', ...slow)]);
    expect(Math.max(...Object.values(both))).toBeLessThan(1.3);
  });

  test('puts one behind that took longer than others, the more of its downloads say so, the more', () => {
    const once = factorsOf([way('d1', took(2)), way('d2', took(1))]);
    expect(once).toMatchObject({ d1: expect.closeTo(Math.SQRT2, 2) as number, d2: 1 });
    const often = factorsOf([way('d1', took(2), took(2), took(2)), way('d2', took(1))]);
    expect(often['d1']).toBeGreaterThan(1.15 * (once['d1'] ?? 0));
  });

  test('says hardly anything where only a third of them took long', () => {
    const mixed = [took(3), took(1), took(1.02), took(3, { agoMs: 60_000 }), took(1, { agoMs: 60_000 })];
    expect(factorsOf([way('d1', ...mixed), way('d2', took(1))])['d1']).toBeLessThan(1.03);
  });

  test('counts less the older it is, and the less its size is like this one', () => {
    const [now, old, small] = [took(2), took(2, { agoMs: 3_600_000 }), took(2, { bodyBytes: 1e5 })].map(
      (one) => factorsOf([way('d1', one), way('d2', took(1))])['d1'] ?? 0,
    );
    expect(old).toBeLessThan(1.05);
    expect(small).toBeLessThan(1.08);
    expect(now).toBeGreaterThan(1.4);
  });

  test('says nothing any more where the model was right, and the world has got better since', () => {
    const slow = way('d1', took(1, { seconds: 4 }));
    expect(factorsOf([slow, way('d2', took(1))])).toEqual({ d1: 1, d2: 1 });
  });

  test('makes no chain fast whose downloads were as fast as the model said, since it says that the world has got worse', () => {
    const [before, now] = [took(1, { seconds: 0.6 }), took(1)];
    expect(factorsOf([way('d1', now, before, before), way('d2', took(1))])).toEqual({ d1: 1, d2: 1 });
    const underrated = took(0.3);
    expect(factorsOf([way('d1', underrated, underrated), way('d2', took(1))])['d1']).toBeLessThan(0.7);
  });

  test('of one of the chains of an entry depot is that chain’s fault, after a single download already', () => {
    const { 'd1,d3': slow = 0, 'd1,d4': right } = factorsOf([way('d1-d3', took(3)), way('d1-d4', took(1))]);
    expect(slow).toBeCloseTo(Math.sqrt(3));
    expect(right).toBe(1);
  });

  test('is predicted again, more surely than what all chains of the pair took', () => {
    const said = [1, 3, 5].map((downloads) =>
      timesTaken(way('d1', ...Array.from({ length: downloads }, () => took(2))), SIZE_BYTES, MODEL, 1.2),
    );
    expect(said).toEqual(said.toSorted((one, other) => one - other));
    expect(said[0]).toBeGreaterThan(1.5);
    expect(said[2]).toBeLessThan(2);
  });

  test('of one download is four times as long at most, and of two whatever they say, while they are fresh', () => {
    const times = (...downloads: TimedDownload[]) =>
      timesTaken(way('d1', ...downloads), SIZE_BYTES, MODEL, 1);
    expect(times(took(40))).toBeCloseTo(2);
    expect(times(took(40), took(1))).toBe(1);
    expect(times(took(40), took(40))).toBeGreaterThan(10);
    expect(times(...often(1e6))).toBeCloseTo(1000 ** (5 / 6));
    const hourAgo = Array.from({ length: 5 }, () => took(40, { agoMs: 3_600_000 }));
    expect(times(...hourAgo)).toBeLessThan(4 ** 0.25);
  });

  test('before their clients gave them up is no less than what others took that came whole', () => {
    const times = (...downloads: TimedDownload[]) =>
      timesTaken(way('d1', ...downloads), SIZE_BYTES, MODEL, 1);
    const givenUp = took(2, { isAtLeast: true });
    expect(times(givenUp, givenUp)).toBeCloseTo(2 ** (2 / 3));
    expect(times(givenUp, givenUp, took(40), took(40))).toBeCloseTo(40 ** (4 / 5));
    expect(times(givenUp, took(1), took(1))).toBe(1);
  });

  test('by far too long over two chains of an entry depot is the fault of where they are one way', () => {
    const fault = (...ways: TakenWay[]) =>
      entryFault(
        ways.map((one) => ({ way: one, model: MODEL })),
        SIZE_BYTES,
      );
    const slow = way('d1-d2', took(40), took(40));
    expect(fault(slow)).toBeUndefined();
    expect(fault(slow, way('d1-d3', took(40)))).toMatchObject({ depots: ['d1'] });
    // It may be that of d2 as well.
    expect(fault(slow, way('d1-d3-d2', took(40)))).toMatchObject({ depots: ['d1', 'd2'] });
    expect(fault(slow, way('d1-d3', took(40)))?.times).toBeCloseTo(40 ** (3 / 4));
    expect(fault(slow, way('d1-d3', took(3)))).toBeUndefined();
    expect(fault(way('d1-d2', took(40)), way('d1-d3', took(40, { agoMs: 3_600_000 })))).toBeDefined();
    const old = { agoMs: 3_600_000 };
    expect(fault(way('d1-d2', ...[1, 2, 3].map(() => took(40, old))), way('d1-d3', took(40, old)))).toBe(
      undefined,
    );
  });

  const thrice = (chain: string, times: number) => way(chain, took(times), took(times), took(times));

  test('of the entry depots of one site is half the fault of that: another site is tried', () => {
    const { a1: alone = 0 } = bySite(thrice('a1', 3));
    expect(alone).toBeGreaterThan(1.3);
    expect(bySite(thrice('a1', 3), thrice('a2', 3))).toEqual({ a1: alone, a2: alone });
    expect(factorsOf([thrice('a1', 3), thrice('a2', 3)])).toEqual({ a1: 1, a2: 1 });
    const { a1: beside = 0, c1 } = bySite(thrice('a1', 3), thrice('a2', 3), thrice('c1', 1));
    expect(c1).toBe(1);
    expect(beside).toBeGreaterThan(alone);
    expect(bySite(thrice('a1', 3), thrice('a2', 3), thrice('c1', 3))).toEqual({ a1: 1, a2: 1, c1: 1 });
  });

  test('is one voice of all entry depots of a site against another one', () => {
    const c1 = way('c1', took(1, { isSeconded: false }));
    const slow = [1, 2, 3].map((number) => thrice(`a${number}`, 4));
    const of = (...ways: TakenWay[]) => bySite(...ways, c1)['a1'] ?? 0;
    expect(of(...slow)).toBe(of(...slow.slice(0, 1)));
    expect(factorsOf([...slow, c1])['a1']).toBeLessThan(0.9 * of(...slow));
  });

  test('takes the voice of no two entry depots that another one says it stands between', () => {
    const flattered = way('d9', took(0.1, { isSeconded: false }));
    const slow = [thrice('d1', 4), thrice('d2', 4)];
    const told = factorsOf([...slow, flattered]);
    for (const all of [
      [thrice('d0', 4), ...slow],
      [...slow, thrice('d0', 4)],
    ]) {
      const { d0, ...others } = factorsOf([...all, flattered], MODEL, (one, other) =>
        [one, other].includes('d9') ? one === other : AROUND_D0(one, other),
      );
      expect(others).toEqual(told);
      expect(d0).toBe(told['d1']);
    }
  });

  test('counts for chains that nobody took where two depots say it of chains over the same sites, and no more than they all say', () => {
    const factors = (...ways: TakenWay[]) => new Map(Object.entries(bySite(...ways)));
    const [one, other] = [thrice('a1-b1', 3), thrice('a2-b1', 3)];
    const of = (chain: string, ...ways: TakenWay[]) =>
      twinFactor(chain.split('-'), factors(...ways), BY_LETTER);
    const both = factors(one, other).get('a1,b1') ?? 0;
    for (const twin of ['a3-b2', 'a3-a4-b1', 'a1-b2']) {
      expect(of(twin, one)).toBe(1);
      expect(of(twin, one, other)).toBeGreaterThan(1.1);
      expect(of(twin, one, other)).toBeLessThan(both);
    }
    expect(of('a3-b1', one, other, thrice('a4-b1', 3))).toBeGreaterThan(of('a3-b1', one, other));
    expect(of('a1-b3', one, thrice('a1-b2', 3))).toBeGreaterThan(1.1);
    for (const chain of ['a3', 'a3-c1', 'c1-b1', 'a3-c1-b1', 'b1-a1']) expect(of(chain, one, other)).toBe(1);
    expect(of('a3-b1', one, other, thrice('a4-b1', 1))).toBe(1);
  });

  test('of one entry depot is held against no chain that nobody took of those beside it', () => {
    const lies = bySite(thrice('a0-b1', 4), thrice('a0-b2', 4), thrice('c1-b1', 1));
    expect(lies['a0,b1']).toBeGreaterThan(2);
    expect(twinFactor(['a1', 'b1'], new Map(Object.entries(lies)), BY_LETTER)).toBe(1);
    // Nor does it make more of the one time that it was slow.
    const once = [way('a1', took(3)), way('a2', ...often(4))];
    expect(bySite(...once)['a1']).toBe(1);
    // One that was fast is not doubted with its site.
    expect(bySite(thrice('a1', 0.7), thrice('a2', 3))['a1']).toBeLessThanOrEqual(1);
  });

  const download = fc.record({
    bodyBytes: fc.double({ min: 1, max: 1e13, noNaN: true }),
    lanes: fc.integer({ min: 1, max: 16 }),
    seconds: fc.double({ min: 1e-9, max: 1e9, noNaN: true }),
    timesPlanned: fc.double({ min: 1e-9, max: 1e9, noNaN: true }),
    isSeconded: fc.boolean(),
    agoMs: fc.double({ min: 0, max: 1e9, noNaN: true }),
  });
  const ways = fc.uniqueArray(
    fc.record({
      chain: fc.uniqueArray(fc.constantFrom('d1', 'd2', 'd3', 'd4'), { minLength: 1, maxLength: 4 }),
      downloads: fc.array(download, { minLength: 1, maxLength: 5 }),
    }),
    { selector: ({ chain }) => chain.join(), maxLength: 6 },
  );

  test('makes no chain more than a fifth faster than the others by the word of its entry depot alone', () => {
    fc.assert(
      fc.property(ways, ways, fc.double({ min: 1e-6, max: 1e6, noNaN: true }), (lies, others, seconds) => {
        const alone = lies.map(({ chain, downloads }) => ({
          chain: ['d0', ...chain],
          downloads: downloads.map((one) => ({ ...one, isSeconded: false })),
        }));
        const factors = factorsOf([...alone, ...others], () => seconds);
        for (const { chain } of alone) expect(factors[chain.join()]).toBeGreaterThanOrEqual(1 / 1.2 - 1e-9);
        for (const factor of Object.values(factors)) {
          expect(factor).toBeGreaterThanOrEqual(1 / 2.5);
          expect(factor).toBeLessThanOrEqual(4);
        }
      }),
    );
  });

  test('of one entry depot makes the chains of others slower by a fifth at most', () => {
    fc.assert(
      fc.property(ways, (all) => {
        const lies = all.map(({ chain, downloads }) => ({
          chain: ['d0', ...chain],
          downloads: downloads.map((one) => ({ ...one, isSeconded: false })),
        }));
        const honest = [way('d8', took(1)), way('d9', took(1))];
        for (const areAtOneSite of [APART, AROUND_D0, TOGETHER]) {
          const { d8, d9 } = factorsOf([...lies, ...honest], MODEL, areAtOneSite);
          expect(d8).toBeLessThanOrEqual(1.2);
          expect(d9).toBeLessThanOrEqual(1.2);
        }
      }),
    );
  });
});

const IDS = ['d1', 'd2', 'd3'];

/**
 * Depots beside a client and an origin far from each other; over `d2` everything takes a little longer, over
 * `d3` a little more.
 */
function planAfter(ways: readonly TakenWay[], more: Partial<RouteQuery> & { rttMs?: number } = {}): Route {
  const { rttMs = 200, ...query } = more;
  const links = IDS.flatMap((id, index) => [
    { between: ['client', id], rttMs: 50 + 5 * index, rateBps: 1e9 },
    { between: [id, 'origin'], rttMs: 50 + 5 * index, rateBps: 1e9 },
  ]);
  const direct = { between: ['client', 'origin'], rttMs, rateBps: 1e9 };
  const config = testConfig({ links: [direct, ...links] });
  const table = new LinkTable(config.links, config.planner.assumptions.windowBytes);
  const depots = IDS.map((id) => ({ id, tls: false, state: 'up' as const }));
  const asked = { sizeBytes: SIZE_BYTES, originTls: false, taken: ways, ...query };
  const planned = new Planner(config.planner, table).plan(asked, depots, NOW);
  if (!planned.ok) throw planned.error;
  return planned.value;
}

describe('a plan', () => {
  const { seconds } = planAfter([]).prediction;
  const directSeconds = (rttMs: number) => planAfter([], { rttMs }).direct.seconds;
  const over = (chain: string, times: number): TakenWay =>
    way(chain, took(times, { seconds: times * seconds }));

  test('leaves a chain that took longer than others', () => {
    expect(planAfter([]).chain).toEqual(['d1']);
    expect(planAfter([over('d1', 2), over('d2', 1.1)]).chain).toEqual(['d2']);
  });

  test('stays where all took as much longer, and says how long', () => {
    const stayed = planAfter([over('d1', 2), over('d2', 2), over('d3', 2)]);
    expect(stayed.chain).toEqual(['d1']);
    expect(stayed.reasons.join(' ')).toMatch(/took 1\.[4-9] times as long over this chain as their legs say/);
    expect(stayed.prediction.seconds).toBeGreaterThan(1.3 * seconds);
    expect(stayed.reasons.join(' ')).toContain(`(${formatSeconds(seconds)} by its legs), a direct download`);
  });

  test('takes a chain again that none of the fastest is as good as', () => {
    const kept = [over('d1', 3), over('d2', 3), over('d3', 0.8)];
    expect(planAfter(kept).chain).toEqual(['d3']);
  });

  const rtts = Array.from({ length: 40 }, (_, index) => 20 + 4 * index);
  const decisions = (ways: readonly TakenWay[]) => rtts.map((rttMs) => planAfter(ways, { rttMs }).decision);

  test('is not held against the direct way by a chain that flatters itself', () => {
    expect(new Set(decisions([]))).toEqual(new Set(['chain', 'direct']));
    expect(decisions([over('d1', 0.5), over('d2', 1), over('d3', 1)])).toEqual(decisions([]));
  });

  test('goes direct rather than over chains that took too long, unless they gain much by their legs', () => {
    const slow = [over('d1', 4), over('d2', 4), over('d3', 4)];
    const [before, after] = [decisions([]), decisions(slow)];
    const chains = (all: readonly string[]) => all.filter((decision) => decision === 'chain').length;
    expect(after.every((decision, at) => decision === 'direct' || before[at] === 'chain')).toBe(true);
    expect(chains(after)).toBeLessThan(chains(before));
    expect(after.at(-1)).toBe('chain');
    // One that keeps its promise is taken as if there were no other.
    expect(planAfter([over('d1', 4), over('d2', 1)], { rttMs: rtts.at(-1) }).chain).toEqual(['d2']);
  });

  test('goes direct where downloads over chains take longer than that would, however much is in common, and tries them again when that is long ago', () => {
    const often = (times: number, agoMs: number) =>
      IDS.map((id) => {
        const each = { seconds: times * seconds, agoMs };
        return way(id, ...Array.from({ length: 5 }, () => took(times, each)));
      });
    const [rttMs, hourMs] = [120, 3_600_000];
    expect(planAfter([], { rttMs }).decision).toBe('chain');
    for (const times of [4, 1000]) {
      // What all ways of a pair have in common changes no decision.
      for (const calibration of [1, 2])
        expect(planAfter(often(times, 0), { rttMs, calibration }).decision).toBe('direct');
      expect(planAfter(often(times, hourMs), { rttMs }).decision).toBe('chain');
    }
    expect(planAfter(often(1.2, 0), { rttMs }).decision).toBe('chain');
    // Clients tell that it takes as much longer directly.
    const takenDirect = Array.from({ length: 5 }, () => took(4, { seconds: 4 * directSeconds(rttMs) }));
    expect(planAfter(often(4, 0), { rttMs, takenDirect }).decision).toBe('chain');
  });

  test.each([5, 20])(
    'goes direct after a few downloads that took longer than that, also where chains gain %d times by their legs',
    (gain) => {
      const isFar = (rttMs: number) => directSeconds(rttMs) >= gain * seconds;
      const rttMs = Array.from({ length: 5000 }, (_, index) => 100 + 20 * index).find(isFar);
      const took3 = (chain: string, agoMs = 0) =>
        way(chain, ...[1, 2, 3].map(() => took(1000, { seconds: 1000 * seconds, agoMs })));
      expect(planAfter([], { rttMs }).chain).toEqual(['d1']);
      const all = IDS.map((id) => took3(id));
      expect(planAfter(all, { rttMs })).toMatchObject({ decisionReason: 'chain-disappoints' });
      // One alone may be an accident, and what is an hour old is forgotten.
      const once = IDS.map((id) => over(id, 1000));
      expect(planAfter(once, { rttMs }).decision).toBe('chain');
      expect(
        planAfter(
          IDS.map((id) => took3(id, 3_600_000)),
          { rttMs },
        ).decision,
      ).toBe('chain');
    },
  );

  test('is not led to learn by a chain that flatters itself, where direct is better', () => {
    const reasons = (ways: readonly TakenWay[]) =>
      rtts.map((rttMs) => planAfter(ways, { rttMs, exploring: { mostRegret: 0.25 } }).decision);
    expect(reasons([over('d1', 0.5), over('d2', 1), over('d3', 1)])).toEqual(reasons([]));
  });
});

/**
 * So many depots at a site beside the client, or the origin, 1 ms apart, whose others are a little further
 * away: c and e.
 */
const SITES = { a: 5, c: 12, b: 5, e: 8 } as const;

describe('a site of many depots', () => {
  /**
   * Takes one plan after the other, each download of which takes so many times as long as its legs say, and
   * gives the chains.
   */
  function chainsOf(
    ids: readonly string[],
    times: (chain: string) => number,
    { downloads, before = [] }: { readonly downloads: number; readonly before?: readonly TakenWay[] },
  ): string[] {
    const between = ids.flatMap((one, index) =>
      ids.slice(index + 1).map((other) => {
        const isNear = one[0] === other[0];
        const isAcross = 'ac'.includes(one[0] ?? '') !== 'ac'.includes(other[0] ?? '');
        return { between: [one, other], rttMs: isNear ? 1 : isAcross ? 90 : 10, rateBps: 1e8 };
      }),
    );
    const ends = ids.map((id) => {
      const [site, place] = [(id[0] ?? 'a') as keyof typeof SITES, Number(id.slice(1))];
      const end = 'ac'.includes(site) ? ['client', id] : [id, 'origin'];
      return { between: end, rttMs: SITES[site] + place / 100, rateBps: 1e8 };
    });
    const direct = { between: ['client', 'origin'], rttMs: 110, lossRate: 0.003, rateBps: 1e8 };
    const config = testConfig({ links: [direct, ...ends, ...between] });
    const table = new LinkTable(config.links, config.planner.assumptions.windowBytes);
    const planner = new Planner(config.planner, table);
    const depots = ids.map((id) => ({ id, tls: false, state: 'up' as const }));
    const book = new WayBook(undefined, (one, other) => table.areAtOneSite(one, other));
    const pair = { network: '192.0.2.0/24', host: 'origin.example' };
    const taken: string[] = [];
    for (let number = 0; number < downloads; number += 1) {
      const nowMs = NOW + number * 10_000;
      const asked = { sizeBytes: 1e8, originTls: false, taken: [...before, ...book.of(pair, nowMs)] };
      const planned = planner.plan(asked, depots, nowMs);
      if (!planned.ok) throw planned.error;
      const { chain, lanes, prediction } = planned.value;
      const key = chain.join('-');
      taken.push(key);
      const each = times(key);
      const seconds = each * (prediction.seconds / (prediction.calibration ?? 1));
      const told = { bodyBytes: 1e8, lanes, seconds, timesPlanned: each, isSeconded: true };
      if (chain.length > 0) book.note(pair, { jobId: String(number), chain, ...told }, nowMs);
    }
    return taken;
  }
  const site = (letter: string, depots: number) =>
    Array.from({ length: depots }, (_, place) => `${letter}${place + 1}`);
  const slowOver = (letter: string) => (chain: string) => (chain.includes(letter) ? 3 : 1);

  test('that is slow in a way that nobody measures is left for another one', () => {
    const taken = chainsOf(['a1', 'a2', 'c1', 'b1'], slowOver('a'), { downloads: 12 });
    expect(taken[0]).toBe('a1-b1');
    expect(taken.slice(6)).toEqual(Array.from({ length: 6 }, () => 'c1-b1'));
  });

  test('is left as well where it has six depots, and the site at the other end, before each of their chains has disappointed', () => {
    const ids = [...site('a', 6), 'c1', ...site('b', 6)];
    const taken = chainsOf(ids, slowOver('a'), { downloads: 24 });
    expect(taken[0]?.[0]).toBe('a');
    expect(taken.slice(12).map((chain) => chain[0])).toEqual(Array.from({ length: 12 }, () => 'c'));
  });

  test('is left at the end of the origin for another one there', () => {
    const taken = chainsOf(['a1', ...site('b', 6), 'e1'], slowOver('b'), { downloads: 24 });
    expect(taken[0]).toBe('a1-b1');
    expect(taken.slice(12)).toEqual(Array.from({ length: 12 }, () => 'a1-e1'));
  });

  test('is stayed with where the other one takes as long', () => {
    const taken = chainsOf(['a1', 'a2', 'c1', 'b1'], () => 3, { downloads: 16 });
    expect(taken).toContain('c1-b1');
    expect(taken.slice(10)).toEqual(Array.from({ length: 6 }, () => 'a1-b1'));
  });

  test('is not left for the word of one of its depots', () => {
    const lies = ['a2-b1', 'a2-b2'].map((chain) => {
      const each = { bodyBytes: 1e8, seconds: 100, isSeconded: false };
      return way(chain, ...Array.from({ length: 5 }, () => took(4, each)));
    });
    const taken = chainsOf(['a1', 'a2', 'c1', 'b1', 'b2'], () => 1, { downloads: 4, before: lies });
    expect(taken).toEqual(Array.from({ length: 4 }, () => 'a1-b1'));
  });
});
