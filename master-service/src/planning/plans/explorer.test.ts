import { planAnswerSchema } from '@longhaul/shared';
import { expect, onTestFinished, test } from 'vitest';
import { startMaster, type TestMaster, testConfig } from '../../testing/start-master.ts';
import { registerDepots } from '../../testing/test-depot.ts';
import { Planner } from '../decision/planner.ts';
import type { Route, RouteQuery } from '../decision/route.ts';
import { LinkTable } from '../links/link-table.ts';
import { Explorer } from './explorer.ts';

const NOW = 1_795_000_000_000;

/** Two ways of the same kind: by d1, which has been measured well, and by d2, of which one report tells so much. */
function planWith(overD2Bps: number, query: Partial<RouteQuery> = {}): Route {
  const config = testConfig({
    links: [
      { between: ['client', 'origin'], rttMs: 200, lossRate: 0.01, rateBps: 1e9 },
      ...['d1', 'd2'].map((id) => ({ between: ['client', id], rttMs: 5, rateBps: 1e9 })),
      { between: ['x', 'origin'], rttMs: 5, rateBps: 1e9 },
    ],
  });
  const table = new LinkTable(config.links, config.planner.assumptions.windowBytes);
  const report = (from: string, goodputBps: number, times: number) => {
    for (let index = 0; index < times; index += 1)
      table.report(from, { to: 'x', rttMs: 190, goodputBps }, NOW);
    for (let index = 0; index < times; index += 1)
      table.report('x', { to: from, rttMs: 190, goodputBps }, NOW);
  };
  report('d1', 100e6, 30);
  report('d2', overD2Bps, 3);
  const depots = ['d1', 'd2', 'x'].map((id) => ({ id, tls: false, state: 'up' as const }));
  const asked = { sizeBytes: 1e9, originTls: false, lanes: 1, ...query };
  const planned = new Planner(config.planner, table).plan(asked, depots, NOW);
  if (!planned.ok) throw planned.error;
  return planned.value;
}

test('a download that may be used to learn takes a chain that may turn out faster, and says so', () => {
  expect(planWith(97e6).chain).toEqual(['d1', 'x']);
  const route = planWith(97e6, { exploring: { mostRegret: 1 } });
  expect(route).toMatchObject({ chain: ['d2', 'x'], decisionReason: 'to-learn' });
  expect(route.reasons.join(' ')).toContain('client - d2 - x - origin is taken to learn');
});

test('nothing is taken to learn that could turn out slower than the bound', () => {
  expect(planWith(97e6, { exploring: { mostRegret: 0.01 } }).chain).toEqual(['d1', 'x']);
  expect(planWith(20e6, { exploring: { mostRegret: 0.25 } }).chain).toEqual(['d1', 'x']);
});

test('nothing is taken to learn where nothing is unsure', () => {
  const config = testConfig();
  const table = new LinkTable(config.links, config.planner.assumptions.windowBytes);
  const depots = ['d1', 'd2', 'd3'].map((id) => ({ id, tls: false, state: 'up' as const }));
  const query = { sizeBytes: 1e9, originTls: false, exploring: { mostRegret: 1 } };
  const planned = new Planner(config.planner, table).plan(query, depots, NOW);
  expect(planned).toMatchObject({ value: { chain: ['d1', 'd2'], decisionReason: 'chain-faster' } });
});

test('a client whose network prefers direct is no part of it', () => {
  const route = planWith(97e6, { exploring: { mostRegret: 1 }, isDirectPreferred: true });
  expect(route).toMatchObject({ decision: 'direct', decisionReason: 'direct-preferred' });
});

test('so many downloads are used as the share says, more to meet depots that may be near, and never two of one client in a row', () => {
  const usedOf = (mayMeet: boolean) => {
    let drawn = 0;
    const explorer = new Explorer({ share: 0.1, mostRegret: 0.25, random: () => (drawn++ % 20) / 20 });
    let [used, inARow, before] = [0, 0, false];
    for (let download = 0; download < 1000; download += 1) {
      const exploring = explorer.next('192.0.2.1');
      const isUsed = exploring !== undefined && (mayMeet || !exploring.isToMeet);
      explorer.note('192.0.2.1', isUsed);
      used += Number(isUsed);
      inARow += Number(isUsed && before);
      before = isUsed;
    }
    return { used, inARow };
  };
  // Of two draws in a row that would, one is let go.
  expect(usedOf(false)).toEqual({ used: 50, inARow: 0 });
  expect(usedOf(true)).toEqual({ used: 250, inARow: 0 });
  const off = new Explorer({ share: 0, mostRegret: 0.25, random: () => 0 });
  expect(off.next('192.0.2.1')).toBeUndefined();
});

test('a master learns by some downloads, counts them, and explains them as they were given', async () => {
  const master: TestMaster = await startMaster({
    config: {
      links: [
        { between: ['client', 'origin'], rttMs: 200, lossRate: 0.01, rateBps: 1e9 },
        ...['d1', 'd2'].map((id) => ({ between: ['client', id], rttMs: 5, rateBps: 1e9 })),
        { between: ['d3', 'origin'], rttMs: 5, rateBps: 1e9 },
      ],
      planner: { maxLanes: 1, explore: { share: 0.2, mostRegret: 1 } },
    },
    random: () => 0,
  });
  onTestFinished(() => master.master.close());
  const [d1, d2, d3] = await registerDepots(master, 'd1', 'd2', 'd3');
  for (const [depot, goodputBps] of [
    [d1, 100e6],
    [d2, 97e6],
  ] as const)
    for (let index = 0; index < 3; index += 1) {
      const measured = { rttMs: 190, goodputBps };
      await depot?.heartbeat(master, { links: [{ to: 'd3', ...measured }] });
      await d3?.heartbeat(master, { links: [{ to: depot?.id ?? '', ...measured }] });
    }
  const target = (path: string) => `${master.url}/get/~size=1000000000/https/origin.example/${path}`;
  const jobOf = async (path: string) =>
    (await fetch(target(path), { redirect: 'manual' })).headers.get('longhaul-job');
  const explain = async (path: string) => {
    const body = JSON.stringify({ url: `https://origin.example/${path}`, sizeBytes: 1e9 });
    const answer = await fetch(`${master.url}/v1/plans`, { method: 'POST', body });
    return planAnswerSchema.parse(await answer.json());
  };
  const first = await jobOf('a');
  expect(await explain('a')).toMatchObject({ jobId: first, decisionReason: 'to-learn', chain: ['d2', 'd3'] });
  expect(await explain('b')).toMatchObject({ decisionReason: 'chain-faster', chain: ['d1', 'd3'] });
  expect(await explain('c')).toMatchObject({ decisionReason: 'to-learn', chain: ['d2', 'd3'] });
  const metrics = await (await fetch(`${master.url}/metrics`)).text();
  expect(metrics).toContain('longhaul_master_explored_total 2');
});
