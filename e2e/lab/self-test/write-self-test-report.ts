import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { escapeMarkdown, markdownTable } from '../report/markdown-table.ts';
import { counted } from '../report/numbers.ts';
import { bulletList, commandItem, machineItem, momentsItem } from '../report/run-items.ts';
import { readLineFile } from '../results/result-file.ts';
import { selfTestLineSchema } from './self-test-line.ts';

/** Makes the page of a self-test, `<date>-self-test.md`; gives its path. */
export function writeSelfTestReport(resultFile: string, outFolder: string): string {
  const { info, lines } = readLineFile(resultFile, selfTestLineSchema);
  const failed = lines.filter(({ isWithin }) => !isWithin);
  const rows = lines.map(({ check, expected, measured, isWithin }) => [
    escapeMarkdown(check),
    escapeMarkdown(expected),
    escapeMarkdown(measured),
    isWithin ? 'yes' : '**no**',
  ]);
  const parts = [
    '# The emulator held against its promises',
    'Does a link lose, delay, queue and carry what it is told to, on this machine, and how late is it?',
    '## What is seen',
    bulletList([
      failed.length === 0
        ? `all ${counted(lines.length, 'promise')} are kept`
        : `${lines.length - failed.length} of ${counted(lines.length, 'promise')} are kept; not: ${failed.map(({ check }) => escapeMarkdown(check)).join('; ')}`,
    ]),
    '## How it was measured',
    bulletList([
      'Small UDP packets there and back, and single TCP flows, between namespaces that one emulated link joins, or four in a row',
      'Losses and drops are counted in the emulator, and before it in the devices; a check that a stall of the machine may fail is tried three times, and the last one counts',
      'Lateness is how much later than due a packet left, or how long the emulator did not look at its devices under traffic',
      `${commandItem(info)}; ${momentsItem(info)}`,
      machineItem(info),
    ]),
    '## All checks',
    markdownTable(['check', 'expected', 'measured', 'within'], rows, { textColumns: 4 }),
  ];
  mkdirSync(outFolder, { recursive: true });
  const path = join(outFolder, `${info.startedAt.slice(0, 10)}-self-test.md`);
  writeFileSync(path, `${parts.join('\n\n')}\n`);
  return path;
}
