import { describe, expect, test } from 'vitest';
import { lossRateOf } from '../network/link-settings-of.ts';
import type { LossModel } from './link-settings.ts';
import { LossProcess, lossCountSigma } from './loss-process.ts';
import { RandomStream } from './random-stream.ts';

const BURSTS: LossModel = {
  kind: 'gilbert-elliott',
  toBad: 0.01,
  toGood: 0.2,
  lossInGood: 0.001,
  lossInBad: 0.5,
};
const PACKETS = 20_000;

/** Which of the packets are lost. */
function losses(model: LossModel, seed: number, packets = PACKETS): boolean[] {
  const process = new LossProcess(model);
  const random = new RandomStream(`${seed}`);
  return Array.from({ length: packets }, () => process.losesNext(random.next(), random.next()));
}

function count(lost: readonly boolean[]): number {
  return lost.filter(Boolean).length;
}

describe.each<LossModel>([{ kind: 'independent', rate: 0.001 }, { kind: 'independent', rate: 0.1 }, BURSTS])(
  '$kind loss',
  (model) => {
    const counts = Array.from({ length: 200 }, (_, seed) => count(losses(model, seed)));
    const mean = counts.reduce((sum, value) => sum + value, 0) / counts.length;
    const sigma = lossCountSigma(model, PACKETS);

    test('loses its share of packets in the long run', () => {
      expect(Math.abs(mean - lossRateOf(model) * PACKETS)).toBeLessThan(
        (3 * sigma) / Math.sqrt(counts.length),
      );
    });

    test('spreads from seed to seed as its standard deviation says', () => {
      const variance = counts.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (counts.length - 1);
      // The standard error of a standard deviation of 200 values is 5 %.
      expect(Math.abs(Math.sqrt(variance) / sigma - 1)).toBeLessThan(0.2);
    });
  },
);

test('bursty losses come together', () => {
  const lost = losses(BURSTS, 1, 200_000);
  const afterLoss = lost.filter((_, index) => lost[index - 1]);
  expect(count(afterLoss) / afterLoss.length).toBeGreaterThan(5 * lossRateOf(BURSTS));
});

test('a model that loses nothing loses nothing, one that loses everything everything', () => {
  expect(count(losses({ kind: 'none' }, 1, 1000))).toBe(0);
  expect(count(losses({ kind: 'independent', rate: 0 }, 1, 1000))).toBe(0);
  expect(count(losses({ kind: 'independent', rate: 1 }, 1, 1000))).toBe(1000);
});

test('a bursty model that never leaves the good state has the spread of independent loss', () => {
  const still: LossModel = { ...BURSTS, toBad: 0, toGood: 0, lossInGood: 0.01 };
  expect(lossCountSigma(still, 1000)).toBeCloseTo(
    lossCountSigma({ kind: 'independent', rate: 0.01 }, 1000),
    9,
  );
});
