import { describe, expect, test } from 'vitest';
import { medianTime } from '../results/median-time.ts';
import { CUT, cellOf, imaginedLegs, imaginedLine } from './imagined-lines.ts';
import { measuredWays } from './measured-ways.ts';
import {
  errorOfSpread,
  errorsOf,
  predictedSeconds,
  ratioOf,
  spreadOfErrors,
  withoutLate,
} from './way-errors.ts';

const cell = cellOf('cubic-80ms-1e-3-big-q2-3M');
const { id } = cell.scenario;
const predicted = predictedSecondsOf();

function predictedSecondsOf(): number {
  const [way] = measuredWays(1, imaginedLegs(cell, 1));
  return way ? predictedSeconds(way) : Number.NaN;
}
const errorOf = (...lines: Parameters<typeof measuredWays>[1]) => errorsOf(measuredWays(1, lines));

describe('the error of a way', () => {
  test('is ln of its median time by what is predicted: 0 where that is right, however its transfers spread', () => {
    const [right] = errorOf(...imaginedLegs(cell, predicted / 3, predicted, 9 * predicted));
    expect(right?.logRatio).toBeCloseTo(0);
    const [slow] = errorOf(...imaginedLegs(cell, 2 * predicted));
    expect(slow?.logRatio).toBeCloseTo(Math.log(2));
  });

  test('counts in its size alone, and the 90th percentile is that of nine of ten', () => {
    const errors = [...Array(9).fill(-0.1), 3].map((logRatio) => ({
      way: measuredWays(1, imaginedLegs(cell, 1))[0] as never,
      predictedSeconds: 1,
      logRatio: logRatio as number,
    }));
    const spread = spreadOfErrors(errors);
    expect(spread).toMatchObject({ ways: 10, median: 0.1, p90: 0.1 });
    expect(spread.mean).toBeCloseTo(0.39);
  });

  test('has a part that spread alone makes: less with more transfers, and none where all are alike', () => {
    const timesOf = (count: number) => Array.from({ length: count }, (_, at) => 1 + ((7 * at) % 10) / 10);
    const bySpread = (times: readonly number[]) => {
      const [way] = measuredWays(1, imaginedLegs(cell, ...times));
      const ratio = way && ratioOf(way);
      return ratio ? errorOfSpread(ratio) : Number.NaN;
    };
    expect(bySpread([2, 2, 2])).toBe(0);
    expect(bySpread(timesOf(40))).toBeGreaterThan(0.01);
    expect(bySpread(timesOf(40))).toBeLessThan(0.7 * bySpread(timesOf(10)));
  });

  test('knows nothing of transfers that failed', () => {
    const failed = imaginedLine(id, 'direct', 0.001, { sha256Ok: false, error: 'gone' });
    expect(errorOf(failed)).toEqual([]);
    expect(errorOf(failed, ...imaginedLegs(cell, predicted))[0]?.logRatio).toBeCloseTo(0);
  });
});

describe('transfers that were cut', () => {
  const cut = (seconds: number) => imaginedLine(id, 'direct', seconds, CUT);
  const whole = (seconds: number) => imaginedLine(id, 'direct', seconds);

  test('are longer than those that were not: fewer than half of them leave the median a time', () => {
    expect(medianTime([whole(1), cut(9), whole(2)])).toEqual({ seconds: 2, isBound: false });
    expect(medianTime([whole(1), whole(2), cut(9), whole(3)])).toEqual({ seconds: 2.5, isBound: false });
  });

  test('make the median a lower bound where it is among them', () => {
    expect(medianTime([whole(1), cut(9), cut(9)])).toEqual({ seconds: 9, isBound: true });
    // The middle is between a time and what is longer than 9.
    expect(medianTime([whole(1), whole(2), cut(9), cut(9)])).toEqual({ seconds: 5.5, isBound: true });
  });

  test('say nothing against a model that says longer, and at least so much against one that says shorter', () => {
    expect(errorOf(cut(predicted / 2))).toEqual([]);
    expect(errorOf(cut(2 * predicted))[0]?.logRatio).toBeCloseTo(Math.log(2));
  });
});

test('of no way there is no spread of errors, rather than a good one', () => {
  expect(spreadOfErrors([]).p90).toBeNaN();
});

test('without late transfers a way has the median of the others, and none where all were late', () => {
  const late = { latenessMs: 11 };
  const lines = [imaginedLine(id, 'direct', 1), imaginedLine(id, 'direct', 9, late)];
  expect(withoutLate(measuredWays(1, lines))[0]?.time.seconds).toBe(1);
  expect(withoutLate(measuredWays(1, lines.slice(1)))).toEqual([]);
});

test('a line of conditions that nobody knows any more is refused, and not judged by other ones', () => {
  expect(() => measuredWays(1, [imaginedLine('t01-ffffff', 'direct', 1)])).toThrow(/no longer knows/);
  expect(() => measuredWays(1, [imaginedLine(id, 'chain', 1)])).toThrow(/chain in cubic-80ms/);
});
