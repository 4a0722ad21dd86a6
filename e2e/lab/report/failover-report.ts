import { max, median, medianInterval, min } from '../results/statistics.ts';
import type { TransferLine } from '../results/transfer-line.ts';
import { byScenario, type Cell, isLate } from './cells.ts';
import { type IntervalPanel, intervalChart } from './interval-chart.ts';
import { escapeMarkdown, inlineCode, markdownTable } from './markdown-table.ts';
import { MEDIAN_LEGEND } from './matrix-report.ts';
import { counted, listed, milliseconds } from './numbers.ts';
import type { ReportBody, Section } from './page-parts.ts';
import type { ReportPlan } from './report-plan.ts';

/** As sentences name the faults. */
const FAULT_NAMES = { fin: 'FIN', rst: 'RST', silence: 'silence' } as const;
/** Several faults of several places: one colour for each kind, whatever the place in the file. */
const FAULT_SERIES = { fin: 0, rst: 1, silence: 2 } as const;

/** Pauses by fault and position, and whether the file was whole and came in one go. */
export function failoverReport(_plan: ReportPlan, cells: readonly Cell[]): ReportBody {
  const panels = byScenario(cells)
    .map(([scenario, ...own]) => panelOf(scenario.label, own))
    .filter(({ rows }) => rows.length > 0);
  const chart: Section = {
    title: 'Pauses',
    text: [
      'How long the client saw no new byte at most after the fault, of transfers that brought the whole file:',
    ],
    ...(panels.length === 0
      ? {}
      : {
          picture: {
            name: 'pauses',
            title: 'Longest pause after a fault, by depot and kind of fault',
            svg: intervalChart({
              title: 'Longest pause after a fault',
              description: `Longest time without a new byte in milliseconds by fault, one panel for each of ${panels.length} positions of the depot.`,
              xLabel: 'longest pause, ms',
              panels,
              legend: MEDIAN_LEGEND,
              hasOwnScales: true,
            }),
          },
        }),
    tables: panels.length === 0 ? ['No transfer brought the whole file.'] : [],
  };
  const tables = byScenario(cells).map(([scenario, ...own]) =>
    [`### ${escapeMarkdown(scenario.label)}: ${inlineCode(scenario.id)}`, table(own)].join('\n\n'),
  );
  const all: Section = {
    title: 'All faults',
    text: ['Pause and time of the whole file: median and [least–most] of transfers that brought it.'],
    tables,
  };
  return {
    findings: byScenario(cells).map(([scenario, ...own]) => finding(scenario.label, own)),
    sections: [chart, all],
  };
}

const isWhole = ({ sha256Ok }: TransferLine) => sha256Ok === true;
/** The client was started once and saw nothing but a pause. */
const isUninterrupted = (line: TransferLine) => isWhole(line) && (line.attempts ?? 1) === 1;
/** Where no byte was left to wait for there was no pause. */
const pausesOf = (lines: readonly TransferLine[]) => lines.filter(isWhole).map(({ pauseMs }) => pauseMs ?? 0);

function panelOf(title: string, cells: readonly Cell[]): IntervalPanel {
  const rows = cells.flatMap(({ variant, lines }) => {
    const fault = lines[0]?.fault;
    const told = lines.filter(isWhole);
    if (fault === undefined || told.length === 0) return [];
    const { value, low, high } = medianInterval(pausesOf(told));
    return [
      {
        label: variant.label,
        series: FAULT_SERIES[fault],
        value,
        low,
        high,
        valueLabel: `${milliseconds(value)}${told.some(isLate) ? '*' : ''}`,
        singles: told.map((line) => ({ value: line.pauseMs ?? 0, isHollow: isLate(line) })),
      },
    ];
  });
  return { title, rows };
}

function table(cells: readonly Cell[]): string {
  const head = [
    'variant',
    'n',
    'byte-identical',
    'uninterrupted',
    'client starts',
    'pause, ms',
    'whole file, s',
  ];
  const rows = cells.map(({ variant, lines }) => {
    const whole = lines.filter(isWhole);
    return [
      inlineCode(variant.id),
      String(lines.length),
      String(whole.length),
      String(lines.filter(isUninterrupted).length),
      range(
        lines.map(({ attempts = 1 }) => attempts),
        String,
      ),
      lines[0]?.fault ? `${range(pausesOf(lines), milliseconds)}${lines.some(isLate) ? '\\*' : ''}` : '–',
      range(
        whole.map(({ seconds }) => seconds),
        (seconds) => seconds.toFixed(1),
      ),
    ];
  });
  return markdownTable(head, rows);
}

function range(values: readonly number[], tell: (value: number) => string): string {
  if (values.length === 0) return '–';
  const [least, middle, most] = [min(values), median(values), max(values)].map(tell);
  return least === most ? `${middle}` : `${middle} [${least}–${most}]`;
}

function finding(label: string, cells: readonly Cell[]): string {
  const lines = cells.flatMap((cell) => cell.lines).filter(({ fault }) => fault !== undefined);
  const name = `**${escapeMarkdown(label)}**`;
  if (lines.length === 0) return `${name}: no fault was tried.`;
  const whole = lines.filter(isWhole).length;
  const uninterrupted = lines.filter(isUninterrupted).length;
  const arrived = `of ${counted(lines.length, 'transfer')} ${whole} brought the file byte-identical, ${uninterrupted} in one uninterrupted download`;
  const pauses = (['fin', 'rst', 'silence'] as const).flatMap((fault) => {
    const values = pausesOf(lines.filter((line) => line.fault === fault));
    if (values.length === 0) return [];
    return [
      `${milliseconds(median(values))} ms after ${FAULT_NAMES[fault]} (at most ${milliseconds(max(values))})`,
    ];
  });
  return `${name}: ${arrived}${pauses.length > 0 ? `; the client paused for ${listed(pauses)}, medians` : ''}.`;
}
