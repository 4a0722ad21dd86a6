import {
  type JobReport,
  legsAnswerSchema,
  type Outcome,
  type PlanAnswer,
  planAnswerSchema,
} from '@longhaul/shared';
import { afterEach, expect, test } from 'vitest';
import { InProcessBus, type InProcessMeeting } from '../bus/in-process-bus.ts';
import { startMaster, TestClock, type TestMaster } from '../testing/start-master.ts';
import { registerDepots } from '../testing/test-depot.ts';
import { type PlannedJob, RecentJobs } from './recent-jobs.ts';

const masters: TestMaster[] = [];
afterEach(async () => {
  for (const { master } of masters.splice(0)) await master.close();
});

async function start(init: Parameters<typeof startMaster>[0] = {}): Promise<TestMaster> {
  const master = await startMaster(init);
  masters.push(master);
  return master;
}

async function planAt({ url }: TestMaster, kind: 'get' | 'tunnel' = 'get'): Promise<PlanAnswer> {
  const body = JSON.stringify({ url: 'https://origin.example/f', sizeBytes: 1e8, kind });
  const answer = await fetch(`${url}/v1/plans`, { method: 'POST', body });
  return planAnswerSchema.parse(await answer.json());
}

async function outcomeAt({ url }: TestMaster, jobId: string) {
  const answer = await fetch(`${url}/v1/outcomes?job=${jobId}`);
  const { jobs = [], error } = (await answer.json()) as { jobs?: Outcome[]; error?: { code: string } };
  return { status: answer.status, outcome: jobs[0], code: error?.code };
}

/** What an entry depot d1 tells, and what d2 behind it tells, of 100 MB that took so long. */
function reportsOf(jobId: string, seconds: number, received = 1e8) {
  const none = { connections: 1, sentBytes: 0, retransmittedBytes: 0, receivedBytes: 0 };
  const d1: JobReport = {
    jobId,
    seconds,
    legs: [
      {
        ...none,
        peer: 'client',
        sentBytes: 1.01e8,
        retransmittedBytes: 1e6,
        rttMs: 6,
        limitedBy: 'receiver',
      },
      { ...none, peer: 'd2', receivedBytes: received },
    ],
    download: {
      requests: 1,
      bodyBytes: 1e8,
      seconds,
      isWhole: true,
      outcome: 'complete',
      chain: ['d1', 'd2'],
    },
  };
  const d2: JobReport = {
    jobId,
    seconds,
    legs: [
      { ...none, peer: 'd1', sentBytes: 1.02e8, retransmittedBytes: 2e6, rttMs: 191, goodputBps: 4e8 },
      { ...none, peer: 'origin', receivedBytes: 1e8, rttMs: 5 },
    ],
  };
  return { d1, d2 };
}

const errorsIn = ({ events }: TestMaster) =>
  events.flatMap((event) => (event.type === 'job-ended' ? event : []));

test('what came of a download stands beside what its plan predicted, leg by leg', async () => {
  const master = await start();
  const [d1, d2] = await registerDepots(master, 'd1', 'd2', 'd3');
  const { jobId, prediction } = await planAt(master);
  const told = reportsOf(jobId, 2 * prediction.seconds);
  await d2?.heartbeat(master, { jobs: [told.d2] });
  await d1?.heartbeat(master, { jobs: [told.d1] });
  const { outcome } = await outcomeAt(master, jobId);
  expect(outcome).toMatchObject({
    chain: ['d1', 'd2'],
    download: { outcome: 'complete', bodyBytes: 1e8 },
    legs: [
      {
        from: 'd1',
        to: 'client',
        predicted: { rttMs: 5 },
        measured: { rttMs: 6, bytes: 1e8, limitedBy: 'receiver' },
      },
      { from: 'd2', to: 'd1', predicted: { rttMs: 190 }, measured: { rttMs: 191, goodputBps: 4e8 } },
      { from: 'origin', to: 'd2', predicted: { rttMs: 5 }, measured: { rttMs: 5, bytes: 1e8 } },
    ],
  });
  expect(outcome?.legs[1]?.measured?.lossRate).toBeCloseTo(2 / 102, 4);
  // The entry depot does not see what the client waits before it has asked.
  expect(outcome?.predictedSeconds).toBeGreaterThan(0.95 * prediction.seconds - 0.1);
  expect(outcome?.predictedSeconds).toBeLessThan(prediction.seconds);
  expect(errorsIn(master)).toMatchObject([
    { jobId, outcome: 'complete', error: expect.closeTo(Math.log(2), 1) as number },
  ]);
  const metrics = await (await fetch(`${master.url}/metrics`)).text();
  expect(metrics).toContain('longhaul_master_prediction_error_count 1');
  expect(metrics).toContain('longhaul_master_regret_count 1');
  expect(metrics).toContain('longhaul_master_jobs_ended_total{outcome="complete"} 1');
});

test('whoever holds the ticket is told what came of the download', async () => {
  const master = await start();
  const [d1] = await registerDepots(master, 'd1', 'd2', 'd3');
  const { jobId, ticket } = await planAt(master, 'tunnel');
  await d1?.heartbeat(master, { jobs: [reportsOf(jobId, 3).d1] });
  const answer = await fetch(`${master.url}/v1/legs`, { method: 'POST', body: JSON.stringify({ ticket }) });
  const { outcome } = legsAnswerSchema.parse(await answer.json());
  expect(outcome).toMatchObject({ download: { seconds: 3 } });
});

test('a regret is only told where direct is known by itself', async () => {
  const withoutDirect = [
    { between: ['client', 'd1'], rttMs: 5, rateBps: 200e6 },
    { between: ['d1', 'd2'], rttMs: 190, lossRate: 0.001, rateBps: 1e9, windowBytes: 64e6 },
    { between: ['d2', 'origin'], rttMs: 5, rateBps: 1e9 },
  ];
  const master = await start({ config: { links: withoutDirect } });
  const [d1] = await registerDepots(master, 'd1', 'd2');
  const { jobId, decision } = await planAt(master);
  expect(decision).toBe('chain');
  await d1?.heartbeat(master, { jobs: [reportsOf(jobId, 30).d1] });
  expect(errorsIn(master)).toHaveLength(1);
  expect(errorsIn(master)[0]).not.toHaveProperty('regret');
});

test('a download that came in parts, broke off or came over another chain is held against no prediction', async () => {
  const master = await start();
  const [d1] = await registerDepots(master, 'd1', 'd2', 'd3');
  const changes = [{ requests: 2 }, { isWhole: false, outcome: 'client-left' as const }, { chain: ['d1'] }];
  for (const [index, change] of changes.entries()) {
    const body = JSON.stringify({ url: `https://origin.example/${index}`, sizeBytes: 1e8 });
    const planned = await fetch(`${master.url}/v1/plans`, { method: 'POST', body });
    const { jobId } = planAnswerSchema.parse(await planned.json());
    const { d1: told } = reportsOf(jobId, 9);
    if (told.download)
      await d1?.heartbeat(master, { jobs: [{ ...told, download: { ...told.download, ...change } }] });
    const { outcome } = await outcomeAt(master, jobId);
    expect(outcome?.download).toMatchObject(change);
    expect(outcome?.predictedSeconds).toBeUndefined();
  }
  expect(errorsIn(master)).toHaveLength(3);
  expect(errorsIn(master).every((event) => !('error' in event) && !('regret' in event))).toBe(true);
});

test('a depot is believed of no job that its plan does not name, and of a download only where it is the entry depot', async () => {
  const master = await start();
  const [, d2, , d4] = await registerDepots(master, 'd1', 'd2', 'd3', 'd4');
  const { jobId } = await planAt(master);
  const { d1: told } = reportsOf(jobId, 9);
  await d4?.heartbeat(master, { jobs: [told] });
  expect(await outcomeAt(master, jobId)).toMatchObject({ status: 404, code: 'job-unknown' });
  await d2?.heartbeat(master, { jobs: [told] });
  const { outcome } = await outcomeAt(master, jobId);
  expect(outcome?.download).toBeUndefined();
  expect(errorsIn(master)).toEqual([]);
});

test('who is the entry depot of another chain of the ticket may not tell of what the first one brought', async () => {
  const master = await start();
  const [d1, , d3] = await registerDepots(master, 'd1', 'd2', 'd3');
  const { jobId } = await planAt(master);
  const { d1: told } = reportsOf(jobId, 9);
  const { d1: lie } = reportsOf(jobId, 5000);
  await d3?.heartbeat(master, { jobs: [lie] });
  expect((await outcomeAt(master, jobId)).outcome?.download).toBeUndefined();
  await d1?.heartbeat(master, { jobs: [told] });
  expect((await outcomeAt(master, jobId)).outcome?.download).toMatchObject({ seconds: 9 });
  expect(errorsIn(master)).toHaveLength(1);
});

test('of a leg whose receiver got much less than its sender says, both are told to disagree', async () => {
  const master = await start();
  const [d1, d2] = await registerDepots(master, 'd1', 'd2', 'd3');
  const { jobId } = await planAt(master);
  const told = reportsOf(jobId, 9, 1e7);
  await d1?.heartbeat(master, { jobs: [told.d1] });
  await d2?.heartbeat(master, { jobs: [told.d2] });
  const { outcome } = await outcomeAt(master, jobId);
  expect(outcome?.legs.map(({ measured }) => measured?.isDisputed)).toEqual([undefined, true, undefined]);
});

test('what a depot tells in several heartbeats counts together', async () => {
  const master = await start();
  const [d1] = await registerDepots(master, 'd1', 'd2', 'd3');
  const { jobId } = await planAt(master);
  const { d1: told } = reportsOf(jobId, 9);
  await d1?.heartbeat(master, { jobs: [told] });
  await d1?.heartbeat(master, { jobs: [told] });
  const { outcome } = await outcomeAt(master, jobId);
  expect(outcome?.download).toMatchObject({ requests: 2, bodyBytes: 2e8 });
  expect(outcome?.legs[0]?.measured).toMatchObject({ bytes: 2e8 });
});

/** Two masters that tell each other what they learn, and a job that the second one has planned. */
async function startTwo() {
  const meeting: InProcessMeeting = new Set();
  const clock = new TestClock();
  const one = await start({ bus: new InProcessBus('one', meeting), clock });
  const two = await start({ bus: new InProcessBus('two', meeting), clock });
  const [d1] = await registerDepots(one, 'd1', 'd2', 'd3');
  if (!d1) throw new Error('there is no entry depot');
  await expect.poll(async () => (await planAt(two)).chain).toEqual(['d1', 'd2']);
  const { jobId } = await planAt(two);
  const requests = async () => (await outcomeAt(two, jobId)).outcome?.download?.requests;
  return { one, two, clock, d1, job: reportsOf(jobId, 9).d1, requests };
}

test('what a depot tells again under its number counts once, whichever master it tells', async () => {
  const { one, two, clock, d1, job, requests } = await startTwo();
  const tell = async (master: TestMaster, batch: number, depot = d1) => {
    clock.advance(1);
    await depot.heartbeat(master, { batch, jobs: [job] });
  };
  await tell(one, 1);
  await tell(one, 1);
  await expect.poll(requests).toBe(1);
  await tell(two, 1);
  expect(await requests()).toBe(1);
  await tell(one, 2);
  await expect.poll(requests).toBe(2);
  await d1.register(two);
  await tell(two, 2);
  expect(await requests(), 'also when it has registered again').toBe(2);
  const next = d1.nextProcess();
  await next.register(one);
  await tell(one, 1, next);
  // The next process numbers its own.
  await expect.poll(requests).toBe(3);
});

test('what a depot tells another master than before counts together with what it told the first one', async () => {
  const { one, two, clock, d1, job, requests } = await startTwo();
  await d1.heartbeat(one, { jobs: [job] });
  await expect.poll(requests).toBe(1);
  clock.advance(1);
  await d1.heartbeat(two, { jobs: [job] });
  expect(await requests()).toBe(2);
});

test('the master that has planned a job learns what came of it, whichever master was told', async () => {
  const meeting: InProcessMeeting = new Set();
  const clock = new TestClock();
  const one = await start({ bus: new InProcessBus('one', meeting), clock });
  const two = await start({ bus: new InProcessBus('two', meeting), clock });
  await registerDepots(one, 'd1');
  const [d2] = await registerDepots(two, 'd2');
  await expect.poll(async () => (await planAt(one)).chain).toEqual(['d1', 'd2']);
  const { jobId } = await planAt(one);
  await d2?.heartbeat(two, { jobs: [reportsOf(jobId, 5).d2] });
  await expect.poll(async () => (await outcomeAt(one, jobId)).status).toBe(200);
});

test('operators see the newest jobs first, and nobody else is told that there is a list', async () => {
  const master = await start();
  const [d1] = await registerDepots(master, 'd1', 'd2', 'd3');
  const jobIds = [(await planAt(master)).jobId, (await planAt(master, 'tunnel')).jobId];
  for (const jobId of jobIds) await d1?.heartbeat(master, { jobs: [reportsOf(jobId, 5).d1] });
  const { jobs } = (await (await fetch(`${master.url}/v1/outcomes`)).json()) as { jobs: { jobId: string }[] };
  expect(jobs.map(({ jobId }) => jobId)).toEqual(jobIds.toReversed());
  const closed = await start({ config: { metricsNetworks: [] } });
  expect((await fetch(`${closed.url}/v1/outcomes`)).status).toBe(404);
});

test('a client network that plans many downloads forgets its own jobs, and not those of others', () => {
  const jobs = new RecentJobs(10);
  const jobOf = (network: string, index: number): PlannedJob => ({
    jobId: `${network}-${index}`,
    chain: [],
    alternatives: [],
    isAsked: false,
    lanes: 1,
    basis: {
      legs: [],
      setUp: { clientTls: false, originTls: false },
      direct: { legs: [], setUp: { clientTls: false, originTls: false }, source: 'assumed' },
    },
    network,
    host: 'origin.example',
  });
  jobs.add(jobOf('quiet', 0));
  for (let index = 0; index < 100; index += 1) jobs.add(jobOf('busy', index));
  expect(jobs.get('quiet-0')).toBeDefined();
  expect(jobs.get('busy-99')).toBeDefined();
  expect(jobs.get('busy-0')).toBeUndefined();
  expect(jobs.size).toBeLessThanOrEqual(20);
});
