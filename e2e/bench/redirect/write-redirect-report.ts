import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LabRefusal } from '../../lab/refusal.ts';
import { markdownTable } from '../../lab/report/markdown-table.ts';
import { bulletList, commandItem, machineItem, momentsItem } from '../../lab/report/run-items.ts';
import { readLineFile } from '../../lab/results/result-file.ts';
import { max, median } from '../../lab/results/statistics.ts';
import {
  CONTESTANT_LABELS,
  CONTESTANTS,
  type Contestant,
  REDIRECT_CASE_IDS,
  REDIRECT_CASES,
  type RedirectCaseId,
} from './redirect-case.ts';
import { type RedirectLine, redirectLineSchema } from './redirect-line.ts';

/**
 * Makes the page of a redirect benchmark from its lines, `<date>-redirect.md`. Throws a refusal when there
 * are none.
 */
export function writeRedirectReport(request: { readonly resultFile: string; readonly outFolder: string }): {
  readonly page: string;
} {
  const { resultFile, outFolder } = request;
  const { info, lines } = readLineFile(resultFile, redirectLineSchema);
  if (lines.length === 0)
    throw new LabRefusal('lab-result-file', `${resultFile} holds no run: let one come to its end.`);
  const ids = REDIRECT_CASE_IDS.filter((id) => lines.some((line) => line.case === id));
  const parts = [
    '# Redirects: what one costs a master',
    'How much CPU time does a redirect take, beside servers that only answer?',
    '## What is seen',
    bulletList(ids.map((id) => verdict(id, lines))),
    '## How it was measured',
    bulletList([
      'Each server is one process on loopback; the others rest meanwhile. Over plain HTTP sixteen connections that stay, one request after the other on each; over TLS 1.3 each request has a connection of its own. The CPU time is that of the whole process, system calls included, by the kernel; clients are another process',
      'A ratio is the median over the repeats of our time by that of nginx in the same repeat',
      ...CONTESTANTS.map((one) => `${one}: ${CONTESTANT_LABELS[one]}`),
      commandItem(info),
      momentsItem(info),
      machineItem(info),
      `Load of the machine: ${Math.min(...lines.map(({ load }) => load))} to ${max(lines.map(({ load }) => load))}`,
    ]),
    '## The servers',
    markdownTable(
      ['case', 'server', 'n', 'CPU of one redirect', 'worst', 'by nginx'],
      ids.flatMap((id) =>
        CONTESTANTS.map((contestant) => {
          const times = timesOf(id, contestant, lines);
          const ratio = median(ratiosOf(id, contestant, lines));
          return [
            REDIRECT_CASES[id].text,
            contestant,
            String(times.length),
            us(median(times)),
            us(max(times)),
            `${ratio.toFixed(2)} x`,
          ];
        }),
      ),
      { textColumns: 2 },
    ),
  ];
  mkdirSync(outFolder, { recursive: true });
  const page = join(outFolder, `${info.startedAt.slice(0, 10)}-redirect.md`);
  writeFileSync(page, `${parts.join('\n\n')}\n`);
  return { page };
}

function verdict(id: RedirectCaseId, lines: readonly RedirectLine[]): string {
  const { text, most } = REDIRECT_CASES[id];
  const ratio = median(ratiosOf(id, 'longhaul', lines));
  const capital = `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  return `${capital}: at most ${most} times nginx promised, ${ratio.toFixed(2)} times in the median, ${ratio <= most ? 'met' : 'missed'}`;
}

function timesOf(id: RedirectCaseId, contestant: Contestant, lines: readonly RedirectLine[]): number[] {
  return lines.filter((line) => line.case === id && line.contestant === contestant).map(({ cpuUs }) => cpuUs);
}

function ratiosOf(id: RedirectCaseId, contestant: Contestant, lines: readonly RedirectLine[]): number[] {
  return lines.flatMap((line) => {
    if (line.case !== id || line.contestant !== contestant) return [];
    const nginx = lines.find(
      (other) => other.case === id && other.repeat === line.repeat && other.contestant === 'nginx',
    );
    return nginx ? [line.cpuUs / nginx.cpuUs] : [];
  });
}

function us(value: number): string {
  return `${value.toFixed(1)} us`;
}
