import { markdownTable } from '../report/markdown-table.ts';
import { median } from '../results/statistics.ts';
import type { MeasuredWay } from './measured-ways.ts';
import {
  errorOfSpread,
  errorsOf,
  ratioOf,
  spreadOfErrors,
  type WayError,
  withoutLate,
} from './way-errors.ts';
import { GROUPS, PARTS, partsOf } from './way-groups.ts';

/** Each part of a run, as it is and without what the emulator disturbed. */
export function partTable(ways: readonly MeasuredWay[]): string {
  return markdownTable(
    [
      'ways',
      'with a time',
      'median',
      'p90',
      'mean',
      'median by spread alone',
      'holds 1',
      'cut and not contradicted',
      'without late transfers',
      'median',
      'p90',
    ],
    partsOf(ways).map(([part, own]) => {
      const errors = errorsOf(own);
      const spread = spreadOfErrors(errors);
      const ratios = errors.flatMap(({ way, predictedSeconds }) => ratioOf(way, predictedSeconds) ?? []);
      const punctual = spreadOfErrors(errorsOf(withoutLate(own)));
      return [
        PARTS[part],
        String(spread.ways),
        size(spread.median),
        size(spread.p90),
        size(spread.mean),
        size(median(ratios.map(errorOfSpread))),
        String(ratios.filter(({ low, high }) => low <= 1 && high >= 1).length),
        String(own.length - errors.length),
        String(punctual.ways),
        size(punctual.median),
        size(punctual.p90),
      ];
    }),
  );
}

/** Errors by what ways have in common, over the grid and over drawn topologies. */
export function groupTable(ways: readonly MeasuredWay[]): string {
  const errors = errorsOf(ways);
  const rows = Object.entries(GROUPS).flatMap(([name, groupOf]) => {
    const groups = [...Map.groupBy(errors, ({ way }) => groupOf(way))].filter(
      ([group]) => group !== undefined,
    );
    return groups
      .toSorted(([one = ''], [other = '']) => one.localeCompare(other, 'en', { numeric: true }))
      .map(([group = '', own]) => [
        name,
        group,
        ...spreadCells(own.filter(({ way }) => way.part !== 'drawn')),
        ...spreadCells(own.filter(({ way }) => way.part === 'drawn')),
      ]);
  });
  return markdownTable(['by', '', 'grid', 'median', 'p90', 'drawn', 'median', 'p90'], rows, {
    textColumns: 2,
  });
}

function spreadCells(errors: readonly WayError[]): string[] {
  const { ways, ...spread } = spreadOfErrors(errors);
  return ways === 0 ? ['', '', ''] : [String(ways), size(spread.median), size(spread.p90)];
}

/** An error, as it stands in tables. */
export function size(error: number): string {
  return Number.isFinite(error) ? error.toFixed(3) : '';
}
