import { isLate } from '../report/cells.ts';
import { inlineCode, markdownTable } from '../report/markdown-table.ts';
import { ratioInterval } from '../report/numbers.ts';
import type { MeasuredWay } from './measured-ways.ts';
import { errorsOf, predictedSeconds, ratioOf } from './way-errors.ts';
import { PARTS } from './way-groups.ts';

const WORST_SHOWN = 20;

/** The ways that the model is furthest off for. */
export function worstTable(ways: readonly MeasuredWay[]): string {
  const worst = errorsOf(ways).toSorted((one, other) => Math.abs(other.logRatio) - Math.abs(one.logRatio));
  return markdownTable(
    ['conditions', 'way', 'part', 'ln(measured / predicted)', ...WAY_HEAD],
    worst
      .slice(0, WORST_SHOWN)
      .map((error) => [
        inlineCode(error.way.scenario.id),
        inlineCode(error.way.variant),
        PARTS[error.way.part],
        error.logRatio.toFixed(2),
        ...wayCells(error.way),
      ]),
    { textColumns: 3 },
  );
}

/** Every way that was measured. */
export function allWaysTable(ways: readonly MeasuredWay[]): string {
  return markdownTable(
    ['conditions', 'way', ...WAY_HEAD],
    ways.map((way) => [inlineCode(way.scenario.id), inlineCode(way.variant), ...wayCells(way)]),
    { textColumns: 2 },
  );
}

const WAY_HEAD = ['measured', 'predicted', 'measured / predicted', 'n', 'cut', 'late'];

function wayCells(way: MeasuredWay): string[] {
  const { lines, time } = way;
  const predicted = predictedSeconds(way);
  const ratio = ratioOf(way, predicted);
  const late = lines.filter(isLate).length;
  return [
    `${time.isBound ? '> ' : ''}${seconds(time.seconds)}`,
    seconds(predicted),
    ratio ? ratioInterval(ratio) : '',
    String(lines.length),
    String(lines.filter(({ cut }) => cut).length),
    `${late}${late > 0 ? ' (*)' : ''}`,
  ];
}

function seconds(value: number): string {
  return `${value.toFixed(2)} s`;
}
