import { type JobDownload, type PlanAnswer, planAnswerSchema } from '@longhaul/shared';
import { afterEach, expect, test } from 'vitest';
import { InProcessBus, type InProcessMeeting } from '../bus/in-process-bus.ts';
import { startMaster, TEST_LINKS, TestClock, type TestMaster } from '../testing/start-master.ts';
import { registerDepots, type TestDepot } from '../testing/test-depot.ts';
import { WayBook, type WholeDownload } from './way-book.ts';

const NOW = 1_795_000_000_000;
const MINUTE_MS = 60_000;
const PAIR = { network: '192.0.2.0/24', host: 'origin.example' };

const over = (chain: string, seconds: number, jobId = `${chain}-${seconds}`): WholeDownload => ({
  jobId,
  chain: chain.split('-'),
  bodyBytes: 1e7,
  lanes: 1,
  seconds,
  timesPlanned: 1,
  isSeconded: false,
});
const secondsIn = (book: WayBook, nowMs: number) =>
  Object.fromEntries(
    book
      .of(PAIR, nowMs)
      .map(({ chain, downloads }) => [chain.join('-'), downloads.map((one) => one.seconds)]),
  );

test('what downloads took is known of their own network and origin, for two hours', () => {
  const book = new WayBook();
  book.note(PAIR, over('d1-d2', 3), NOW);
  expect(secondsIn(book, NOW + MINUTE_MS)).toEqual({ 'd1-d2': [3] });
  expect(book.of({ ...PAIR, network: '192.0.3.0/24' }, NOW)).toEqual([]);
  expect(book.of({ ...PAIR, host: 'other.example' }, NOW)).toEqual([]);
  expect(book.of(PAIR, NOW + 121 * MINUTE_MS)).toEqual([]);
});

test('of a pair the six chains are remembered that were taken last, by their five last downloads', () => {
  const book = new WayBook();
  for (let time = 0; time < 8; time += 1) book.note(PAIR, over(`d${time}`, 1), NOW + time * MINUTE_MS);
  const nowMs = NOW + 8 * MINUTE_MS;
  expect(Object.keys(secondsIn(book, nowMs))).toEqual([7, 6, 5, 4, 3, 2].map((number) => `d${number}`));
  for (let time = 2; time < 9; time += 1) book.note(PAIR, over('d2', time), nowMs + time);
  expect(secondsIn(book, nowMs + 9)['d2']).toEqual([8, 7, 6, 5, 4]);
});

test('however many chains of one site are taken, one is remembered that begins elsewhere', () => {
  const book = new WayBook(undefined, (one, other) => one[0] === other[0]);
  book.note(PAIR, over('c1', 1), NOW);
  book.note(PAIR, over('e1', 1), NOW + 1);
  for (let time = 0; time < 8; time += 1) book.note(PAIR, over(`a${time}-b1`, 3), NOW + 2 + time);
  const kept = [7, 6, 5, 4, 3].map((number) => `a${number}-b1`);
  expect(Object.keys(secondsIn(book, NOW + 10))).toEqual([...kept, 'e1']);
  book.note(PAIR, over('c1', 1), NOW + 11);
  expect(Object.keys(secondsIn(book, NOW + 11))).toEqual(['c1', ...kept]);
});

test('of one job the last word counts', () => {
  const book = new WayBook();
  book.note(PAIR, over('d1', 3, 'a-job'), NOW);
  book.note(PAIR, over('d1', 2, 'a-job'), NOW + 1000);
  expect(secondsIn(book, NOW + 1000)).toEqual({ d1: [2] });
});

test('what direct downloads took is known beside the chains, by their five last ones', () => {
  const book = new WayBook();
  book.note(PAIR, over('d1', 3), NOW);
  for (let seconds = 1; seconds < 8; seconds += 1)
    book.note(PAIR, { ...over('d1', seconds, `direct-${seconds}`), chain: [] }, NOW + seconds);
  expect(book.direct(PAIR, NOW + 8).map(({ seconds }) => seconds)).toEqual([7, 6, 5, 4, 3]);
  expect(secondsIn(book, NOW + 8)).toEqual({ d1: [3] });
  book.note(PAIR, over('d2', 3), NOW + 9);
  book.forgetFrom('d2');
  expect(book.direct(PAIR, NOW + 9)).toHaveLength(5);
  expect(book.direct(PAIR, NOW + 121 * MINUTE_MS)).toEqual([]);
});

test('of one client two downloads count, as soon as another one has told: a slow line is no fault of the way', () => {
  const book = new WayBook();
  const by = (client: string, seconds: number) => ({ ...over('d1', seconds), client });
  for (let time = 0; time < 6; time += 1) book.note(PAIR, by('slow', 90 + time), NOW + time);
  expect(secondsIn(book, NOW + 6)).toEqual({ d1: [95, 94, 93, 92, 91] });
  book.note(PAIR, by('quick', 3), NOW + 7);
  expect(secondsIn(book, NOW + 7)).toEqual({ d1: [3, 95, 94] });
  book.note(PAIR, by('quick', 4), NOW + 8);
  for (let time = 9; time < 14; time += 1) book.note(PAIR, by('slow', 90 + time), NOW + time);
  expect(secondsIn(book, NOW + 14)).toEqual({ d1: [103, 102, 4, 3] });
  // Of direct downloads as well; and of those whose client nobody told each counts.
  for (const client of ['slow', 'slow', 'slow', 'quick'])
    book.note(PAIR, { ...by(client, 1), jobId: `${Math.random()}`.slice(2, 12), chain: [] }, NOW + 15);
  expect(book.direct(PAIR, NOW + 15)).toHaveLength(3);
  for (let time = 16; time < 20; time += 1) book.note(PAIR, over('d1', time), NOW + time);
  expect(secondsIn(book, NOW + 20)).toEqual({ d1: [19, 18, 17, 16, 103] });
});

test('who is not believed any more loses the ways that it was the entry depot of', () => {
  const book = new WayBook();
  for (const chain of ['liar-d2', 'd2-liar', 'd3']) book.note(PAIR, over(chain, 3), NOW);
  book.forgetFrom('liar');
  expect(Object.keys(secondsIn(book, NOW)).toSorted()).toEqual(['d2-liar', 'd3']);
});

test('a client network that downloads from many origins has its own oldest forgotten', () => {
  const book = new WayBook();
  book.note(PAIR, over('d1', 3), NOW);
  const busy = (index: number) => ({ network: '198.51.100.0/24', host: `origin${index}.example` });
  for (let index = 0; index < 5000; index += 1) book.note(busy(index), over('d1', 3), NOW + 1 + index);
  expect(book.of(PAIR, NOW + 6000)).toHaveLength(1);
  expect(book.of(busy(0), NOW + 6000)).toHaveLength(0);
  expect(book.of(busy(4999), NOW + 6000)).toHaveLength(1);
});

const masters: TestMaster[] = [];
afterEach(async () => {
  for (const { master } of masters.splice(0)) await master.close();
});

/** d3 is nearly as good as d1. */
const LINKS = TEST_LINKS.map((link) =>
  link.between[0] === 'd3' ? { ...link, rttMs: 210 } : { ...link, rateBps: 200e6 },
);

async function start(init: Parameters<typeof startMaster>[0] = {}): Promise<TestMaster> {
  const master = await startMaster({ ...init, config: { links: LINKS, ...init.config } });
  masters.push(master);
  return master;
}

async function planOf({ url }: TestMaster, path: string, more = {}): Promise<PlanAnswer> {
  const body = JSON.stringify({ url: `https://origin.example/${path}`, sizeBytes: 1e8, ...more });
  const answer = await fetch(`${url}/v1/plans`, { method: 'POST', body });
  return planAnswerSchema.parse(await answer.json());
}

/** Has a plan's file take so many times as long as predicted, as its entry depot tells, with what it tells more. */
async function take(
  master: TestMaster,
  depots: readonly TestDepot[],
  plan: PlanAnswer,
  times: number,
  limitedBy: 'receiver' | 'idle' | 'congestion-window' = 'congestion-window',
  isSeconded = false,
  { waitedSeconds = 0, ...more }: Partial<JobDownload> = {},
): Promise<void> {
  const { jobId, chain, prediction, sizeBytes } = plan;
  const seconds = waitedSeconds + times * (prediction.seconds / (prediction.calibration ?? 1));
  const none = { connections: 1, retransmittedBytes: 0, receivedBytes: 0 };
  const legs = [{ ...none, peer: 'client', sentBytes: sizeBytes, rttMs: 5, limitedBy }] as const;
  const download = {
    requests: 1,
    bodyBytes: sizeBytes,
    seconds,
    isWhole: true,
    outcome: 'complete',
    chain,
    waitedSeconds,
    ...more,
  } as const;
  const entry = depots.find(({ id }) => id === chain[0]);
  await entry?.heartbeat(master, { jobs: [{ jobId, seconds, legs: [...legs], download }] });
  if (!isSeconded) return;
  const second = depots.find(({ id }) => id === chain[1]);
  const sent = { ...none, peer: chain[0] ?? '', sentBytes: sizeBytes, rttMs: 190 };
  await second?.heartbeat(master, { jobs: [{ jobId, seconds, legs: [sent] }] });
}

/** Eight downloads in a row, over each chain so many times as long as its legs say. */
async function chainsTaken(
  master: TestMaster,
  depots: readonly TestDepot[],
  times: (chain: string) => number,
  limitedBy?: 'receiver' | 'idle',
  more: Partial<JobDownload> = {},
): Promise<string[]> {
  const taken: string[] = [];
  for (let time = 0; time < 8; time += 1) {
    const plan = await planOf(master, String(time));
    const chain = plan.chain.join('-');
    taken.push(chain);
    await take(master, depots, plan, times(chain), limitedBy, false, more);
    master.clock.advance(2);
    for (const depot of depots) await depot.heartbeat(master);
  }
  return taken;
}

/** Has the network come over the other chain once: there is something to compare with. */
async function takeOther(master: TestMaster, depots: readonly TestDepot[], times: number): Promise<void> {
  const other = await planOf(master, 'other', { avoid: ['d1'] });
  expect(other.chain).toEqual(['d3', 'd2']);
  await take(master, depots, other, times);
}

test('a chain that disappoints is left for one that does not, and never taken in turns with it', async () => {
  const master = await start();
  const depots = await registerDepots(master, 'd1', 'd2', 'd3');
  await takeOther(master, depots, 1);
  const taken = await chainsTaken(master, depots, (chain) => (chain === 'd1-d2' ? 3 : 1));
  expect(taken[0]).toBe('d1-d2');
  expect(taken.slice(4)).toEqual(Array.from({ length: 4 }, () => 'd3-d2'));
});

/**
 * The same chain by eight plans, each of whose downloads leaves it after a fifth of the file, and has the
 * rest so many times as fast.
 */
async function chainsLeft(times: number): Promise<string[]> {
  const master = await start();
  const depots = await registerDepots(master, 'd1', 'd2', 'd3');
  await takeOther(master, depots, 1);
  const taken: string[] = [];
  for (let time = 0; time < 8; time += 1) {
    const { jobId, chain, prediction } = await planOf(master, String(time));
    taken.push(chain.join('-'));
    const left = { chain, bytes: 2e7, seconds: prediction.seconds, meanBps: 1.6e8 / prediction.seconds };
    const seconds = left.seconds * (1 + 4 / times);
    const [entry = ''] = chain;
    const download = {
      requests: 1,
      bodyBytes: 1e8,
      seconds,
      isWhole: true,
      outcome: 'complete' as const,
      ...(entry === 'd1'
        ? {
            chain: ['d1'],
            left,
          }
        : {
            chain,
            seconds: prediction.seconds,
          }),
    };
    const depot = depots.find(({ id }) => id === entry);
    await depot?.heartbeat(master, { jobs: [{ jobId, seconds, legs: [], download }] });
    master.clock.advance(2);
    for (const one of depots) await one.heartbeat(master);
  }
  return taken;
}

test('who is the entry depot of another chain of the ticket tells of no chain that was left', async () => {
  const master = await start();
  const depots = await registerDepots(master, 'd1', 'd2', 'd3');
  await takeOther(master, depots, 1);
  for (let time = 0; time < 4; time += 1) {
    const { jobId, chain, prediction, alternatives } = await planOf(master, String(time));
    expect(chain).toEqual(['d1', 'd2']);
    const liar = depots.find(({ id }) => id === alternatives.find(([entry]) => entry !== 'd1')?.[0]);
    const left = { chain, bytes: 1, seconds: 100, meanBps: 1 };
    const download = {
      requests: 1,
      bodyBytes: 1e8,
      seconds: 101,
      isWhole: true,
      outcome: 'complete' as const,
      left,
    };
    await liar?.heartbeat(master, {
      jobs: [{ jobId, seconds: 101, legs: [], download: { ...download, chain: [liar.id] } }],
    });
    expect(liar).toBeDefined();
    expect(prediction.seconds).toBeLessThan(50);
    master.clock.advance(2);
    for (const one of depots) await one.heartbeat(master);
  }
});

test('a chain that downloads leave for being slow is left by plans, but not where they get no more over another one', async () => {
  const better = await chainsLeft(8);
  expect(better[0]).toBe('d1-d2');
  expect(better.slice(4)).toEqual(Array.from({ length: 4 }, () => 'd3-d2'));
  expect(new Set(await chainsLeft(1.2))).toEqual(new Set(['d1-d2']));
});

test('a chain whose downloads are given up, long after they should have come, is left by plans', async () => {
  const chains = async (times: number) => {
    const master = await start();
    const depots = await registerDepots(master, 'd1', 'd2', 'd3');
    await takeOther(master, depots, 1);
    const givenUp = { isWhole: false, outcome: 'client-left', bodyBytes: 3e7 } as const;
    return chainsTaken(master, depots, (chain) => (chain === 'd1-d2' ? times : 1), 'idle', givenUp);
  };
  const slow = await chains(5);
  expect(slow[0]).toBe('d1-d2');
  expect(slow.slice(4)).toEqual(Array.from({ length: 4 }, () => 'd3-d2'));
  expect(new Set(await chains(0.5))).toEqual(new Set(['d1-d2']));
});

test('where the operator wants plans from links alone, no download changes them', async () => {
  const master = await start({ config: { planner: { learnWays: false } } });
  const depots = await registerDepots(master, 'd1', 'd2', 'd3');
  await takeOther(master, depots, 1);
  const taken = await chainsTaken(master, depots, (chain) => (chain === 'd1-d2' ? 3 : 1));
  expect(new Set(taken)).toEqual(new Set(['d1-d2']));
});

test('a network whose downloads take longer over all chains stays with its chain', async () => {
  const master = await start();
  const depots = await registerDepots(master, 'd1', 'd2', 'd3');
  await takeOther(master, depots, 3);
  const taken = await chainsTaken(master, depots, () => 3);
  expect(new Set(taken)).toEqual(new Set(['d1-d2']));
});

/** Has a client tell that the file of a plan took so many times as long as predicted. */
async function tell({ url }: TestMaster, { jobId, prediction }: PlanAnswer, times: number): Promise<void> {
  const measured = { bytes: 1e8, seconds: times * prediction.seconds };
  const body = JSON.stringify({ jobId, verdict: 'worked', measured });
  expect((await fetch(`${url}/v1/feedback`, { method: 'POST', body })).status).toBe(200);
}

/** The direct way is a little better than the chains. */
const NEARLY = LINKS.map((link, index) => (index === 0 ? { ...link, rttMs: 120, lossRate: 0 } : link));

test('a direct way that takes longer than is worked out of it is left for a chain, which is kept where it is faster', async () => {
  const master = await start({ config: { links: NEARLY } });
  const depots = await registerDepots(master, 'd1', 'd2', 'd3');
  const decisions = [];
  for (let time = 0; time < 6; time += 1) {
    const plan = await planOf(master, String(time));
    decisions.push(plan.decision);
    if (plan.decision === 'direct') await tell(master, plan, 4);
    else await take(master, depots, plan, 1);
    master.clock.advance(2);
    for (const depot of depots) await depot.heartbeat(master);
  }
  expect(decisions[0]).toBe('direct');
  expect(decisions.slice(3)).toEqual(['chain', 'chain', 'chain']);
  const { reasons, prediction, direct } = await planOf(master, 'last');
  // An add-on compares so.
  const byLegs = ({ seconds, calibration = 1 }: PlanAnswer['prediction']) => seconds / calibration;
  expect(byLegs(prediction)).toBeLessThan(byLegs(direct));
  expect(reasons.join(' ')).toMatch(/Direct downloads of your network .* times as long/);
});

test('a line on which everything takes as long stays with the direct way', async () => {
  const master = await start({ config: { links: NEARLY } });
  const depots = await registerDepots(master, 'd1', 'd2', 'd3');
  let last: PlanAnswer | undefined;
  for (let time = 0; time < 8; time += 1) {
    last = await planOf(master, String(time));
    if (last.decision === 'direct') await tell(master, last, 4);
    else await take(master, depots, last, 4);
    master.clock.advance(2);
    for (const depot of depots) await depot.heartbeat(master);
  }
  expect(last?.decision).toBe('direct');
});

test('a client that reads slowly says nothing of its chain', async () => {
  const master = await start();
  const depots = await registerDepots(master, 'd1', 'd2', 'd3');
  await takeOther(master, depots, 1);
  const taken = await chainsTaken(master, depots, () => 3, 'receiver');
  expect(new Set(taken)).toEqual(new Set(['d1-d2']));
});

test.each([
  ['says nothing of its chain where alone they may have been as fast as planned', 3, 0.25, 'd1-d2'],
  ['leaves a chain that would have been slow without the others, too', 8, 0.4, 'd3-d2'],
  ['leaves a chain that was slow with hardly anything beside it', 3, 0.9, 'd3-d2'],
])('a client whose downloads run beside others %s', async (_, times, ownShare, chain) => {
  const master = await start();
  const depots = await registerDepots(master, 'd1', 'd2', 'd3');
  await takeOther(master, depots, 1);
  const taken = await chainsTaken(master, depots, (one) => (one === 'd1-d2' ? times : 1), undefined, {
    ownShare,
  });
  expect(taken[0]).toBe('d1-d2');
  expect(new Set(taken.slice(4))).toEqual(new Set([chain]));
});

/** The direct way is not much worse than the chains. */
const BESIDE_DIRECT = LINKS.map((link, index) =>
  index === 0 ? { ...link, rttMs: 100, lossRate: 0, rateBps: 60e6, windowBytes: 64e6 } : link,
);

/** What is planned after some downloads over the chain that is planned first. */
async function plannedAfter(
  sizeBytes: number,
  times: number,
  more: Partial<JobDownload>,
  links: readonly object[] = BESIDE_DIRECT,
): Promise<PlanAnswer> {
  const master = await start({ config: { links } });
  const depots = await registerDepots(master, 'd1', 'd2');
  for (let time = 0; time < 5; time += 1) {
    const plan = await planOf(master, String(time), { sizeBytes });
    if (time === 0) expect(plan.chain).toEqual(['d1', 'd2']);
    if (plan.decision === 'chain') await take(master, depots, plan, times, undefined, false, more);
    master.clock.advance(2);
    for (const depot of depots) await depot.heartbeat(master);
  }
  return planOf(master, 'now', { sizeBytes });
}

test('a wait that only a chain has is not laid to the origin where clients have told how direct downloads go', async () => {
  const master = await start({ config: { links: BESIDE_DIRECT } });
  // There are no depots yet.
  for (let time = 0; time < 3; time += 1) await tell(master, await planOf(master, `direct-${time}`), 1);
  const depots = await registerDepots(master, 'd1', 'd2');
  const decisions = [];
  for (let time = 0; time < 6; time += 1) {
    const plan = await planOf(master, String(time));
    decisions.push(plan.decision);
    if (plan.decision === 'chain')
      await take(master, depots, plan, 1, undefined, false, { waitedSeconds: 40 });
    master.clock.advance(2);
    for (const depot of depots) await depot.heartbeat(master);
  }
  expect(decisions[0]).toBe('chain');
  expect(decisions.at(-1)).toBe('direct');
});

test('a chain whose downloads take longer than direct ones is left, and the plan says that this is why', async () => {
  const plan = await plannedAfter(1e8, 4, { ownShare: 1 });
  expect(plan).toMatchObject({ decision: 'direct', decisionReason: 'chain-disappoints' });
  expect(plan.reasons.join(' ')).toMatch(/took too long, of late/);
});

test('four downloads at once, each of which takes four times as long, leave the next one its chain', async () => {
  expect(await plannedAfter(1e8, 4, { ownShare: 0.25 })).toMatchObject({
    decision: 'chain',
    decisionReason: 'chain-faster',
  });
});

test('an origin that thinks before it answers leaves downloads their chain: directly it would think as long', async () => {
  const waitedSeconds = 6;
  const thinking = await plannedAfter(1e7, 1, { waitedSeconds }, LINKS);
  expect(thinking).toMatchObject({ decision: 'chain', chain: ['d1', 'd2'] });
  const { seconds, calibration = 1 } = thinking.prediction;
  // It is predicted all the same.
  expect(calibration).toBeGreaterThan(1.5);
  const times = 1 + (waitedSeconds * calibration) / seconds;
  expect(await plannedAfter(1e7, times, {}, LINKS), 'who is as slow by himself').toMatchObject({
    decisionReason: 'chain-disappoints',
  });
});

test('what an entry depot says to excuse its downloads makes none faster than planned', async () => {
  const secondsOf = async (times: number, more: Partial<JobDownload>) => {
    const { decision, prediction } = await plannedAfter(1e8, times, more);
    expect(decision).toBe('chain');
    return prediction.seconds;
  };
  const asPlanned = await secondsOf(1, {});
  for (const ownShare of [0, 0.3, 1])
    for (const [times, waitedSeconds] of [
      [1, 0],
      [1, 1000],
      [3, 1000],
    ] as const)
      expect(await secondsOf(times, { ownShare, waitedSeconds })).toBeGreaterThanOrEqual(0.99 * asPlanned);
});

test('a chain that its entry depot alone says to be fast is taken to be a fifth faster, one of which a second says so as well, more', async () => {
  const secondsOf = async (isSeconded: boolean) => {
    const master = await start();
    const depots = await registerDepots(master, 'd1', 'd2', 'd3');
    await takeOther(master, depots, 1);
    for (let time = 0; time < 5; time += 1) {
      const plan = await planOf(master, String(time));
      await take(master, depots, plan, 0.3, undefined, isSeconded);
      master.clock.advance(1);
    }
    const { prediction } = await planOf(master, 'now');
    return prediction.calibration ?? 1;
  };
  expect(await secondsOf(false)).toBeGreaterThan(0.7);
  expect(await secondsOf(true)).toBeLessThan(0.6);
});

test('what one master has seen of chains another one plans by', async () => {
  const meeting: InProcessMeeting = new Set();
  const clock = new TestClock();
  const one = await start({ bus: new InProcessBus('one', meeting), clock });
  const two = await start({ bus: new InProcessBus('two', meeting), clock });
  const depots = await registerDepots(one, 'd1', 'd2', 'd3');
  await expect.poll(async () => (await planOf(two, 'before')).chain).toEqual(['d1', 'd2']);
  await takeOther(one, depots, 1);
  for (let time = 0; time < 3; time += 1)
    await take(one, depots, await planOf(one, `${time}`, { avoid: ['d3'] }), 3);
  clock.advance(2);
  for (const depot of depots) await depot.heartbeat(one);
  await expect.poll(async () => (await planOf(two, 'after')).chain).toEqual(['d3', 'd2']);
});
