import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LabRefusal } from '../../lab/refusal.ts';
import { markdownTable } from '../../lab/report/markdown-table.ts';
import { bulletList, commandItem, machineItem, momentsItem } from '../../lab/report/run-items.ts';
import { readLineFile } from '../../lab/results/result-file.ts';
import { median } from '../../lab/results/statistics.ts';
import { CONTESTANT_IDS, CONTESTANT_LABELS, type ContestantId } from './contestant.ts';
import { type PrefixesLine, prefixesLineSchema } from './prefixes-line.ts';

/** A table of a million prefixes may take so much, and one look-up so long. */
const MOST_BYTES = 20e6;
const MOST_US = 2;
const TARGET_PREFIXES = 1_000_000;

type Figure = Exclude<keyof PrefixesLine, 'bench' | 'contestant' | 'check'>;

/** Makes the page of a prefix benchmark from its lines, `<date>-prefixes.md`. Throws a refusal when there are none. */
export function writePrefixesReport(request: { readonly resultFile: string; readonly outFolder: string }): {
  readonly page: string;
} {
  const { resultFile, outFolder } = request;
  const { info, lines } = readLineFile(resultFile, prefixesLineSchema);
  const [first] = lines;
  if (!first) throw new LabRefusal('lab-result-file', `${resultFile} holds no run: let one come to its end.`);
  const middle = (id: ContestantId, figure: Figure) =>
    median(lines.filter(({ contestant }) => contestant === id).map((line) => line[figure]));
  const ids = CONTESTANT_IDS.filter((id) => lines.some(({ contestant }) => contestant === id));
  const bytes = middle('longhaul', 'memoryBytes');
  const slowest = Math.max(middle('longhaul', 'v4Us'), middle('longhaul', 'v6Us'));
  const isWhole = first.prefixes >= TARGET_PREFIXES;
  const parts = [
    '# Prefix table: who is where',
    `What do ${first.prefixes} prefixes of both families cost, and how long is one look-up, from the text of an address on?`,
    '## What is seen',
    bulletList([
      agreement(lines),
      ...(isWhole
        ? [
            `Memory at most 20 MB: ${megabytes(bytes)}, ${bytes <= MOST_BYTES ? 'met' : 'missed'}`,
            `A look-up at most 2 us of CPU time: ${slowest.toFixed(2)} us, ${slowest <= MOST_US ? 'met' : 'missed'}`,
          ]
        : [`The targets are for ${TARGET_PREFIXES} prefixes`]),
    ]),
    '## How it was measured',
    bulletList([
      'A table drawn like the Internet’s of 2026, its lengths and how they nest, in no order; addresses nine tenths of which lie in a prefix; each contestant in a process of its own, by turns; medians',
      'CPU time of look-ups is of all threads of the process; memory is heap and what lies outside it, after a collection',
      ...ids.map((id) => `\`${id}\`: ${CONTESTANT_LABELS[id]}`),
      commandItem(info),
      momentsItem(info),
      machineItem(info),
      `Load of the machine: ${Math.min(...lines.map(({ load }) => load))} to ${Math.max(...lines.map(({ load }) => load))}`,
    ]),
    '## The contestants',
    markdownTable(
      [
        'contestant',
        'IPv4 us',
        'IPv6 us',
        'memory',
        'after look-ups',
        'read in',
        'CPU of reading',
        'longest pause',
      ],
      ids.map((id) => [
        id,
        middle(id, 'v4Us').toFixed(2),
        middle(id, 'v6Us').toFixed(2),
        megabytes(middle(id, 'memoryBytes')),
        megabytes(middle(id, 'memoryAfterBytes')),
        `${middle(id, 'readSeconds').toFixed(1)} s`,
        `${middle(id, 'readCpuSeconds').toFixed(1)} s`,
        `${middle(id, 'longestPauseMs').toFixed(0)} ms`,
      ]),
      { textColumns: 1 },
    ),
  ];
  mkdirSync(outFolder, { recursive: true });
  const page = join(outFolder, `${info.startedAt.slice(0, 10)}-prefixes.md`);
  writeFileSync(page, `${parts.join('\n\n')}\n`);
  return { page };
}

function agreement(lines: readonly PrefixesLine[]): string {
  const others = lines.filter(({ check }) => check !== lines[0]?.check).map(({ contestant }) => contestant);
  return others.length === 0
    ? 'All contestants say the same of every address'
    : `Not all say the same: ${[...new Set(others)].join(', ')}`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
