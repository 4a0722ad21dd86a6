import type { Run } from '../results/join-results.ts';
import { medianInterval } from '../results/statistics.ts';
import type { Cell } from './cells.ts';
import { escapeMarkdown, inlineCode, markdownTable } from './markdown-table.ts';
import { counted } from './numbers.ts';
import { type ReportBody, sectionMarkdown } from './page-parts.ts';
import type { ReportPlan } from './report-plan.ts';
import { bulletList, runItems } from './run-items.ts';
import { trustSection } from './trust-section.ts';

export interface Page {
  readonly plan: ReportPlan;
  /** At least one. */
  readonly runs: readonly Run[];
  readonly cells: readonly Cell[];
  readonly body: ReportBody;
  /** Relative to the page. */
  readonly pictureFolder: string;
  /** Of the file, without its ending. */
  readonly name: string;
}

/** The whole page: what was asked, what is seen, how it was measured, charts and tables, how far to trust it. */
export function pageMarkdown({ plan, runs, cells, body, pictureFolder, name }: Page): string {
  const sections = [...body.sections, trustSection(cells, runs)];
  const parts = [
    `# ${escapeMarkdown(plan.title)}`,
    escapeMarkdown(plan.question),
    ...unfinished(runs),
    '## What is seen',
    bulletList(body.findings),
    '## How it was measured',
    bulletList([...plan.method, ...runItems(plan, runs, cells)]),
    `Reading the numbers: ${reading(cells)}`,
    ...targets(plan, cells),
    ...sections.map((section) => sectionMarkdown(section, pictureFolder, name)),
  ];
  return `${parts.join('\n\n')}\n`;
}

function unfinished(runs: readonly Run[]): string[] {
  const open = runs.filter(({ info }) => info.finishedAt === null);
  if (open.length === 0) return [];
  const count = open.reduce((sum, { lines }) => sum + lines.length, 0);
  const which =
    runs.length === 1
      ? 'This run is not finished'
      : `Of the ${runs.length} runs, ${open.length} ${open.length === 1 ? 'is' : 'are'} not finished`;
  return [`**${which}**: the page holds the ${counted(count, 'transfer')} made so far.`];
}

function reading(cells: readonly Cell[]): string {
  const least = Math.min(...cells.map(({ lines }) => lines.length));
  const { coverage } = medianInterval(Array.from({ length: least }, (_, at) => at));
  const few =
    least < 6
      ? ` The smallest cell has ${counted(least, 'transfer')}: even its whole range holds the true median only with ${(coverage * 100).toFixed(0)} %.`
      : '';
  return `ratios are ratios of medians, or of means where means are shown, and “in pairs” medians of ratios within repeats, with 95 % intervals in brackets by bootstrap with a fixed seed; below about 10 transfers these are rather too narrow.${few} “The best” of several variants is picked after the measurement, which flatters it a little.`;
}

function targets(plan: ReportPlan, cells: readonly Cell[]): string[] {
  if (!plan.targets?.length) return [];
  const lines = cells.flatMap((cell) => cell.lines);
  const outcomes = plan.targets.map((target) => ({ target, ...target.check(lines) }));
  const told = outcomes.filter(({ isMet }) => isMet !== null);
  const met = told.filter(({ isMet }) => isMet).length;
  const table = (some: typeof outcomes) =>
    markdownTable(
      ['scenario', 'target', 'measured', 'met'],
      some.map(({ target, measured, isMet }) => [
        inlineCode(target.scenario),
        escapeMarkdown(target.text),
        measured === '' ? '–' : escapeMarkdown(measured),
        isMet === null ? 'not measured' : isMet ? 'yes' : '**no**',
      ]),
      { textColumns: 2 },
    );
  const open = outcomes.filter(({ isMet }) => isMet === null);
  const measured = new Set(cells.map(({ scenario }) => scenario.id));
  const near = open.filter(({ target }) => measured.has(target.scenario));
  const far = open.length - near.length;
  return [
    '## Targets',
    `${met} of ${told.length} measured targets are met.`,
    ...(told.length === 0 ? [] : [table(told)]),
    ...(far === 0
      ? []
      : [
          `${counted(far, 'target')} more ${far === 1 ? 'is' : 'are'} about scenarios that are not in this result.`,
        ]),
    ...(near.length === 0
      ? []
      : [
          `<details><summary>${counted(near.length, 'target')} of its scenarios without lines for it</summary>\n\n${table(near)}\n\n</details>`,
        ]),
  ];
}
