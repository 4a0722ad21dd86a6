/** `npm run test:attack`: attacks a small overlay in every way that is known, and looks who is harmed. */
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { obey } from '../lab/obey.ts';
import { labObstacle } from '../lab/requirements.ts';
import { openRun, placesOf } from '../lab/results/open-run.ts';
import { fingerprintOf } from '../lab/results/run-info.ts';
import { ATTACKS } from './attacks.ts';
import { type AttackCommand, readCommandLine, USAGE } from './command-line.ts';
import { resultTable } from './report/result-table.ts';
import { writeAttackReport } from './report/write-attack-report.ts';
import { type AttackLine, attackLineSchema } from './run/attack-line.ts';
import { planAttacks } from './run/plan-attacks.ts';
import { runAttacks } from './run/run-attacks.ts';

/** Where results go when nobody says otherwise. */
const DEFAULT_FOLDER = join('.longhaul', 'attack');
const MOST_SEED = 1_000_000;
await obey((interrupted) => carryOut(readCommandLine(process.argv.slice(2)), interrupted));

async function carryOut(command: AttackCommand, interrupted: AbortSignal): Promise<void> {
  switch (command.kind) {
    case 'help':
      return say(USAGE);
    case 'list':
      for (const { name, worlds, does } of ATTACKS) say(`${name} [${worlds.join(', ')}]: ${does}`);
      return;
    case 'report':
      return say(writeAttackReport(command.resultFile, resolve(command.outFolder ?? DEFAULT_FOLDER)));
    case 'run':
      return run(command, interrupted);
  }
}

async function run(
  command: Extract<AttackCommand, { kind: 'run' }>,
  interrupted: AbortSignal,
): Promise<void> {
  const plan = planAttacks(ATTACKS, command.options);
  const obstacle = labObstacle();
  if (obstacle) {
    // As the lab's own tests: who cannot make networks is told why, and may go on.
    if (!command.options.quick) throw obstacle;
    return say(`The attacks are skipped. ${obstacle.message}`);
  }
  const seed = command.seed ?? Math.floor(Math.random() * MOST_SEED);
  const { path, options } = command;
  const places = placesOf(command, DEFAULT_FOLDER, 'attacks');
  const strikes = plan.worlds.map(({ world, attacks }) => [world, attacks.map(({ name }) => name)]);
  // Only who names a file wants an interrupted run to go on.
  if (command.resultFile === undefined) rmSync(places.resultFile, { force: true });
  const result = openRun({
    places,
    script: 'test:attack',
    experiment: 'attacks',
    planFingerprint: fingerprintOf({ strikes, pacing: plan.pacing, seed, path }),
    options: { repeat: 1, quick: options.quick, seed },
    schema: attackLineSchema,
  });
  const lines = [...result.lines];
  const done = new Set(lines.map(({ attack, world }) => `${attack} ${world}`));
  say(`seed ${seed}`);
  await runAttacks(
    plan,
    { seed, path },
    {
      interrupted,
      isDone: (attack, world) => done.has(`${attack} ${world}`),
      onPhase: say,
      onLine: (line) => {
        result.append(line);
        lines.push(line);
        tell(line);
      },
    },
  );
  result.finish();
  say(`\n${resultTable(lines)}\n\n${writeAttackReport(places.resultFile, places.outFolder)}`);
  if (lines.some(({ failures }) => failures.length > 0)) process.exitCode = 1;
}

function tell({ attack, world, seed, cases, bystander, failures, notJudged }: AttackLine): void {
  const isFailed = failures.length > 0;
  const mark = isFailed ? 'FAILED' : 'ok    ';
  say(`${mark} ${attack} [${world}]: ${cases} cases, bystander ${bystander.median} / ${bystander.p95}`);
  for (const failure of failures) say(`       ${failure}`);
  for (const late of notJudged) say(`       not judged, the machine is busy: ${late}`);
  if (isFailed) say(`       again: npm run test:attack -- --only ${attack} --worlds ${world} --seed ${seed}`);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
