import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LabRefusal } from '../../lab/refusal.ts';
import { markdownTable } from '../../lab/report/markdown-table.ts';
import { bulletList, commandItem, machineItem, momentsItem } from '../../lab/report/run-items.ts';
import { readLineFile } from '../../lab/results/result-file.ts';
import { max, median } from '../../lab/results/statistics.ts';
import { type FactsLine, factsLineSchema } from './facts-line.ts';

/** A figure of the page with its target; `of` reads it of a line. */
interface Row {
  readonly what: string;
  readonly of: (line: FactsLine) => number;
  readonly text: (value: number) => string;
  readonly most?: number;
}

const core = (value: number) => `${(100 * value).toFixed(1)} % of a core`;
const ms = (value: number) => `${Math.round(value)} ms`;

const ROWS: readonly Row[] = [
  { what: 'a master that is told', of: ({ toldCores }) => toldCores, text: core, most: 0.03 },
  {
    what: 'what it is told in a second',
    of: ({ bytesPerSecond }) => bytesPerSecond,
    text: (bytes) => `${(bytes / 1e6).toFixed(3)} MB`,
    most: 0.5e6,
  },
  { what: 'one that joins late knows all after', of: ({ joinedMs }) => joinedMs, text: ms, most: 100 },
  { what: 'and has worked for', of: ({ joinedCpuMs }) => joinedCpuMs, text: ms },
  { what: 'who hears all depots and tells of them', of: ({ tellingCores }) => tellingCores, text: core },
  { what: 'the NATS server', of: ({ serverCores }) => serverCores, text: core },
];

/**
 * Makes the page of what shared knowledge costs from its lines, `<date>-facts.md`. Throws a refusal when
 * there are none.
 */
export function writeFactsReport(request: { readonly resultFile: string; readonly outFolder: string }): {
  readonly page: string;
} {
  const { resultFile, outFolder } = request;
  const { info, lines } = readLineFile(resultFile, factsLineSchema);
  const [first] = lines;
  if (!first) throw new LabRefusal('lab-result-file', `${resultFile} holds no run: let one come to its end.`);
  const { depots, links } = first;
  const loads = lines.map(({ load }) => load);
  const parts = [
    '# Facts: what it costs masters to know the same',
    `What does it cost a master to be told of ${depots} depots with ${links} links each, which are heard and measured once a second, and how soon does one that joins late know all of it?`,
    '## What is seen',
    markdownTable(
      ['what', 'median', 'worst', 'promised', ''],
      ROWS.map(({ what, of, text, most }) => {
        const values = lines.map(of);
        const verdict = most === undefined ? '' : median(values) <= most ? 'met' : 'missed';
        return [
          what,
          text(median(values)),
          text(max(values)),
          most === undefined ? '' : `at most ${text(most)}`,
          verdict,
        ];
      }),
    ),
    '## How it was measured',
    bulletList([
      'One process hears all depots, every link with one tenth of noise, and tells of them over a NATS server; a whole master is told. A minute after its start shares of a core are CPU time by time passed, and bytes are those that come to the server. One that joins late counts from when it listens until it says that it is ready',
      `${lines.length} times`,
      commandItem(info),
      momentsItem(info),
      machineItem(info),
      `Load of the machine: ${Math.min(...loads)} to ${max(loads)}`,
    ]),
  ];
  mkdirSync(outFolder, { recursive: true });
  const page = join(outFolder, `${info.startedAt.slice(0, 10)}-facts.md`);
  writeFileSync(page, `${parts.join('\n\n')}\n`);
  return { page };
}
