import { type JobReport, type PlanAnswer, planAnswerSchema } from '@longhaul/shared';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { startMaster, type TestMaster } from '../testing/start-master.ts';
import { registerDepots, type TestDepot } from '../testing/test-depot.ts';
import { Calibrations } from './calibrations.ts';

const NOW = 1_795_000_000_000;
const HOUR_MS = 3_600_000;
const PAIR = { network: '192.0.2.0/24', host: 'origin.example' };

describe('what is known of a pair', () => {
  test('is nothing at first, then what its downloads took, the more of them the more', () => {
    const calibrations = new Calibrations();
    expect(calibrations.factor(PAIR, NOW)).toBe(1);
    let before = 1;
    for (let time = 0; time < 8; time += 1) {
      calibrations.note(PAIR, 1.5, NOW + time * 60_000);
      const factor = calibrations.factor(PAIR, NOW + time * 60_000);
      expect(factor).toBeGreaterThan(before);
      before = factor;
    }
    expect(before).toBeGreaterThan(1.3);
    expect(before).toBeLessThan(1.5);
    expect(calibrations.factor(PAIR, NOW + 24 * HOUR_MS)).toBeLessThan(1.1);
  });

  test('says nothing of another network, or of another origin', () => {
    const calibrations = new Calibrations();
    calibrations.note(PAIR, 2, NOW);
    expect(calibrations.factor({ ...PAIR, network: '192.0.3.0/24' }, NOW)).toBe(1);
    expect(calibrations.factor({ ...PAIR, host: 'other.example' }, NOW)).toBe(1);
  });

  test('never makes a prediction more than twice as long or as short, and one download moves it by little', () => {
    const ratio = fc.oneof(
      fc.double({ min: 1e-3, max: 1e3, noNaN: true }),
      fc.constantFrom(0, -1, Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_VALUE, Number.MIN_VALUE),
    );
    const downloads = fc.array(fc.tuple(ratio, fc.integer({ min: -HOUR_MS, max: 24 * HOUR_MS })));
    fc.assert(
      fc.property(downloads, (all) => {
        const calibrations = new Calibrations();
        for (const [index, [took, afterMs]] of all.entries()) {
          const before = calibrations.factor(PAIR, NOW + afterMs);
          calibrations.note(PAIR, took, NOW + afterMs);
          const factor = calibrations.factor(PAIR, NOW + afterMs);
          expect(factor).toBeGreaterThanOrEqual(0.5);
          expect(factor).toBeLessThanOrEqual(2);
          if (index === 0) expect(Math.abs(Math.log(factor / before))).toBeLessThan(Math.log(1.6));
        }
      }),
    );
  });
});

const masters: TestMaster[] = [];
afterEach(async () => {
  for (const { master } of masters.splice(0)) await master.close();
});

async function planOf({ url }: TestMaster, path: string): Promise<PlanAnswer> {
  const body = JSON.stringify({ url: `https://origin.example/${path}`, sizeBytes: 1e8 });
  const answer = await fetch(`${url}/v1/plans`, { method: 'POST', body });
  return planAnswerSchema.parse(await answer.json());
}

/** Has a file of 100 MB take so long, as its entry depot tells. */
async function take(master: TestMaster, entry: TestDepot, plan: PlanAnswer, seconds: number): Promise<void> {
  const { jobId, chain } = plan;
  const download = {
    requests: 1,
    bodyBytes: 1e8,
    seconds,
    isWhole: true,
    outcome: 'complete',
    chain,
  } as const;
  const report: JobReport = { jobId, seconds, legs: [], download };
  await entry.heartbeat(master, { jobs: [report] });
}

test('downloads that take longer than their legs say are predicted so, over the same chain, with the reason', async () => {
  const master = await startMaster({});
  masters.push(master);
  const [d1] = await registerDepots(master, 'd1', 'd2', 'd3');
  if (!d1) throw new Error('there is no entry depot');
  const first = await planOf(master, '0');
  expect(first.prediction.calibration).toBeUndefined();
  for (let time = 1; time <= 6; time += 1) {
    const plan = await planOf(master, String(time));
    expect(plan.chain).toEqual(first.chain);
    await take(master, d1, plan, 1.5 * first.prediction.seconds);
  }
  const now = await planOf(master, 'again');
  const { calibration = 1, seconds } = now.prediction;
  expect(calibration).toBeGreaterThan(1.25);
  expect(calibration).toBeLessThan(1.55);
  expect(seconds).toBeCloseTo(calibration * first.prediction.seconds, 6);
  expect(now.chain).toEqual(first.chain);
  expect(now.reasons.join(' ')).toMatch(/took 1\.[345] times as long over this chain as their legs say/);
  // Of the direct way itself a link is typed in.
  expect(now.direct).toEqual(first.direct);
  const errors = master.events.flatMap((event) => (event.type === 'job-ended' ? [event.error ?? 0] : []));
  expect(errors.at(-1)).toBeLessThan(0.5 * (errors[0] ?? 0));
});
