import { differenceOfMedians, max, median, medianInterval, min } from '../results/statistics.ts';
import type { TransferLine } from '../results/transfer-line.ts';
import { byScenario, type Cell, isFailed, isLate } from './cells.ts';
import { chosenChains } from './chosen-chains.ts';
import { type IntervalPanel, intervalChart } from './interval-chart.ts';
import { escapeMarkdown, inlineCode, markdownTable } from './markdown-table.ts';
import { MEDIAN_LEGEND } from './matrix-report.ts';
import { milliseconds, ratio } from './numbers.ts';
import type { ReportBody, Section } from './page-parts.ts';
import type { ReportPlan } from './report-plan.ts';

/** What is measured of a transfer before or beside its goodput, in milliseconds. */
interface Quantity {
  readonly name: string;
  readonly title: string;
  readonly of: (line: TransferLine) => number | null | undefined;
}

const FIRST_BYTE: Quantity = { name: 'first-byte', title: 'Time to first byte', of: (line) => line.ttfbMs };
const SET_UP: Quantity = { name: 'set-up', title: 'Set-up time', of: (line) => line.setUpMs };
const WHOLE: Quantity = {
  name: 'whole',
  title: 'Whole file',
  of: (line) => (line.cut ? null : line.seconds * 1000),
};

/** Times until the first byte and for setting up, by scenario and variant; failed transfers have none. */
export function signallingReport(_plan: ReportPlan, cells: readonly Cell[]): ReportBody {
  const charts = [FIRST_BYTE, SET_UP].flatMap((quantity): Section[] => {
    const panels = byScenario(cells)
      .map(([scenario, ...own]) => panelOf(quantity, scenario.label, own))
      .filter(({ rows }) => rows.length > 0);
    if (panels.length === 0) return [];
    const isPredicted = panels.some(({ rows }) => rows.some(({ predicted }) => predicted !== undefined));
    const svg = intervalChart({
      title: quantity.title,
      description: `${quantity.title} in milliseconds of each variant with its interval, one panel for each of ${panels.length} scenarios.`,
      xLabel: `${quantity.title.toLowerCase()}, ms`,
      panels,
      legend: isPredicted
        ? [...MEDIAN_LEGEND, 'Large hollow mark: what the model predicted.']
        : MEDIAN_LEGEND,
    });
    return [
      { title: quantity.title, picture: { name: quantity.name, title: quantity.title, svg }, tables: [] },
    ];
  });
  const tables = byScenario(cells).map(([scenario, ...own]) =>
    [`### ${escapeMarkdown(scenario.label)}: ${inlineCode(scenario.id)}`, table(own)].join('\n\n'),
  );
  const numbers: Section = {
    title: 'All times',
    text: ['Median and [least–most] of all transfers that did not fail, milliseconds:'],
    tables,
  };
  return {
    findings: byScenario(cells).map(([scenario, ...own]) => findings(scenario.label, own)),
    sections: [...charts, numbers],
  };
}

function valuesOf({ lines }: Cell, { of }: Quantity): number[] {
  return lines.filter((line) => !isFailed(line)).flatMap((line) => of(line) ?? []);
}

function panelOf(quantity: Quantity, title: string, cells: readonly Cell[]): IntervalPanel {
  const rows = cells.flatMap((cell) => {
    const values = valuesOf(cell, quantity);
    if (values.length === 0) return [];
    const told = cell.lines.filter((line) => !isFailed(line) && typeof quantity.of(line) === 'number');
    const predicted = quantity === FIRST_BYTE ? cell.scenario.predictedMs?.[cell.variant.id] : undefined;
    const { value, low, high } = medianInterval(values);
    return [
      {
        label: cell.variant.label,
        series: cell.series,
        value,
        low,
        high,
        valueLabel: `${milliseconds(value)}${told.some(isLate) ? '*' : ''}`,
        ...(predicted === undefined ? {} : { predicted }),
        singles: told.map((line) => ({ value: quantity.of(line) ?? 0, isHollow: isLate(line) })),
      },
    ];
  });
  return { title, rows };
}

function table(cells: readonly Cell[]): string {
  const direct = cells.find(({ variant }) => variant.id === 'direct');
  const rttMs = cells[0]?.scenario.rttMs;
  const isPredicted = cells.some(({ scenario, variant }) => scenario.predictedMs?.[variant.id] !== undefined);
  const head = [
    'variant',
    'n',
    'first byte',
    ...(rttMs === undefined ? [] : ['in round trips']),
    ...(isPredicted ? ['predicted'] : []),
    'after `direct`',
    'set-up',
    'whole file',
  ];
  const rows = cells.map((cell) => {
    const firstByte = valuesOf(cell, FIRST_BYTE);
    const predicted = cell.scenario.predictedMs?.[cell.variant.id];
    const star = cell.lines.some(isLate) ? '\\*' : '';
    return [
      inlineCode(cell.variant.id),
      String(cell.lines.length),
      `${rangeText(firstByte)}${star}`,
      ...(rttMs === undefined ? [] : [firstByte.length > 0 ? ratio(median(firstByte) / rttMs) : '–']),
      ...(isPredicted ? [predicted === undefined ? '–' : milliseconds(predicted)] : []),
      direct && cell !== direct ? laterText(cell, direct) : '–',
      rangeText(valuesOf(cell, SET_UP)),
      rangeText(valuesOf(cell, WHOLE)),
    ];
  });
  return markdownTable(head, rows);
}

function laterText(cell: Cell, direct: Cell): string {
  const difference = differenceOfMedians(valuesOf(cell, FIRST_BYTE), valuesOf(direct, FIRST_BYTE));
  return difference
    ? `${signed(difference.value)} [${signed(difference.low)} to ${signed(difference.high)}]`
    : '–';
}

function rangeText(values: readonly number[]): string {
  if (values.length === 0) return '–';
  return `${milliseconds(median(values))} [${milliseconds(min(values))}–${milliseconds(max(values))}]`;
}

function signed(ms: number): string {
  return `${ms < 0 ? '−' : '+'}${milliseconds(Math.abs(ms))}`;
}

function findings(label: string, cells: readonly Cell[]): string {
  const rttMs = cells[0]?.scenario.rttMs;
  const direct = cells.find(({ variant }) => variant.id === 'direct');
  const base = direct ? valuesOf(direct, FIRST_BYTE) : [];
  const told = cells.flatMap((cell) => {
    const values = valuesOf(cell, FIRST_BYTE);
    if (values.length === 0) return [];
    const middle = median(values);
    const trips = rttMs === undefined ? '' : `, ${ratio(middle / rttMs)} round trips`;
    const gap = middle - median(base);
    const later =
      cell === direct || Number.isNaN(gap)
        ? ''
        : `, ${milliseconds(Math.abs(gap))} ms ${gap < 0 ? 'earlier' : 'later'} than \`direct\``;
    const chose = cell.variant.id === 'auto' ? chosenChains(cell) : '';
    return [
      `${inlineCode(cell.variant.id)} after ${milliseconds(middle)} ms${trips}${later}${chose ? ` (it ${chose})` : ''}`,
    ];
  });
  return `**${escapeMarkdown(label)}**: first byte (median) with ${told.join('; ')}.`;
}
