import { lowEnd } from '../results/paired-ratios.ts';
import { median, medianInterval } from '../results/statistics.ts';
import { byGroup, byScenario, type Cell, isMarked } from './cells.ts';
import { compareCells, pairedRatio } from './compare.ts';
import { harmSections } from './harm-sections.ts';
import { type IntervalPanel, intervalChart } from './interval-chart.ts';
import { escapeMarkdown, inlineCode, markdownTable } from './markdown-table.ts';
import { matrixFindings } from './matrix-findings.ts';
import { mbps, mbpsRange, ratioInterval } from './numbers.ts';
import { type ReportBody, type Section, slug } from './page-parts.ts';
import { predictionSections, regretSections } from './planner-sections.ts';
import { reasonSection } from './reason-section.ts';
import type { ReportPlan } from './report-plan.ts';
import { busySentence } from './trust-section.ts';

/** Explains the marks of every chart of medians. */
export const MEDIAN_LEGEND = [
  'Large mark: median. Whiskers: its 95 % interval (the whole range below 6 transfers). Small dots: single transfers, hollow when the emulator was late or a device dropped packets.',
];

/** Scenarios by variants: goodput, and how many times that of `direct` and of plain ranges. */
export function matrixReport(plan: ReportPlan, cells: readonly Cell[]): ReportBody {
  const overview = [...byGroup(cells)].map(([group, own]): Section => {
    const title = group === '' ? 'Goodput' : `Goodput, ${group}`;
    return {
      title,
      picture: {
        name: slug('goodput', group),
        title: `${title}: medians by scenario and variant`,
        svg: chartOf(title, own),
      },
      tables: [
        'Median and [least–most] of all transfers, Mbit/s:',
        overviewTable(plan, own),
        busySentence(own.flatMap(({ lines }) => lines)),
        ...byScenario(own).map(([scenario, ...row]) =>
          [`### ${escapeMarkdown(scenario.label)}: ${inlineCode(scenario.id)}`, ratioTable(row)].join('\n\n'),
        ),
      ],
    };
  });
  const others = [
    reasonSection(cells),
    ...overview,
    ...harmSections(cells),
    ...predictionSections(cells),
    ...regretSections(cells),
  ];
  return { findings: matrixFindings(cells), sections: others };
}

function chartOf(title: string, cells: readonly Cell[]): string {
  return intervalChart({
    title,
    description: `Median goodput in Mbit/s of each variant with its interval, one panel for each of ${byScenario(cells).length} scenarios.`,
    xLabel: 'goodput, Mbit/s',
    panels: byScenario(cells).map(([scenario, ...own]): IntervalPanel => goodputPanel(scenario.label, own)),
    legend: MEDIAN_LEGEND,
  });
}

/** Panel of medians of goodput, with the scenario's bound and what the model predicted. */
export function goodputPanel(title: string, cells: readonly Cell[]): IntervalPanel {
  const scenario = cells[0]?.scenario;
  const boundBps = scenario?.boundBps;
  return {
    title,
    ...(boundBps === undefined ? {} : { bound: { value: boundBps / 1e6, label: `bound ${mbps(boundBps)}` } }),
    rows: cells.map(({ variant, series, lines, goodputsBps }) => {
      const { value, low, high } = medianInterval(goodputsBps);
      const predictedBps = scenario?.predictedBps?.[variant.id];
      return {
        label: variant.label,
        series,
        value: value / 1e6,
        low: low / 1e6,
        high: high / 1e6,
        valueLabel: `${mbps(value)}${lines.some(isMarked) ? '*' : ''}`,
        ...(predictedBps === undefined ? {} : { predicted: predictedBps / 1e6 }),
        singles: lines.map((line, at) => ({ value: (goodputsBps[at] ?? 0) / 1e6, isHollow: isMarked(line) })),
      };
    }),
  };
}

function overviewTable(plan: ReportPlan, cells: readonly Cell[]): string {
  const variants = plan.variants.filter(({ id }) => cells.some((cell) => cell.variant.id === id));
  const rows = byScenario(cells).map(([scenario, ...own]) => [
    inlineCode(scenario.id),
    ...variants.map(({ id }) => goodputText(own.find((cell) => cell.variant.id === id))),
    scenario.boundBps === undefined ? '–' : mbps(scenario.boundBps),
  ]);
  return markdownTable(['scenario', ...variants.map(({ id }) => inlineCode(id)), 'bound'], rows);
}

function ratioTable(cells: readonly Cell[]): string {
  const direct = cells.find(({ variant }) => variant.id === 'direct');
  const ranges = cells.find(({ variant }) => variant.id === 'ranges8');
  const against = (cell: Cell, other: Cell | undefined): string => {
    const compared = other && cell !== other ? compareCells(cell, other) : null;
    return compared ? ratioInterval(compared.ratio) : '–';
  };
  const rows = cells.map((cell) => {
    const { boundBps } = cell.scenario;
    const paired = direct && cell !== direct ? pairedRatio(cell, direct) : null;
    const share =
      boundBps === undefined ? '–' : `${((median(cell.goodputsBps) / boundBps) * 100).toFixed(0)} %`;
    return [
      inlineCode(cell.variant.id),
      goodputText(cell),
      lowText(cell),
      String(cell.lines.length),
      against(cell, direct),
      paired ? ratioInterval(paired) : '–',
      against(cell, ranges),
      share,
    ];
  });
  return markdownTable(
    ['variant', 'Mbit/s', '5 %', 'n', '× `direct`', 'in pairs', '× `ranges8`', 'of the bound'],
    rows,
  );
}

/** Median and range of a cell in Mbit/s, with a star when a transfer of it is marked: `74 [70–78]*`. */
export function goodputText(cell: Cell | undefined): string {
  return cell ? `${mbpsRange(cell.goodputsBps)}${cell.lines.some(isMarked) ? '\\*' : ''}` : '–';
}

/** What only one of twenty transfers falls below; of few, the least. */
function lowText({ goodputsBps }: Cell): string {
  const { value, kind } = lowEnd(goodputsBps);
  return kind === 'least' ? `least ${mbps(value)}` : mbps(value);
}
