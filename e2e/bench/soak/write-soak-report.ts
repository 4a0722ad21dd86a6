import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatBytes } from '@longhaul/shared';
import { LabRefusal } from '../../lab/refusal.ts';
import { markdownTable } from '../../lab/report/markdown-table.ts';
import { bulletList, commandItem, machineItem, momentsItem } from '../../lab/report/run-items.ts';
import { readLineFile } from '../../lab/results/result-file.ts';
import { type DepotSoak, type ProcessState, soakLineSchema } from './soak-line.ts';

/** Pipes that a relay keeps for the next flows, and a few descriptors of Node's own, may stay. */
const SPARE_DESCRIPTORS = 16;
/**
 * In the second half: what a depot remembers of each download for the life of its ticket, and the garbage of
 * a moment.
 */
const MEMORY_GROWTH_BYTES = 64 * 2 ** 20;

/**
 * Whether a depot is back where it began: nothing runs, no socket or pipe stays, and memory does not grow on:
 * a heap that has been larger is not given back, so the end is compared with the rest after the first half.
 */
export function isBack({ before, half, after, active }: DepotSoak): boolean {
  return (
    active === 0 &&
    after.sockets <= before.sockets + SPARE_DESCRIPTORS &&
    after.pipes <= before.pipes + SPARE_DESCRIPTORS &&
    after.residentBytes <= half.residentBytes + MEMORY_GROWTH_BYTES
  );
}

/**
 * Makes the page of a soak from its line, `<date>-soak.md`. Throws a refusal when the line cannot be read or
 * is not there.
 */
export function writeSoakReport(request: { readonly resultFile: string; readonly outFolder: string }): {
  readonly page: string;
} {
  const { resultFile, outFolder } = request;
  const { info, lines } = readLineFile(resultFile, soakLineSchema);
  const [line] = lines;
  if (!line) throw new LabRefusal('lab-result-file', `${resultFile} holds no soak: let it run to its end.`);
  const { outcomes, depots, flows, seconds } = line;
  const total = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  const verdict = depots.every(isBack)
    ? 'Descriptors and pipes of every depot are back where they were, and memory is what it was after the first half.'
    : `Not back where it began: ${depots
        .filter((depot) => !isBack(depot))
        .map(({ id }) => id)
        .join(', ')}.`;
  const parts = [
    '# Soak: many downloads that leave, pause and finish',
    `Do depots hold anything after ${flows} downloads at once for ${Math.round(seconds / 60)} minutes, of which a third leave at a random moment?`,
    '## What is seen',
    bulletList([
      `${total} downloads: ${outcomes.whole} whole with the right digest, ${outcomes.left} left on purpose, ${outcomes.broke} broke, ${outcomes.wrong} with wrong bytes`,
      verdict,
    ]),
    '## How it was measured',
    bulletList([
      'Three depots, a master and an origin on loopback; chains of one, two and three depots; files of 100 kB, 2 MiB and 12 MiB, of which a third over four lanes; a third of the downloads are reset by the client at a random byte, one in seven stops reading for up to 3 s',
      'Looked at after a warm-up and a rest of 35 s, every second under load (the most is shown), and after each half and a rest of 35 s',
      commandItem(info),
      momentsItem(info),
      machineItem(info),
    ]),
    '## The depots',
    markdownTable(
      ['depot', 'when', 'descriptors', 'sockets', 'pipes', 'resident', 'active'],
      depots.flatMap(({ id, before, busy, half, after, active }) => [
        row(id, 'before', before, ''),
        row(id, 'under load', busy, ''),
        row(id, 'after the first half', half, ''),
        row(id, 'at the end', after, String(active)),
      ]),
      { textColumns: 2 },
    ),
  ];
  mkdirSync(outFolder, { recursive: true });
  const path = join(outFolder, `${info.startedAt.slice(0, 10)}-soak.md`);
  writeFileSync(path, `${parts.join('\n\n')}\n`);
  return { page: path };
}

function row(id: string, when: string, state: ProcessState, active: string): string[] {
  const { descriptors, sockets, pipes, residentBytes } = state;
  return [id, when, String(descriptors), String(sockets), String(pipes), formatBytes(residentBytes), active];
}
