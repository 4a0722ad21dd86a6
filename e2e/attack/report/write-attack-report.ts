import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { formatBytes } from '@longhaul/shared';
import { escapeMarkdown } from '../../lab/report/markdown-table.ts';
import { counted } from '../../lab/report/numbers.ts';
import { bulletList, commandItem, machineItem, momentsItem } from '../../lab/report/run-items.ts';
import { readLineFile } from '../../lab/results/result-file.ts';
import { type AttackLine, attackLineSchema } from '../run/attack-line.ts';
import { BOUNDS } from '../run/bounds.ts';
import { SMALL_MACHINE_NOTE } from '../world/limits.ts';
import { ARENA } from '../world/topology.ts';
import { resultTable } from './result-table.ts';

/** Makes the page of a result; gives its path. */
export function writeAttackReport(resultFile: string, outFolder: string): string {
  const { info, lines } = readLineFile(resolve(resultFile), attackLineSchema);
  const failed = lines.filter(({ failures }) => failures.length > 0);
  const parts = [
    '# Attacks: who is served meanwhile, and what is left behind',
    'Does an attacker get what it has no right to, do the others notice it, and is everything as it was afterwards?',
    '## What is seen',
    bulletList(findings(lines, failed)),
    '## How it was measured',
    bulletList([
      `${ARENA.name}; every site is a network namespace of its own, with addresses of its own /24`,
      SMALL_MACHINE_NOTE,
      'A bystander in another network downloads 2 MB again and again through the same depots, in four ways: from a name nobody has asked for, from a host that the attacker asks, too, over four lanes, and stepwise. Every time is divided by the median time of the same way between the attacks before and after',
      'The attacker is a process of its own at the lowest priority (nice 19), and what it sends in bulk goes at 800 Mbit/s at most; `idle-attacker` is the control: as much work, and nobody attacked',
      `What holds for everybody: no download of the bystander is refused or wrong, and takes at most ${BOUNDS.bystanderMedian} times as long in the median and ${BOUNDS.bystanderP95} times at p95; every depot stays up for its master; memory of a process at most ${formatBytes(BOUNDS.peakRssBytes)}, of its connections ${formatBytes(BOUNDS.peakSocketBytes)}; ${BOUNDS.settleSeconds} s afterwards at most ${formatBytes(BOUNDS.heldGrowthBytes)} of memory that is needed, ${BOUNDS.descriptorGrowth} descriptors and ${BOUNDS.activeGrowth} transfers more than before; at most ${BOUNDS.logLinesAtOnce} log lines, ${BOUNDS.logLinesPerSecond} a second and ${BOUNDS.logLinesPerTransfer} for each transfer; no ticket, path or query in a log; nobody comes to the listeners that no plan names, and the origin is asked for nothing that no ticket names`,
      'Where a time is missed the attack is repeated, and the downloads of all its strikes are judged together; they count if the control, tried next, is on time',
      commandItem(info),
      `seed ${info.options.seed}; ${momentsItem(info)}`,
      machineItem(info),
    ]),
    '## All strikes',
    'Memory and descriptors are of the service that grew most: before, at most during, and after the strike.',
    resultTable(lines),
  ];
  mkdirSync(outFolder, { recursive: true });
  const path = join(outFolder, `${info.startedAt.slice(0, 10)}-attacks.md`);
  writeFileSync(path, `${parts.join('\n\n')}\n`);
  return path;
}

function findings(lines: readonly AttackLine[], failed: readonly AttackLine[]): string[] {
  const cases = lines.reduce((sum, line) => sum + line.cases, 0);
  return [
    `${counted(lines.length, 'strike')} of ${counted(new Set(lines.map(({ attack }) => attack)).size, 'attack')}, ${counted(cases, 'case')}: all promises held in ${lines.length - failed.length}`,
    ...failed.map(
      ({ attack, world, failures }) => `\`${attack}\` (${world}): ${failures.map(escapeMarkdown).join('; ')}`,
    ),
  ];
}
