import { FITTED } from '@longhaul/shared';
import { describe, expect, test } from 'vitest';
import { modelledSeconds } from '../experiments/predictions.ts';
import { fitConstants } from './fit-constants.ts';
import { GRID_CELLS } from './grid-cells.ts';
import { imaginedLegs } from './imagined-lines.ts';
import { measuredWays } from './measured-ways.ts';
import { searchLeast } from './search-least.ts';

const RANGES = [
  { least: 0, most: 10 },
  { least: -5, most: 5 },
];

describe('the search for least cost', () => {
  test('finds a known optimum, wherever it begins', () => {
    const cost = ([x = 0, y = 0]: readonly number[]) =>
      (x - 7.3) ** 2 + (y + 1.9) ** 2 + 0.5 * (x - 7.3) * (y + 1.9);
    for (const start of [
      [0, 0],
      [10, 5],
      [7.3, -5],
    ]) {
      const [x, y] = searchLeast(start, RANGES, cost);
      expect(x).toBeCloseTo(7.3, 1);
      expect(y).toBeCloseTo(-1.9, 1);
    }
  });

  test('finds the deeper of two valleys, and one with an edge', () => {
    const cost = ([x = 0]: readonly number[]) => Math.min(Math.abs(x - 1) + 1, 3 * Math.abs(x - 8.2));
    expect(searchLeast([1, 0], RANGES, cost)[0]).toBeCloseTo(8.2, 1);
  });

  test('leaves a coordinate alone that costs nothing, stays within the ranges, and is always the same', () => {
    const cost = ([x = 0]: readonly number[]) => -x;
    expect(searchLeast([3, 1.234], RANGES, cost)).toEqual([10, 1.234]);
    const bumpy = ([x = 0, y = 0]: readonly number[]) => Math.sin(3 * x) + Math.cos(2 * y) + x / 9;
    expect(searchLeast([3, 1], RANGES, bumpy)).toEqual(searchLeast([3, 1], RANGES, bumpy));
  });
});

describe('the constants that are fitted', () => {
  const linesWith = (constants: typeof FITTED) =>
    measuredWays(
      1,
      GRID_CELLS.flatMap((cell) => imaginedLegs(cell, 1)),
    ).map((way) => ({
      ...way,
      time: { seconds: modelledSeconds(way.modelled, way.scenario.sizeBytes, constants), isBound: false },
    }));

  test('are those by which the times came about', () => {
    const constants = { timeoutShare: 1.1, roundsPerLossInStart: 3.7 };
    const fitted = fitConstants(linesWith(constants));
    expect(fitted.timeoutShare).toBeCloseTo(1.1, 1);
    expect(fitted.roundsPerLossInStart).toBeCloseTo(3.7, 1);
  });

  test('stay as they are where nothing was measured, or nothing that depends on them', () => {
    expect(fitConstants([])).toEqual(FITTED);
    const lossless = linesWith(FITTED).filter(({ scenario }) => /ms-0-/.test(scenario.id));
    expect(lossless.length).toBeGreaterThan(0);
    expect(fitConstants(lossless)).toEqual(FITTED);
  });
});
