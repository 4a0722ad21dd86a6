import { type PlanAnswer, planAnswerSchema } from '@longhaul/shared';
import { afterEach, expect, test } from 'vitest';
import { InProcessBus, type InProcessMeeting } from '../bus/in-process-bus.ts';
import { startMaster, TEST_LINKS, TestClock, type TestMaster } from '../testing/start-master.ts';
import { registerDepots, type TestDepot } from '../testing/test-depot.ts';
import { WayBook, type WholeDownload } from './way-book.ts';

const NOW = 1_795_000_000_000;
const MINUTE_MS = 60_000;
const PAIR = { network: '192.0.2.0/24', host: 'origin.example' };

const over = (chain: string, timesPlanned: number): WholeDownload => ({
  chain: chain.split('-'),
  bodyBytes: 1e7,
  lanes: 1,
  seconds: 2 * timesPlanned,
  timesPlanned,
});
const factorOf = (book: WayBook, chain: string, nowMs: number) =>
  book.of(PAIR, nowMs)?.factor(chain.split('-'), 1e7, () => 2);

test('what downloads took is known of their own network and origin, for two hours', () => {
  const book = new WayBook();
  book.note(PAIR, over('d1-d2', 3), NOW);
  expect(factorOf(book, 'd1-d2', NOW + MINUTE_MS)).toBeGreaterThan(2);
  expect(book.of({ ...PAIR, network: '192.0.3.0/24' }, NOW)).toBeUndefined();
  expect(book.of({ ...PAIR, host: 'other.example' }, NOW)).toBeUndefined();
  expect(book.of(PAIR, NOW + 121 * MINUTE_MS)?.chains ?? []).toEqual([]);
});

test('of a pair the six chains are remembered that were taken last, by their three last downloads', () => {
  const book = new WayBook();
  for (let time = 0; time < 8; time += 1) book.note(PAIR, over(`d${time}`, 1), NOW + time * MINUTE_MS);
  const nowMs = NOW + 8 * MINUTE_MS;
  expect(book.of(PAIR, nowMs)?.chains.map((chain) => chain.join())).toEqual(
    [7, 6, 5, 4, 3, 2].map((number) => `d${number}`),
  );
  book.note(PAIR, over('d2', 4), nowMs);
  for (let time = 0; time < 3; time += 1) book.note(PAIR, over('d2', 1), nowMs + time);
  expect(factorOf(book, 'd2', nowMs + 3)).toBeCloseTo(1, 6);
});

const masters: TestMaster[] = [];
afterEach(async () => {
  for (const { master } of masters.splice(0)) await master.close();
});

async function start(init: Parameters<typeof startMaster>[0] = {}): Promise<TestMaster> {
  // d3 is nearly as good as d1.
  const links = TEST_LINKS.map((link) =>
    link.between[0] === 'd3' ? { ...link, rttMs: 210 } : { ...link, rateBps: 200e6 },
  );
  const master = await startMaster({ config: { links }, ...init });
  masters.push(master);
  return master;
}

async function planOf({ url }: TestMaster, path: string): Promise<PlanAnswer> {
  const body = JSON.stringify({ url: `https://origin.example/${path}`, sizeBytes: 1e8 });
  const answer = await fetch(`${url}/v1/plans`, { method: 'POST', body });
  return planAnswerSchema.parse(await answer.json());
}

/** Has a plan's file of 100 MB take so many times as long as predicted, as its entry depot tells. */
async function take(
  master: TestMaster,
  depots: readonly TestDepot[],
  plan: PlanAnswer,
  times: number,
  limitedBy: 'receiver' | 'congestion-window' = 'congestion-window',
): Promise<void> {
  const { jobId, chain, prediction } = plan;
  const seconds = times * (prediction.seconds / (prediction.calibration ?? 1));
  const none = { connections: 1, retransmittedBytes: 0, receivedBytes: 0 };
  const legs = [{ ...none, peer: 'client', sentBytes: 1e8, rttMs: 5, limitedBy }] as const;
  const download = {
    requests: 1,
    bodyBytes: 1e8,
    seconds,
    isWhole: true,
    outcome: 'complete',
    chain,
  } as const;
  const entry = depots.find(({ id }) => id === chain[0]);
  await entry?.heartbeat(master, { jobs: [{ jobId, seconds, legs: [...legs], download }] });
}

test('a chain that disappoints is left for one that does not, and never taken in turns with it', async () => {
  const master = await start();
  const depots = await registerDepots(master, 'd1', 'd2', 'd3');
  const times: Record<string, number> = { 'd1,d2': 3, 'd3,d2': 1.1 };
  const taken: string[] = [];
  for (let time = 0; time < 8; time += 1) {
    const plan = await planOf(master, String(time));
    taken.push(plan.chain.join());
    await take(master, depots, plan, times[plan.chain.join()] ?? 1);
    master.clock.advance(2);
    for (const depot of depots) await depot.heartbeat(master);
  }
  expect(taken[0]).toBe('d1,d2');
  expect(taken.slice(2)).toEqual(taken.slice(2).map(() => 'd3,d2'));
});

test('a client that reads slowly says nothing of its chain', async () => {
  const master = await start();
  const depots = await registerDepots(master, 'd1', 'd2', 'd3');
  for (let time = 0; time < 3; time += 1) {
    const plan = await planOf(master, String(time));
    expect(plan.chain).toEqual(['d1', 'd2']);
    await take(master, depots, plan, 3, 'receiver');
    master.clock.advance(2);
    for (const depot of depots) await depot.heartbeat(master);
  }
  expect((await planOf(master, 'then')).chain).toEqual(['d1', 'd2']);
});

test('what one master has seen of a chain another one plans by', async () => {
  const meeting: InProcessMeeting = new Set();
  const clock = new TestClock();
  const one = await start({ bus: new InProcessBus('one', meeting), clock });
  const two = await start({ bus: new InProcessBus('two', meeting), clock });
  const depots = await registerDepots(one, 'd1', 'd2', 'd3');
  await expect.poll(async () => (await planOf(two, 'before')).chain).toEqual(['d1', 'd2']);
  await take(one, depots, await planOf(one, '0'), 3);
  clock.advance(2);
  for (const depot of depots) await depot.heartbeat(one);
  await expect.poll(async () => (await planOf(two, 'after')).chain).toEqual(['d3', 'd2']);
});
