import { describe, expect, test } from 'vitest';
import { checkScenarios } from '../run/check-scenarios.ts';
import { GRID_CELLS } from './grid-cells.ts';

const CONDITIONS = ['sender', 'rttMs', 'loss', 'bufferBytes', 'queue', 'sizeBytes'] as const;
const ascending = (one: number | string, other: number | string) => Number(one) - Number(other);
const of = (half: string) => GRID_CELLS.filter((cell) => cell.half === half);

describe('the cells of the grid', () => {
  test('can all be set up, and none is there twice', () => {
    expect(() => checkScenarios(GRID_CELLS.map(({ scenario }) => scenario))).not.toThrow();
  });

  test('are split into two halves of which each has every value of every condition', () => {
    expect(of('fitting').length + of('other').length).toBe(GRID_CELLS.length);
    for (const condition of CONDITIONS) {
      const all = new Set(GRID_CELLS.map((cell) => cell[condition]));
      expect(new Set(of('fitting').map((cell) => cell[condition]))).toEqual(all);
      expect(new Set(of('other').map((cell) => cell[condition]))).toEqual(all);
    }
  });

  test('are each in the half that their conditions alone decide, other than that of their neighbours', () => {
    for (const condition of CONDITIONS) {
      const values = [...new Set(GRID_CELLS.map((cell) => cell[condition]))].toSorted(ascending);
      const rest = (cell: (typeof GRID_CELLS)[number]) =>
        CONDITIONS.filter((one) => one !== condition)
          .map((one) => cell[one])
          .join(' ');
      for (const row of Map.groupBy(GRID_CELLS, rest).values())
        for (const one of row)
          for (const other of row)
            if (Math.abs(values.indexOf(one[condition]) - values.indexOf(other[condition])) === 1)
              expect(one.half).not.toBe(other.half);
    }
    expect(GRID_CELLS.find(({ scenario }) => scenario.id === 'cubic-10ms-0-big-q2-3M')?.half).toBe('fitting');
  });
});
