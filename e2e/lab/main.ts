/** `npm run lab`: experiments over emulated links, and the pages made of their results. */
import { join, resolve } from 'node:path';
import { measureAnycast } from './anycast/anycast-command.ts';
import { type LabCommand, readCommandLine, USAGE } from './command-line.ts';
import { rivalOf } from './experiment.ts';
import { measureMasters } from './masters/masters-command.ts';
import { measureModel } from './model/model-command.ts';
import { obey } from './obey.ts';
import { reportResults } from './report-results.ts';
import { labObstacle } from './requirements.ts';
import { progressLine, secondsLeft } from './results/progress.ts';
import { openLineFile, openResultFile } from './results/result-file.ts';
import { describeRun, fingerprintOf } from './results/run-info.ts';
import { checkPrograms } from './run/check-programs.ts';
import { checkScenarios } from './run/check-scenarios.ts';
import { estimateRun } from './run/estimate-run.ts';
import { type PlannedTransfer, planRun, type RunPlan } from './run/plan-run.ts';
import { runExperiment } from './run/run-experiment.ts';
import { selfTest } from './self-test/self-test.ts';
import { SELF_TEST_NAME, selfTestLineSchema } from './self-test/self-test-line.ts';
import { writeSelfTestReport } from './self-test/write-self-test-report.ts';
import { simulate } from './simulation/sim-command.ts';
import { measureUnknown } from './unknown/unknown-command.ts';

const RIVALS_NOTE =
  'Rivals at the depots’ sites: `haproxy3` is HAProxy in TCP mode with splice, TLS passes through it; `haproxy3-kept` is HAProxy in HTTP mode with splice, and `nginx3` nginx with buffers for far paths: both keep their connections to the next relay and to the origin from one transfer to the next, and end the client’s TLS as depots do. `-ranges8` and `-aria2-16` are eight ranges and `aria2c -x16 -s16` through them.';
const MEASURED_NOTE =
  'No link was told to the master, nor what the origin sends with. Each scenario had a fresh overlay, which planned ten downloads that are not shown; then it knew what its depots had measured by all transfers so far, chains by hand among them.';
/** Where results go when nobody says otherwise. */
const DEFAULT_FOLDER = join('.longhaul', 'lab');
await obey((interrupted) => carryOut(readCommandLine(process.argv.slice(2)), interrupted));

async function carryOut(command: LabCommand, interrupted: AbortSignal): Promise<void> {
  switch (command.kind) {
    case 'help':
      process.stdout.write(USAGE);
      return;
    case 'report':
      return report(command.resultFiles, command.outFolder);
    case 'self-test':
      return showSelfTest(command);
    case 'sim':
      process.stdout.write(`${await simulate(command, DEFAULT_FOLDER, say, interrupted)}\n`);
      return;
    case 'anycast':
      process.stdout.write(`${await measureAnycast(command, DEFAULT_FOLDER, say)}\n`);
      return;
    case 'masters':
      process.stdout.write(`${await measureMasters(command, DEFAULT_FOLDER, say)}\n`);
      return;
    case 'unknown':
      process.stdout.write(`${await measureUnknown(command, DEFAULT_FOLDER, say, interrupted)}\n`);
      return;
    case 'model': {
      const page = await measureModel(command, DEFAULT_FOLDER, say, interrupted);
      if (page !== undefined) process.stdout.write(`${page}\n`);
      return;
    }
    case 'run':
      return run(command, interrupted);
  }
}

async function run(command: Extract<LabCommand, { kind: 'run' }>, interrupted: AbortSignal): Promise<void> {
  const { experiment, options } = command;
  const plan = planRun(experiment, options);
  checkScenarios(plan.scenarios);
  sayEstimate(plan);
  if (command.isDry) return;
  const programs = checkPrograms(plan);
  const obstacle = labObstacle();
  if (obstacle) throw obstacle;
  const folder = command.outFolder ?? DEFAULT_FOLDER;
  const file = resolve(command.resultFile ?? join(folder, `${experiment.name}.jsonl`));
  const result = openResultFile(
    file,
    describeRun({
      experiment: experiment.name,
      planFingerprint: plan.fingerprint,
      command: ['npm run lab --', ...process.argv.slice(2)].join(' '),
      programs,
      ...notesOf(plan),
      options: {
        repeat: plan.repeats,
        quick: options.quick,
        ...(options.set === undefined ? {} : { set: options.set }),
        cutSeconds: plan.cutSeconds,
        seed: options.seed,
      },
    }),
  );
  const done = [...result.lines];
  const keyOf = ({ scenario, variant, repeat }: { scenario: string; variant: string; repeat: number }) =>
    JSON.stringify([scenario, variant, repeat]);
  const known = new Set(done.map(keyOf));
  const isDone = ({ scenario, variant, repeat }: PlannedTransfer) =>
    known.has(keyOf({ scenario: scenario.id, variant, repeat }));
  const pending = plan.stints
    .flatMap(({ turns }) => turns.flatMap(({ transfers }) => transfers))
    .filter((transfer) => !isDone(transfer))
    .map(({ scenario, variant }) => ({ scenario: scenario.id, variant }));
  if (done.length > 0) say(`going on after ${done.length} of ${plan.transferCount} transfers`);

  let overheadSeconds = 0;
  const started = performance.now();
  await runExperiment(plan, isDone, {
    signal: interrupted,
    onPhase: say,
    onTransfer: (line) => {
      result.append(line);
      done.push(line);
      pending.splice(
        pending.findIndex(({ scenario, variant }) => scenario === line.scenario && variant === line.variant),
        1,
      );
      const made = done.slice(result.lines.length);
      const transferring = made.reduce((sum, { seconds }) => sum + seconds, 0);
      overheadSeconds = ((performance.now() - started) / 1000 - transferring) / made.length;
      say(progressLine(line, done.length, plan.transferCount, secondsLeft(done, pending, overheadSeconds)));
    },
  });
  result.finish();
  report([file], folder);
}

/**
 * What stands for this run and not for those before it: how rivals are configured, see `hosts`, and what the
 * master is told.
 */
function notesOf({ stints, scenarios }: RunPlan): { notes?: string[] } {
  const used = new Set(stints.flatMap(({ variants }) => variants));
  const ways = scenarios.flatMap(({ variants }) => Object.entries(variants));
  const hasRivals = ways.some(([id, way]) => used.has(id) && rivalOf(way) !== undefined);
  const isMeasured = scenarios.some(({ isUntold }) => isUntold);
  const notes = [...(hasRivals ? [RIVALS_NOTE] : []), ...(isMeasured ? [MEASURED_NOTE] : [])];
  return notes.length > 0 ? { notes } : {};
}

/** Said before anything begins, so that nobody is surprised. */
function sayEstimate(plan: RunPlan): void {
  const { likelySeconds, mostSeconds } = estimateRun(plan);
  const most = Number.isFinite(mostSeconds)
    ? `, at most ${formatHours(mostSeconds)} if every one were cut`
    : '';
  say(
    `${plan.transferCount} transfers in ${plan.scenarios.length} scenarios: about ${formatHours(likelySeconds)}${most}`,
  );
}

function formatHours(seconds: number): string {
  const minutes = Math.max(1, Math.round(seconds / 60));
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

function report(resultFiles: readonly string[], outFolder: string | undefined): void {
  process.stdout.write(`${reportResults(resultFiles, resolve(outFolder ?? DEFAULT_FOLDER))}\n`);
}

async function showSelfTest(command: Extract<LabCommand, { kind: 'self-test' }>): Promise<void> {
  const obstacle = labObstacle();
  if (obstacle) throw obstacle;
  const folder = command.outFolder ?? DEFAULT_FOLDER;
  const file = resolve(command.resultFile ?? join(folder, 'self-test.jsonl'));
  const info = describeRun({
    experiment: SELF_TEST_NAME,
    planFingerprint: fingerprintOf([SELF_TEST_NAME, Date.now()]),
    command: ['npm run lab --', ...process.argv.slice(2)].join(' '),
    programs: [],
    options: { repeat: 1, quick: false, cutSeconds: null, seed: 1 },
  });
  const rows = await selfTest();
  for (const { check, expected, measured, isWithin } of rows)
    process.stdout.write(
      `${isWithin ? 'ok    ' : 'FAILED'} ${check}: expected ${expected}, measured ${measured}\n`,
    );
  if (rows.some(({ isWithin }) => !isWithin)) process.exitCode = 1;
  const result = openLineFile(file, info, selfTestLineSchema);
  for (const row of rows) result.append(row);
  result.finish();
  process.stdout.write(`${writeSelfTestReport(file, resolve(folder))}\n`);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
