import { formatBytes } from '@longhaul/shared';
import type { RunInfo } from '../results/run-info.ts';
import { medianInterval } from '../results/statistics.ts';
import type { Cell } from './cells.ts';
import { escapeMarkdown, inlineCode, markdownTable } from './markdown-table.ts';
import { counted, listed } from './numbers.ts';
import { type ReportBody, sectionMarkdown } from './page-parts.ts';
import type { ReportPlan } from './report-plan.ts';
import { bulletList, commandItem, machineItem, momentsItem } from './run-items.ts';
import { trustSection } from './trust-section.ts';

export interface Page {
  readonly plan: ReportPlan;
  readonly info: RunInfo;
  readonly cells: readonly Cell[];
  readonly body: ReportBody;
  /** Relative to the page. */
  readonly pictureFolder: string;
  /** Of the file, without its ending. */
  readonly name: string;
}

/** The whole page: what was asked, what is seen, how it was measured, charts and tables, how far to trust it. */
export function pageMarkdown({ plan, info, cells, body, pictureFolder, name }: Page): string {
  const sections = [...body.sections, trustSection(cells)];
  const parts = [
    `# ${escapeMarkdown(plan.title)}`,
    escapeMarkdown(plan.question),
    ...unfinished(info, cells),
    '## What is seen',
    bulletList(body.findings),
    '## How it was measured',
    bulletList([...plan.method, ...runItems(plan, info, cells)]),
    `Reading the numbers: ${reading(cells)}`,
    ...targets(plan, cells),
    ...sections.map((section) => sectionMarkdown(section, pictureFolder, name)),
  ];
  return `${parts.join('\n\n')}\n`;
}

function unfinished(info: RunInfo, cells: readonly Cell[]): string[] {
  if (info.finishedAt !== null) return [];
  const count = cells.reduce((sum, { lines }) => sum + lines.length, 0);
  return [`**This run is not finished**: the page holds the ${counted(count, 'transfer')} made so far.`];
}

function runItems(plan: ReportPlan, info: RunInfo, cells: readonly Cell[]): string[] {
  const { options } = info;
  const sizes = [...new Set(cells.flatMap(({ lines }) => lines.map((line) => line.sizeBytes)))].toSorted(
    (a, b) => a - b,
  );
  const measured = new Set(cells.map(({ scenario }) => scenario));
  const absent = plan.scenarios.filter((scenario) => !measured.has(scenario)).map(({ id }) => inlineCode(id));
  const ways = new Set(cells.map(({ variant }) => variant));
  const absentWays = plan.variants.filter((variant) => !ways.has(variant)).map(({ id }) => inlineCode(id));
  const cut =
    options.cutSeconds === null ? 'no transfer is cut' : `a transfer is cut after ${options.cutSeconds} s`;
  return [
    commandItem(info),
    momentsItem(info),
    `Repeats: ${options.repeat}${options.quick ? ' (quick)' : ''}, seed ${options.seed}; ${cut}`,
    `File: ${listed(sizes.map(formatBytes))}`,
    machineItem(info),
    ...(absent.length > 0 ? [`Not in this result: scenarios ${listed(absent)}`] : []),
    ...(absentWays.length > 0 ? [`Not in this result: variants ${listed(absentWays)}`] : []),
  ];
}

function reading(cells: readonly Cell[]): string {
  const least = Math.min(...cells.map(({ lines }) => lines.length));
  const { coverage } = medianInterval(Array.from({ length: least }, (_, at) => at));
  const few =
    least < 6
      ? ` The smallest cell has ${counted(least, 'transfer')}: even its whole range holds the true median only with ${(coverage * 100).toFixed(0)} %.`
      : '';
  return `ratios are ratios of medians, or of means where means are shown, with 95 % intervals in brackets by bootstrap with a fixed seed; below about 10 transfers these are rather too narrow.${few} “The best” of several variants is picked after the measurement, which flatters it a little.`;
}

function targets(plan: ReportPlan, cells: readonly Cell[]): string[] {
  if (!plan.targets?.length) return [];
  const lines = cells.flatMap((cell) => cell.lines);
  const outcomes = plan.targets.map((target) => ({ target, ...target.check(lines) }));
  const told = outcomes.filter(({ isMet }) => isMet !== null);
  const met = told.filter(({ isMet }) => isMet).length;
  const rows = outcomes.map(({ target, measured, isMet }) => [
    inlineCode(target.scenario),
    escapeMarkdown(target.text),
    measured === '' ? '–' : escapeMarkdown(measured),
    isMet === null ? 'not measured' : isMet ? 'yes' : '**no**',
  ]);
  return [
    '## Targets',
    `${met} of ${told.length} measured targets are met.`,
    markdownTable(['scenario', 'target', 'measured', 'met'], rows, { textColumns: 2 }),
  ];
}
