import { listOf, readCommand, refuseMistakes, wholeNumber } from '../../lab/options.ts';
import { openRun, placesOf } from '../../lab/results/open-run.ts';
import { fingerprintOf } from '../../lab/results/run-info.ts';
import { PLANNER_CASE_IDS, type PlannerCaseId } from './planner-case.ts';
import { plannerLineSchema } from './planner-line.ts';
import { runPlanner } from './run-planner.ts';
import { writePlannerReport } from './write-planner-report.ts';

export interface PlannerCommand {
  readonly kind: 'planner';
  readonly cases: readonly PlannerCaseId[];
  readonly repeats: number;
  readonly seed: number;
  readonly resultFile: string | undefined;
  readonly outFolder: string | undefined;
}

const OPTIONS = {
  cases: { type: 'string' },
  repeat: { type: 'string' },
  seed: { type: 'string' },
  json: { type: 'string' },
  out: { type: 'string' },
} as const;

const REPEATS = 10;

/** Reads what stands behind `planner`. Throws `lab-input-invalid` that lists every mistake. */
export function readPlannerCommand(args: readonly string[]): PlannerCommand {
  const { values, mistakes } = readCommand(args, OPTIONS, 'bench');
  const asked = listOf(values.cases) ?? PLANNER_CASE_IDS;
  for (const id of asked)
    if (!PLANNER_CASE_IDS.some((known) => known === id))
      mistakes.push(`there is no case '${id}'; choose from ${PLANNER_CASE_IDS.join(', ')}`);
  const whole = (option: 'repeat' | 'seed', preset: number, least: number, most: number) =>
    wholeNumber({ option, text: values[option] ?? String(preset), least, most }, mistakes);
  const command = {
    kind: 'planner' as const,
    cases: PLANNER_CASE_IDS.filter((id) => asked.includes(id)),
    repeats: whole('repeat', REPEATS, 1, 1000),
    seed: whole('seed', 1, 0, 2 ** 31),
    resultFile: values.json,
    outFolder: values.out,
  };
  refuseMistakes(mistakes);
  return command;
}

/** Runs the benchmark and gives its page. */
export function benchPlanner(
  { cases, repeats, seed, resultFile, outFolder }: PlannerCommand,
  folder: string,
  say: (text: string) => void,
  signal: AbortSignal,
): string {
  const places = placesOf({ resultFile, outFolder }, folder, 'planner');
  const file = openRun({
    places,
    script: 'bench',
    experiment: 'planner',
    planFingerprint: fingerprintOf({ cases, repeats, seed }),
    options: { repeat: repeats, seed },
    schema: plannerLineSchema,
  });
  runPlanner({ cases, repeats, seed, file, say, signal });
  file.finish();
  return writePlannerReport(places).page;
}
