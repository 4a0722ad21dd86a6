import { formatBytes } from '@longhaul/shared';
import type { RunInfo } from '../results/run-info.ts';
import { escapeMarkdown, inlineCode } from './markdown-table.ts';
import { counted, listed } from './numbers.ts';

/** `Command: ... at commit ...`, Markdown. */
export function commandItem(info: RunInfo): string {
  return `Command: ${inlineCode(info.command)}${info.commit ? `, at commit ${inlineCode(info.commit)}` : ''}`;
}

/** When it was measured, and in how many sittings. */
export function momentsItem(info: RunInfo): string {
  const moments = [
    `started ${minute(info.startedAt)}`,
    ...(info.resumedAt.length > 0 ? [`interrupted and resumed ${listed(info.resumedAt.map(minute))}`] : []),
    ...(info.finishedAt === null ? [] : [`finished ${minute(info.finishedAt)}`]),
  ];
  return upperFirst(`${moments.join(', ')} (UTC)`);
}

/** The machine, its kernel and the programs, Markdown. */
export function machineItem({ machine, kernel, versions }: RunInfo): string {
  const programs = Object.entries(versions).map(([program, version]) => `${program} ${version}`);
  return `Machine: ${escapeMarkdown(machine.cpu)}, ${counted(machine.cores, 'core')}, ${formatBytes(machine.memoryBytes)} of memory; Linux ${escapeMarkdown(kernel)}; ${escapeMarkdown(programs.join(', '))}`;
}

/** A list of Markdown, each item with a capital. */
export function bulletList(items: readonly string[]): string {
  return items.map((item) => `- ${upperFirst(item)}`).join('\n');
}

function minute(iso: string): string {
  return iso.slice(0, 16).replace('T', ' ');
}

function upperFirst(words: string): string {
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}
