import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LabRefusal } from '../../lab/refusal.ts';
import { markdownTable } from '../../lab/report/markdown-table.ts';
import { bulletList, commandItem, machineItem, momentsItem } from '../../lab/report/run-items.ts';
import { readLineFile } from '../../lab/results/result-file.ts';
import { max, median } from '../../lab/results/statistics.ts';
import { type Flood, type OverloadLine, overloadLineSchema } from './overload-line.ts';

/** Of what a master can plan, at least answered when twice as much is asked for. */
const LEAST_ANSWERED = 0.9;
/** The slowest of a hundred answers then. */
const MOST_P99_MS = 250;

/**
 * Makes the page of an overload benchmark from its lines, `<date>-overload.md`. Throws a refusal when there
 * are none.
 */
export function writeOverloadReport(request: { readonly resultFile: string; readonly outFolder: string }): {
  readonly page: string;
} {
  const { resultFile, outFolder } = request;
  const { info, lines } = readLineFile(resultFile, overloadLineSchema);
  if (lines.length === 0)
    throw new LabRefusal('lab-result-file', `${resultFile} holds no run: let one come to its end.`);
  const counts = [...new Set(lines.map(({ connections }) => connections))].toSorted(
    (one, other) => one - other,
  );
  const of = (count: number) => lines.filter(({ connections }) => connections === count);
  const parts = [
    '# Overload: what becomes of twice as many requests as a master can plan',
    'How many redirects does a core plan in a second, and who waits how long when twice as many are asked for?',
    '## What is seen',
    bulletList([
      `${Math.round(median(lines.map(({ capacity }) => capacity)))} redirects a second for each core, every URL new, led to a depot by a fresh signature`,
      ...counts.map((count) => verdict(count, of(count))),
    ]),
    '## How it was measured',
    bulletList([
      'One process is the master, with three depots; another one asks, each time for another file, over connections that stay, without waiting for answers: a request whose turn comes when all connections are busy counts from its turn on',
      'What a core can plan is the redirects by the CPU time of the master, when sixteen connections ask one after the other. Then twice as many are asked for in a second by one client network, and fifty a second by another one, the bystander',
      commandItem(info),
      momentsItem(info),
      machineItem(info),
      `Load of the machine: ${Math.min(...lines.map(({ load }) => load))} to ${max(lines.map(({ load }) => load))}`,
    ]),
    '## At twice what it can',
    markdownTable(
      [
        'connections',
        'n',
        'can plan',
        'asked for',
        'answered',
        'with a plan',
        'direct',
        'refused',
        'median',
        'p99',
        'bystander planned',
        'its p99',
      ],
      counts.map((count) => {
        const runs = of(count);
        const floodOf = (read: (flood: Flood) => number) => median(runs.map(({ flood }) => read(flood)));
        const perSecond = (read: (flood: Flood) => number) =>
          `${Math.round(floodOf((flood) => read(flood) / flood.seconds))}/s`;
        return [
          String(count),
          String(runs.length),
          `${Math.round(median(runs.map(({ capacity }) => capacity)))}/s`,
          perSecond(({ wanted }) => wanted),
          perSecond(({ answered }) => answered),
          perSecond(({ chain }) => chain),
          perSecond(({ direct }) => direct),
          perSecond(({ refused }) => refused),
          ms(floodOf(({ p50Ms }) => p50Ms)),
          ms(floodOf(({ p99Ms }) => p99Ms)),
          `${Math.round(100 * median(runs.map(({ bystander }) => plannedShare(bystander))))} %`,
          ms(median(runs.map(({ bystander }) => bystander.p99Ms))),
        ];
      }),
    ),
  ];
  mkdirSync(outFolder, { recursive: true });
  const page = join(outFolder, `${info.startedAt.slice(0, 10)}-overload.md`);
  writeFileSync(page, `${parts.join('\n\n')}\n`);
  return { page };
}

function verdict(count: number, runs: readonly OverloadLine[]): string {
  const share = median(runs.map(({ flood, capacity }) => flood.answered / flood.seconds / capacity));
  const p99Ms = median(runs.map(({ flood }) => flood.p99Ms));
  const isMet = share >= LEAST_ANSWERED && p99Ms <= MOST_P99_MS;
  return `${count} connections: at least ${LEAST_ANSWERED} of that answered and p99 at most ${MOST_P99_MS} ms promised, ${share.toFixed(2)} and ${ms(p99Ms)} in the median, ${isMet ? 'met' : 'missed'}`;
}

function plannedShare({ chain, direct, refused }: Flood): number {
  return chain / Math.max(1, chain + direct + refused);
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`;
}
