import { describe, expect, test } from 'vitest';
import { type LossEvidence, lossEstimate, lossRateOf, withSent } from './loss-evidence.ts';

const HOUR_MS = 3_600_000;
const estimate = (evidence: LossEvidence | undefined, passedMs = 0) =>
  lossEstimate(evidence, passedMs, 3e-4, HOUR_MS);
const sent = (sentBytes: number, rate: number) =>
  withSent(undefined, { sentBytes, lostBytes: sentBytes * rate }, 0, HOUR_MS);

describe('what is known of losses', () => {
  test('is the share that was sent again, of everything lately', () => {
    const first = sent(10e6, 0.01);
    const both = withSent(first, { sentBytes: 30e6, lostBytes: 0 }, 0, HOUR_MS);
    expect(lossRateOf(both)).toBeCloseTo(0.0025);
    expect(
      lossRateOf(withSent(first, { sentBytes: 30e6, lostBytes: 0 }, 10 * HOUR_MS, HOUR_MS)),
    ).toBeLessThan(1e-6);
    expect(lossRateOf({ sentBytes: 0, lostBytes: 0, ageMs: 0 })).toBe(0);
  });

  test('follows what has changed, however much was sent before', () => {
    const clean = sent(1e13, 0);
    const lossy = withSent(clean, { sentBytes: 800e6, lostBytes: 8e6 }, 1000, HOUR_MS);
    expect(lossRateOf(lossy)).toBeGreaterThan(0.006);
  });

  test('gives way to what may be of another line as slowly as it is forgotten, however much that sends', () => {
    const clean = sent(400e6, 0);
    const other = { sentBytes: 1e9, lostBytes: 1e8 };
    expect(lossRateOf(withSent(clean, other, 0, HOUR_MS, true))).toBe(0);
    const after = (evidence: LossEvidence, passedMs: number) =>
      withSent(evidence, other, passedMs, HOUR_MS, true);
    const once = after(clean, HOUR_MS / 2);
    expect(lossRateOf(once)).toBeCloseTo(0.1 * (1 - Math.exp(-0.5)));
    expect(lossRateOf(after(once, HOUR_MS / 2))).toBeCloseTo(lossRateOf(after(clean, HOUR_MS)));
    expect(lossRateOf(withSent(undefined, other, 0, HOUR_MS, true))).toBeCloseTo(0.1);
  });

  test('is the prior with its long tail where nothing was sent', () => {
    const { value, spread, source } = estimate(undefined);
    expect([value, source]).toEqual([expect.closeTo(1e-4, 5), 'assumed']);
    expect(spread).toBeCloseTo(Math.sqrt(Math.PI ** 2 / 2), 2);
  });

  test('is surer the more was sent, and unsure again when that is old', () => {
    const [little, much] = [estimate(sent(1e6, 0.01)), estimate(sent(300e6, 0.01))];
    expect(much.value).toBeGreaterThan(0.009);
    expect(much.spread).toBeLessThan(0.1);
    expect(little.spread).toBeGreaterThan(much.spread);
    expect(estimate(sent(300e6, 0.01), 20 * HOUR_MS).spread).toBeGreaterThan(2);
    expect(much.source).toBe('measured');
  });

  test('says how clean a link is only as far as enough was sent', () => {
    const values = [1e6, 1e7, 1e8, 4e8].map((bytes) => estimate(sent(bytes, 0)).value);
    expect(values).toEqual(values.toSorted((one, other) => other - one));
    expect(values.at(-1)).toBeLessThan(1e-5);
    expect(values.at(-1)).toBeGreaterThan(0);
  });
});
