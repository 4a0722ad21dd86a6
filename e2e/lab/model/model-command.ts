import { listOf, readCommand, refuseMistakes, wholeNumber } from '../options.ts';
import { requireProgram } from '../programs.ts';
import { labObstacle } from '../requirements.ts';
import { openRun, placesOf } from '../results/open-run.ts';
import { progressLine } from '../results/progress.ts';
import { transferLineSchema } from '../results/read-lines.ts';
import { fingerprintOf } from '../results/run-info.ts';
import { runExperiment } from '../run/run-experiment.ts';
import { MOST_DRAWN } from './drawn-chains.ts';
import { measureGrid } from './measure-grid.ts';
import { estimateModel, leftOf, type ModelOptions, type ModelPlan, planModel } from './plan-model.ts';
import { writeModelReport } from './write-model-report.ts';

export interface ModelCommand {
  readonly kind: 'model';
  readonly options: ModelOptions;
  /** Only tells what would be run, and for how long. */
  readonly isDry: boolean;
  readonly resultFile: string | undefined;
  readonly outFolder: string | undefined;
}

export const MODEL_NAME = 'model';

const PRESETS = { repeat: '10', topologies: '15', cut: '30', 'at-once': '4', seed: '1' } as const;
/** What is measured in some minutes. */
const QUICK = { ...PRESETS, repeat: '2', topologies: '3' } as const;
/**
 * Drawn topologies take longer to set up, and it is many of them that tell: each way half as often as a cell
 * of the grid.
 */
const REPEATS_OF_DRAWN = 0.5;

const OPTIONS = {
  quick: { type: 'boolean' },
  repeat: { type: 'string' },
  topologies: { type: 'string' },
  scenarios: { type: 'string' },
  cut: { type: 'string' },
  'at-once': { type: 'string' },
  seed: { type: 'string' },
  'dry-run': { type: 'boolean' },
  json: { type: 'string' },
  out: { type: 'string' },
} as const;

/** What stands in the lab's usage text. */
export const MODEL_USAGE = `       npm run lab -- ${MODEL_NAME} [--quick] [--repeat 10] [--topologies 15] [--scenarios a,b] [--cut 30] [--at-once 4] [--seed 1] [--dry-run] [--json file] [--out folder]

${MODEL_NAME}: the planner's predicted times beside measured ones, over a grid of single legs and over drawn topologies, of each way half as often; with what its
constants would be if they were fitted. --scenarios: only conditions whose id has one of these in it (cubic-80ms, t03); --at-once: so many times 100 Mbit/s.
`;

/** Reads what stands behind `model`. Throws `lab-input-invalid` that lists every mistake. */
export function readModelCommand(args: readonly string[]): ModelCommand {
  const { values, mistakes } = readCommand(args, OPTIONS, 'lab');
  const presets = values.quick ? QUICK : PRESETS;
  const whole = (option: keyof typeof PRESETS, least: number, most: number) =>
    wholeNumber({ option, text: values[option] ?? presets[option], least, most }, mistakes);
  const repeats = whole('repeat', 1, 1000);
  const scenarios = listOf(values.scenarios);
  const options = {
    isQuick: values.quick ?? false,
    repeats,
    drawnRepeats: Math.ceil(repeats * REPEATS_OF_DRAWN),
    topologies: whole('topologies', 0, MOST_DRAWN),
    ...(scenarios ? { scenarios } : {}),
    cutSeconds: whole('cut', 1, 600),
    atOnce: whole('at-once', 1, 16),
    seed: whole('seed', 0, 2 ** 32 - 1),
  };
  refuseMistakes(mistakes);
  return {
    kind: 'model',
    options,
    isDry: values['dry-run'] ?? false,
    resultFile: values.json,
    outFolder: values.out,
  };
}

/** Runs it and gives the path of its page; undefined where nothing was to be run. */
export async function measureModel(
  { options, isDry, resultFile, outFolder }: ModelCommand,
  folder: string,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<string | undefined> {
  const plan = planModel(options);
  sayEstimate(plan, say);
  if (isDry) return undefined;
  const obstacle = labObstacle();
  if (obstacle) throw obstacle;
  requireProgram('curl');
  const places = placesOf({ resultFile, outFolder }, folder, MODEL_NAME);
  const { legs, drawn, transferCount } = plan;
  const order = legs.map(({ cell, repeat }) => [cell.scenario, repeat]);
  const file = openRun({
    places,
    script: 'lab',
    experiment: MODEL_NAME,
    planFingerprint: fingerprintOf([MODEL_NAME, options, order, drawn?.fingerprint ?? null]),
    options: {
      repeat: options.repeats,
      quick: options.isQuick,
      cutSeconds: options.cutSeconds,
      seed: options.seed,
    },
    programs: ['curl'],
    schema: transferLineSchema,
  });
  let done = file.lines.length;
  if (done > 0) say(`going on after ${done} of ${transferCount} transfers`);
  const left = leftOf(plan, file.lines);
  const events = {
    signal,
    onPhase: say,
    onTransfer: (line: Parameters<typeof file.append>[0]) => {
      file.append(line);
      done += 1;
      say(progressLine(line, done, transferCount, null));
    },
  };
  const { cutSeconds, atOnce } = options;
  // What is left meets other losses than what was measured already.
  await measureGrid({ transfers: left.legs, seed: options.seed + done, cutSeconds, atOnce }, events);
  if (drawn) await runExperiment(drawn, left.isDone, events);
  file.finish();
  return writeModelReport(places.resultFile, places.outFolder);
}

function sayEstimate(plan: ModelPlan, say: (text: string) => void): void {
  const { grid, drawn } = estimateModel(plan);
  const minutes = (seconds: number) => Math.ceil(seconds / 60);
  say(
    `${plan.transferCount} transfers: ${plan.legs.length} of single legs in about ${minutes(grid)} min, ${plan.drawn?.transferCount ?? 0} over ${plan.drawn?.scenarios.length ?? 0} drawn topologies in about ${minutes(drawn)} min`,
  );
}
