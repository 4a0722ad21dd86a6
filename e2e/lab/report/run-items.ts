import { formatBytes } from '@longhaul/shared';
import type { Run } from '../results/join-results.ts';
import type { RunInfo, Sitting } from '../results/run-info.ts';
import { LONGEST_TRANSFER_SECONDS } from '../transfers/transfer.ts';
import { byScenario, type Cell } from './cells.ts';
import { escapeMarkdown, inlineCode } from './markdown-table.ts';
import { counted, listed } from './numbers.ts';
import type { ReportPlan } from './report-plan.ts';

/** List items about where, when and with what the lines came about, and what of the plan is missing. */
export function runItems(plan: ReportPlan, runs: readonly Run[], cells: readonly Cell[]): string[] {
  return [
    ...runs.map((run, at) => (runs.length === 1 ? '' : `run ${at + 1} of ${runs.length}. `) + runItem(run)),
    ...new Set(runs.map(({ info }) => machineItem(info))),
    ...new Set(runs.flatMap(({ info }) => info.notes ?? [])),
    ...apart(runs, cells),
    ...absent(plan, cells),
  ];
}

function runItem({ info, lines }: Run): string {
  const { options } = info;
  // Where none shall be cut, one that takes longer than any is.
  const cutSeconds = options.cutSeconds ?? (lines.some(({ cut }) => cut) ? LONGEST_TRANSFER_SECONDS : null);
  const cut = cutSeconds === null ? 'no transfer is cut' : `a transfer is cut after ${cutSeconds} s`;
  const how = `${counted(lines.length, 'transfer')}, repeats: ${options.repeat}${options.quick ? ' (quick)' : ''}, seed ${options.seed}; ${cut}`;
  return `${commandItem(info)}; ${momentsItem(info)}; ${how}`;
}

/** The command as it was typed, and the commit it ran at. */
export function commandItem({ command, commit }: RunInfo): string {
  return `Command: ${inlineCode(command)}${commit ? `, at commit ${inlineCode(commit)}${changesText(commit)}` : ''}`;
}

/** What the mark of a changed working tree means. */
function changesText(commit: string): string {
  return commit.endsWith('+') ? ' (`+`: files of the tree had changed since)' : '';
}

/** When it was measured, and in how many sittings. */
export function momentsItem({ startedAt, resumedAt, finishedAt }: RunInfo): string {
  const sittings = (isAnew: boolean) =>
    resumedAt.filter((sitting) => (sitting.isAnew ?? false) === isAnew).map(sittingText);
  const moments = [
    `started ${minute(startedAt)}`,
    ...(sittings(false).length > 0 ? [`interrupted and resumed ${listed(sittings(false))}`] : []),
    ...(sittings(true).length > 0
      ? [`all but what was measured by hand anew ${listed(sittings(true))} (only the last is shown)`]
      : []),
    finishedAt === null ? 'not finished' : `finished ${minute(finishedAt)}`,
  ];
  return `${moments.join(', ')} (UTC)`;
}

function sittingText({ at, commit, kernel }: Sitting): string {
  const by = commit === undefined ? '' : ` at commit ${inlineCode(commit)}${changesText(commit)}`;
  return `${minute(at)}${by}${kernel === undefined ? '' : ` on Linux ${escapeMarkdown(kernel)}`}`;
}

/** The machine, its kernel and the programs. */
export function machineItem({ machine, kernel, versions }: RunInfo): string {
  const programs = Object.entries(versions).map(([program, version]) => `${program} ${version}`);
  return `Machine: ${escapeMarkdown(machine.cpu)}, ${counted(machine.cores, 'core')}, ${formatBytes(machine.memoryBytes)} of memory; Linux ${escapeMarkdown(kernel)}; ${escapeMarkdown(programs.join(', '))}`;
}

/** Within one run all variants of a scenario take turns and share what disturbs them; between runs they do not. */
function apart(runs: readonly Run[], cells: readonly Cell[]): string[] {
  const runsOf = new Map<string, Set<Run>>();
  for (const run of runs)
    for (const { scenario } of run.lines) {
      const own = runsOf.get(scenario) ?? new Set();
      runsOf.set(scenario, own.add(run));
    }
  const mixed = byScenario(cells)
    .map(([{ id }]) => id)
    .filter((id) => (runsOf.get(id)?.size ?? 0) > 1);
  if (mixed.length === 0) return [];
  return [
    `Measured in several runs, so not all at the same time: ${listed(mixed.map(inlineCode))}. Between runs the machine may have changed`,
  ];
}

function absent(plan: ReportPlan, cells: readonly Cell[]): string[] {
  const measured = new Set(cells.map(({ scenario }) => scenario));
  const ways = new Set(cells.map(({ variant }) => variant));
  const scenarios = plan.scenarios.filter((scenario) => !measured.has(scenario));
  const variants = plan.variants.filter((variant) => !ways.has(variant));
  const ids = (absentees: readonly { readonly id: string }[]) =>
    listed(absentees.map(({ id }) => inlineCode(id)));
  return [
    ...(scenarios.length > 0 ? [`Not in this result: scenarios ${ids(scenarios)}`] : []),
    ...(variants.length > 0 ? [`Not in this result: variants ${ids(variants)}`] : []),
  ];
}

function minute(iso: string): string {
  return iso.slice(0, 16).replace('T', ' ');
}

/** A list of Markdown, each item with a capital. */
export function bulletList(items: readonly string[]): string {
  return items.map((item) => `- ${item.slice(0, 1).toUpperCase()}${item.slice(1)}`).join('\n');
}
