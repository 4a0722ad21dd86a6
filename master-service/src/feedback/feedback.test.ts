import { type FeedbackAnswer, type PlanAnswer, planAnswerSchema } from '@longhaul/shared';
import { afterEach, describe, expect, test } from 'vitest';
import { rawGet } from '../testing/raw-request.ts';
import { startMaster, type TestMaster } from '../testing/start-master.ts';
import { registerDepots, type TestDepot } from '../testing/test-depot.ts';
import { FeedbackBook } from './feedback-book.ts';

const NOW = 1_795_000_000_000;

describe('a client that tells how its download went', () => {
  let master: TestMaster;
  let depots: TestDepot[];
  afterEach(() => master.master.close());

  async function start(config: object = {}): Promise<void> {
    master = await startMaster({ config });
    depots = await registerDepots(master, 'd1', 'd2', 'd3');
  }

  async function plan(host = 'origin.example', options: object = {}): Promise<PlanAnswer> {
    const body = JSON.stringify({ url: `https://${host}/f`, sizeBytes: 1e9, ...options });
    const answer = await fetch(`${master.url}/v1/plans`, { method: 'POST', body });
    return planAnswerSchema.parse(await answer.json());
  }

  async function tell(body: object) {
    const answer = await fetch(`${master.url}/v1/feedback`, { method: 'POST', body: JSON.stringify(body) });
    return {
      status: answer.status,
      code: answer.headers.get('longhaul-error'),
      ...((await answer.json()) as Partial<FeedbackAnswer>),
    };
  }

  /** What a depot tells of one of its legs that carried 100 MB, as its sender where nothing else is said. */
  const leg = (peer: string, told: object = {}) => ({
    peer,
    connections: 1,
    sentBytes: 1e8,
    retransmittedBytes: 0,
    receivedBytes: 0,
    goodputBps: 900e6,
    ...told,
  });

  async function report(jobId: string, depot: string, ...legs: ReturnType<typeof leg>[]): Promise<void> {
    const teller = depots.find(({ id }) => id === depot);
    await teller?.heartbeat(master, { jobs: [{ jobId, seconds: 9, legs }] });
  }

  const received = { sentBytes: 0, receivedBytes: 1e8 };

  test('is led past a depot that failed, at once, until that is half an hour ago', async () => {
    await start();
    const { jobId, chain } = await plan();
    expect(chain).toEqual(['d1', 'd2']);
    const redirected = await rawGet(master.port, '/get/~size=1000000000/https/origin.example/f');
    expect(redirected.headers.location).toContain(':7001/');
    expect(await tell({ jobId, verdict: 'failed', depot: 'd1' })).toMatchObject({
      status: 200,
      effect: 'avoids-depot',
      depot: 'd1',
      until: new Date(master.clock.nowMs + 1_800_000).toISOString(),
    });
    expect((await plan()).chain).toEqual(['d3', 'd2']);
    const again = await rawGet(master.port, '/get/~size=1000000000/https/origin.example/f');
    expect(again.headers.location).toContain(':7003/');
    master.clock.advance(1801);
    for (const depot of depots) await depot.heartbeat(master);
    expect((await plan()).chain).toEqual(['d1', 'd2']);
  });

  test('is led over the depot again when a download that its plan led over it has worked', async () => {
    await start();
    const { jobId } = await plan();
    await tell({ jobId, verdict: 'failed', depot: 'd1' });
    expect(await tell({ jobId, verdict: 'worked' })).toMatchObject({ effect: 'none' });
    expect((await plan()).chain).toEqual(['d1', 'd2']);
  });

  test('gets direct answers from an origin for a day when it prefers them, and chains from others', async () => {
    await start();
    const { jobId } = await plan();
    expect(await tell({ jobId, verdict: 'prefer-direct' })).toMatchObject({ effect: 'goes-direct' });
    const direct = await plan();
    expect(direct).toMatchObject({ decision: 'direct', decisionReason: 'direct-preferred' });
    expect(direct.reasons.join(' ')).toContain('asked for direct downloads');
    expect((await plan('other.origin.example')).decision).toBe('chain');
    master.clock.advance(86_401);
    for (const depot of depots) await depot.heartbeat(master);
    expect((await plan()).decision).toBe('chain');
  });

  test('that was slow is led past the depot that was furthest below its prediction, by what depots told', async () => {
    await start();
    const { jobId } = await plan();
    await report(jobId, 'd1', leg('client', { goodputBps: 190e6 }));
    await report(jobId, 'd2', leg('d1', { goodputBps: 20e6 }));
    expect(await tell({ jobId, verdict: 'slow' })).toMatchObject({ effect: 'avoids-depot', depot: 'd2' });
    expect((await plan()).chain).not.toContain('d2');
  });

  test('that was slow although all depots have told that they sent as predicted keeps its depots: it is the origin', async () => {
    await start();
    const { jobId, chain } = await plan();
    expect(chain).toEqual(['d1', 'd2']);
    await report(jobId, 'd1', leg('client'), leg('d2', received));
    await report(jobId, 'd2', leg('d1', { limitedBy: 'congestion-window' }));
    expect(await tell({ jobId, verdict: 'slow' })).toMatchObject({ effect: 'none' });
    expect((await plan()).chain).toEqual(chain);
  });

  test('that was slow is led past a depot alone, whatever that tells of itself', async () => {
    await start({ planner: { allowVia: true } });
    const { jobId, chain } = await plan('origin.example', { via: ['d1'] });
    expect(chain).toEqual(['d1']);
    await report(jobId, 'd1', leg('client'), leg('origin', received));
    expect(await tell({ jobId, verdict: 'slow' })).toMatchObject({ effect: 'avoids-depot', depot: 'd1' });
  });

  test('that was slow is led past its entry depot while that alone has told, whatever it tells of itself and others', async () => {
    await start();
    const { jobId } = await plan();
    for (const goodputBps of [5e3, 900e6]) {
      await report(jobId, 'd1', leg('client'), leg('d2', { ...received, goodputBps }));
      expect(await tell({ jobId, verdict: 'slow' })).toMatchObject({ effect: 'avoids-depot', depot: 'd1' });
    }
  });

  test('that was slow is led past an entry depot that held the depot behind it back', async () => {
    await start();
    const { jobId } = await plan();
    await report(jobId, 'd1', leg('client'), leg('d2', received));
    await report(jobId, 'd2', leg('d1', { limitedBy: 'receiver' }));
    expect(await tell({ jobId, verdict: 'slow' })).toMatchObject({ effect: 'avoids-depot', depot: 'd1' });
  });

  test('that was slow is led past its entry depot where that has got less than the depot behind it says it sent', async () => {
    await start();
    const { jobId } = await plan();
    await report(jobId, 'd1', leg('client'), leg('d2', { ...received, receivedBytes: 1e6 }));
    await report(jobId, 'd2', leg('d1'));
    expect(await tell({ jobId, verdict: 'slow' })).toMatchObject({ effect: 'avoids-depot', depot: 'd1' });
  });

  test('that was slow, and nobody knows where, is led past its entry depot', async () => {
    await start();
    const { jobId } = await plan();
    expect(await tell({ jobId, verdict: 'slow' })).toMatchObject({ depot: 'd1' });
  });

  test('has what it got set beside what was predicted, of a direct download, too', async () => {
    await start();
    const outcomeOf = async (jobId: string) => {
      const answer = await fetch(`${master.url}/v1/outcomes?job=${jobId}`);
      const { jobs } = (await answer.json()) as { jobs?: readonly { client?: object; chain: string[] }[] };
      return jobs?.[0];
    };
    const chained = await plan();
    await tell({ jobId: chained.jobId, verdict: 'worked', measured: { bytes: 1e9, seconds: 90 } });
    expect(await outcomeOf(chained.jobId)).toMatchObject({
      chain: ['d1', 'd2'],
      client: { bytes: 1e9, seconds: 90, predictedSeconds: expect.closeTo(chained.prediction.seconds, 6) },
    });
    await tell({ jobId: chained.jobId, verdict: 'prefer-direct' });
    const direct = await plan();
    expect(await outcomeOf(direct.jobId)).toBeUndefined();
    await tell({ jobId: direct.jobId, verdict: 'worked', measured: { bytes: 1e9, seconds: 800 } });
    expect(await outcomeOf(direct.jobId)).toMatchObject({
      chain: [],
      client: { seconds: 800, predictedSeconds: expect.closeTo(direct.prediction.seconds, 6) },
    });
  });

  test('is refused with a code where it tells what cannot be', async () => {
    await start();
    const { jobId } = await plan();
    expect(await tell({ jobId: 'AAAAAAAAAAA', verdict: 'worked' })).toMatchObject({
      status: 404,
      code: 'job-unknown',
    });
    expect(await tell({ jobId, verdict: 'failed', depot: 'd9' })).toMatchObject({
      status: 400,
      code: 'bad-request',
    });
    expect(await tell({ jobId, verdict: 'fine' })).toMatchObject({ status: 400, code: 'bad-request' });
    expect(await tell({ jobId, verdict: 'worked', more: 1 })).toMatchObject({ status: 400 });
    for (const measured of [
      { bytes: 0, seconds: 1 },
      { bytes: 1, seconds: 0 },
      { bytes: 1, seconds: 1e9 },
      { bytes: 1, seconds: 1, url: 'https://files.corp/x' },
    ])
      expect(await tell({ jobId, verdict: 'worked', measured })).toMatchObject({ status: 400 });
  });

  test('may tell much, and not without end', async () => {
    await start();
    const { jobId } = await plan();
    const codes: (string | null)[] = [];
    for (let index = 0; index < 30; index += 1) codes.push((await tell({ jobId, verdict: 'worked' })).code);
    expect(codes.slice(0, 20).every((code) => code === null)).toBe(true);
    expect(codes.at(-1)).toBe('feedback-limited');
    master.clock.advance(3600);
    expect((await tell({ jobId, verdict: 'worked' })).code).toBeNull();
  });

  test('is outweighed by downloads of others that came whole, as their entry depots tell', async () => {
    await start();
    const { jobId } = await plan();
    const none = { jobId, seconds: 9, legs: [] };
    const download = { requests: 1, bodyBytes: 1e9, seconds: 9, isWhole: true, outcome: 'complete' as const };
    await depots[0]?.heartbeat(master, {
      jobs: [{ ...none, download: { ...download, chain: ['d1', 'd2', 'd9'] } }],
    });
    const counted = await (await fetch(`${master.url}/v1/feedback`)).json();
    const inFavour = (subject: string) => ({ subject, against: 0, for: 1, isAgreed: false });
    expect(counted).toEqual({ depots: ['d1', 'd2'].map(inFavour), origins: [inFavour('origin.example')] });
    await tell({ jobId, verdict: 'failed', depot: 'd1' });
    expect((await plan()).chain).toEqual(['d3', 'd2']);
  });

  test('is counted, and shown to operators without who it was', async () => {
    await start();
    const { jobId } = await plan();
    await tell({ jobId, verdict: 'failed', depot: 'd1' });
    const metrics = await (await fetch(`${master.url}/metrics`)).text();
    expect(metrics).toContain('longhaul_master_feedback_total{verdict="failed",effect="avoids-depot"} 1');
    const text = await (await fetch(`${master.url}/v1/feedback`)).text();
    expect(JSON.parse(text)).toEqual({
      depots: [{ subject: 'd1', against: 1, for: 0, isAgreed: false }],
      origins: [],
    });
    expect(text).not.toContain('127.0');
  });
});

describe('what one network says', () => {
  test('counts for no other one until networks from five parts of the internet agree', () => {
    const book = new FeedbackBook();
    for (const part of [1, 2, 3, 4]) book.judgeDepot(`10.${part}.0.0/24`, 'd1', true, NOW);
    // One party may have many networks of one part.
    for (let net = 0; net < 200; net += 1) book.judgeDepot(`10.1.${net}.0/24`, 'd1', true, NOW);
    expect(book.avoidedBy('10.1.0.0/24', NOW)).toEqual(['d1']);
    expect(book.avoidedBy('192.0.2.0/24', NOW)).toEqual([]);
    book.judgeDepot('2001:db8:7::/48', 'd1', true, NOW);
    expect(book.avoidedBy('192.0.2.0/24', NOW)).toEqual(['d1']);
  });

  test('counts for no other one while as many say otherwise', () => {
    const book = new FeedbackBook();
    for (const part of [1, 2, 3, 4, 5]) {
      book.judgeDirect(`10.${part}.0.0/24`, 'origin.example', true, NOW);
      book.judgeDirect(`11.${part}.0.0/24`, 'origin.example', false, NOW);
    }
    expect(book.prefersDirect('192.0.2.0/24', 'origin.example', NOW)).toBe(false);
    book.judgeDirect('12.1.0.0/24', 'origin.example', true, NOW);
    expect(book.prefersDirect('192.0.2.0/24', 'origin.example', NOW)).toBe(true);
  });

  test('takes chains from nobody who is content: a hundredth of all networks that lie of every origin move none', () => {
    const book = new FeedbackBook();
    const all = Array.from({ length: 2000 }, (_, at) => `10.${Math.floor(at / 10)}.${at % 10}.0/24`);
    for (const [at, network] of all.entries()) {
      const host = `o${at % 20}.example`;
      if (at % 100 !== 7) book.noteWorked(network, ['d1'], host, NOW);
      else
        for (let origin = 0; origin < 20; origin += 1)
          book.judgeDirect(network, `o${origin}.example`, true, NOW);
    }
    expect(book.counted().origins[0]).toMatchObject({ isAgreed: false });
    expect(all.some((network, at) => at % 100 !== 7 && book.prefersDirect(network, 'o7.example', NOW))).toBe(
      false,
    );
    expect(book.prefersDirect(all[7] ?? '', 'o3.example', NOW)).toBe(true);
  });

  test('never has everybody avoid more than a few depots', () => {
    const book = new FeedbackBook();
    for (let depot = 0; depot < 100; depot += 1)
      for (const part of [1, 2, 3, 4, 5, 6]) book.judgeDepot(`10.${part}.0.0/24`, `d${depot}`, true, NOW);
    expect(book.avoidedBy('192.0.2.0/24', NOW)).toHaveLength(8);
  });
});
