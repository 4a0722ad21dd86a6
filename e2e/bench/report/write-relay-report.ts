import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LabRefusal } from '../../lab/refusal.ts';
import { inlineCode, markdownTable } from '../../lab/report/markdown-table.ts';
import { pictureFile, type Section, sectionMarkdown } from '../../lab/report/page-parts.ts';
import { bulletList, commandItem, machineItem, momentsItem } from '../../lab/report/run-items.ts';
import { readLineFile } from '../../lab/results/result-file.ts';
import type { RunInfo } from '../../lab/results/run-info.ts';
import { type CaseLine, caseLineSchema } from '../cases/case-line.ts';
import { heldLineSchema, relayLineSchema } from '../measure/relay-line.ts';
import { RELAY_ACCOUNTS, RELAY_IDS } from '../relays/relay-id.ts';
import { casesFileOf, heldFileOf } from '../run/held-file.ts';
import { caseSections } from './case-sections.ts';
import { type RelayCell, relayCells } from './relay-cells.ts';
import { relayFindings } from './relay-findings.ts';
import { relaySections } from './relay-sections.ts';
import { relayTargets } from './relay-targets.ts';
import type { TargetRow } from './target-row.ts';

/** Where charts stand, below the page's folder. */
const PICTURE_FOLDER = 'pictures';

/**
 * Makes the page of a result, `<date>-relay.md`, and its charts. Throws a refusal when the result cannot be
 * read or is empty.
 */
export function writeRelayReport(request: { readonly resultFile: string; readonly outFolder: string }): {
  readonly page: string;
} {
  const { resultFile, outFolder } = request;
  const { info, lines } = readLineFile(resultFile, relayLineSchema);
  const held = readLineFile(heldFileOf(resultFile), heldLineSchema).lines;
  const cases = readCases(casesFileOf(resultFile));
  if (lines.length + held.length + cases.length === 0)
    throw new LabRefusal('lab-result-file', `${resultFile} holds no run yet: let the benchmark run longer.`);
  const cells = relayCells(lines);
  const name = `${info.startedAt.slice(0, 10)}-relay${info.options.quick ? '-quick' : ''}`;
  const sections = [...relaySections(cells, held), ...caseSections(cases)];
  const parts = [
    '# The relay: what a byte costs',
    'How much CPU does a relay need for each gigabyte, how fast is it, and what do flows hold that rest? Ours against others, on one core.',
    ...(info.finishedAt === null
      ? [`**This benchmark is not finished**: the page holds ${lines.length + cases.length} runs.`]
      : []),
    '## What is seen',
    bulletList(relayFindings(cells, held)),
    '## How it was measured',
    bulletList([...method(cells), ...runItems(info)]),
    ...targetParts(relayTargets(cells, held, cases)),
    ...sections.map((section) => sectionMarkdown(section, PICTURE_FOLDER, name)),
  ];
  mkdirSync(join(outFolder, PICTURE_FOLDER), { recursive: true });
  for (const section of sections) writePicture(section, outFolder, name);
  const page = join(outFolder, `${name}.md`);
  writeFileSync(page, `${parts.join('\n\n')}\n`);
  return { page };
}

/** None in results that are older than cases. */
function readCases(file: string): readonly CaseLine[] {
  return existsSync(file) ? readLineFile(file, caseLineSchema).lines : [];
}

function writePicture({ picture }: Section, outFolder: string, name: string): void {
  if (picture) writeFileSync(join(outFolder, PICTURE_FOLDER, pictureFile(picture, name)), picture.svg);
}

function method(cells: readonly RelayCell[]): string[] {
  const measured = RELAY_IDS.filter((id) => cells.some(({ relay }) => relay === id));
  return [
    'Loopback of a network namespace of its own. The relay has one core for itself, source and sink share another: a source that sends from memory inside the kernel (`sendfile`), a sink that takes bytes without looking at them (`MSG_TRUNC`). Before anything counted, every relay carried bodies of which each byte was compared.',
    'CPU is that of all threads and children of the relay, from `/proc/<pid>/task/*/schedstat`, set-up of the flows and their ends included; a GB is 10⁹ bytes of body. Goodput counts from the first connection to the last byte of all flows.',
    'Relays take turns, in reverse order every other repetition, after a warm-up each that is not counted. Ratios are ratios of medians with 95 % intervals by bootstrap, which are rather too narrow with so few runs.',
    'Loopback flatters: a receiver is woken on the sender’s time, and no network card takes part. Only ratios of one result may be compared.',
    ...measured.map((id) => `${inlineCode(id)}: ${RELAY_ACCOUNTS[id]}`),
  ];
}

function runItems(info: RunInfo): string[] {
  return [
    ...(info.notes ?? []),
    commandItem(info),
    momentsItem(info),
    `Repeats: ${info.options.repeat}${info.options.quick ? ' (quick)' : ''}`,
    machineItem(info),
  ];
}

function targetParts(rows: readonly TargetRow[]): string[] {
  const told = rows.filter(({ isMet }) => isMet !== null);
  const met = told.filter(({ isMet }) => isMet).length;
  const table = rows.map(({ place, text, measured, isMet }) => [
    place,
    text,
    measured === '' ? '–' : measured,
    isMet === null ? 'not measured' : isMet ? 'yes' : '**no**',
  ]);
  return [
    '## Targets',
    `${met} of ${told.length} measured targets of \`longhaul-splice\` are met. Those by flows speak of bodies of 100 MB and more.`,
    markdownTable(['flows', 'target', 'measured', 'met'], table, { textColumns: 2 }),
  ];
}
