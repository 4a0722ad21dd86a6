import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UNKNOWN_WORLDS } from '../experiments/unknown.ts';
import type { UnknownWorld } from '../experiments/unknown-world.ts';
import { readCommand, refusalOf, wholeNumber } from '../options.ts';
import { labObstacle } from '../requirements.ts';
import { openRun, placesOf } from '../results/open-run.ts';
import { fingerprintOf } from '../results/run-info.ts';
import { runUnknown, type UnknownPlan } from './run-unknown.ts';
import { unknownLineSchema } from './unknown-line.ts';
import { checkWorld } from './unknown-plan.ts';
import { CUT_SECONDS } from './unknown-stage.ts';
import { writeUnknownReport } from './write-unknown-report.ts';

export interface UnknownCommand {
  readonly kind: 'unknown';
  /** Which world, by the name of the experiment in it. */
  readonly experiment: keyof typeof UNKNOWN_WORLDS;
  readonly plan: UnknownPlan;
  /** Whether what a run before has measured by hand stays, and only the planned downloads are done anew. */
  readonly isReplanned: boolean;
  readonly resultFile: string | undefined;
  readonly outFolder: string | undefined;
  /** Where each plan's whole answer goes. */
  readonly plansFolder: string | undefined;
}

export const UNKNOWN_NAME = 'unknown';

const PRESETS = { ways: '8', measurements: '5', 'at-once': '3', downloads: '1000', seed: '1' } as const;
/** What is measured in a quarter of the time. */
const QUICK = { ...PRESETS, ways: '4', measurements: '2', downloads: '40' } as const;

/** What `--world` may say. */
const EXPERIMENTS = { europe: 'unknown', continents: 'unknown-continents' } as const;

const OPTIONS = {
  world: { type: 'string' },
  quick: { type: 'boolean' },
  ways: { type: 'string' },
  measurements: { type: 'string' },
  'at-once': { type: 'string' },
  downloads: { type: 'string' },
  seed: { type: 'string' },
  json: { type: 'string' },
  out: { type: 'string' },
  plans: { type: 'string' },
  replan: { type: 'boolean' },
} as const;

/** What stands in the lab's usage text. */
export const UNKNOWN_USAGE = `       npm run lab -- ${UNKNOWN_NAME} [--world europe] [--quick] [--ways 8] [--measurements 5] [--at-once 3] [--downloads n] [--seed 1] [--json file] [--out folder] [--plans folder] [--replan]

${UNKNOWN_NAME}: a fresh overlay that nobody has told anything: what it plans, beside the best of so many ways that are measured by hand, so often
each; --world is ${Object.keys(EXPERIMENTS).join(' or ')}, --at-once measurements go on at the same time where they share no narrow link, --plans keeps how each plan explains itself, --replan keeps what is measured by hand in the result file and plans anew.
`;

/** Reads what stands behind `unknown`. Throws `lab-input-invalid` that lists every mistake. */
export function readUnknownCommand(args: readonly string[]): UnknownCommand {
  const { values, mistakes } = readCommand(args, OPTIONS, 'lab');
  const world = values.world ?? 'europe';
  const experiment = Object.entries(EXPERIMENTS).find(([name]) => name === world)?.[1];
  if (!experiment) mistakes.push(`--world ${world} must be one of ${Object.keys(EXPERIMENTS).join(', ')}`);
  const presets = values.quick ? QUICK : PRESETS;
  const whole = (option: keyof typeof PRESETS, least: number, most: number) =>
    wholeNumber({ option, text: values[option] ?? presets[option], least, most }, mistakes);
  const plan = {
    ways: whole('ways', 0, 200),
    measurements: whole('measurements', 1, 100),
    atOnce: whole('at-once', 1, 8),
    downloads: whole('downloads', 1, 100_000),
    seed: whole('seed', 0, 2 ** 32 - 1),
  };
  if (!experiment || mistakes.length > 0) throw refusalOf(mistakes);
  return {
    kind: 'unknown',
    experiment,
    plan,
    isReplanned: values.replan ?? false,
    resultFile: values.json,
    outFolder: values.out,
    plansFolder: values.plans,
  };
}

/** Runs it over a world and gives the path of its page. */
export async function measureUnknown(
  { experiment, plan, isReplanned, resultFile, outFolder, plansFolder }: UnknownCommand,
  folder: string,
  say: (text: string) => void,
  signal: AbortSignal,
  world: UnknownWorld = UNKNOWN_WORLDS[experiment],
): Promise<string> {
  checkWorld(world);
  const obstacle = labObstacle();
  if (obstacle) throw obstacle;
  const places = placesOf({ resultFile, outFolder }, folder, experiment);
  const file = openRun({
    places,
    script: 'lab',
    experiment,
    planFingerprint: fingerprintOf([UNKNOWN_NAME, world, plan]),
    options: { repeat: plan.measurements, cutSeconds: CUT_SECONDS, seed: plan.seed },
    programs: ['curl'],
    schema: unknownLineSchema,
    keeps: isReplanned ? ({ kind }) => kind === 'oracle' : undefined,
  });
  if (plansFolder !== undefined) mkdirSync(plansFolder, { recursive: true });
  const onPlan = (number: number, answer: unknown) => {
    if (plansFolder === undefined) return;
    writeFileSync(join(plansFolder, `${number}.json`), `${JSON.stringify(answer, null, 2)}\n`);
  };
  await runUnknown({ world, plan, file, say, onPlan, signal });
  file.finish();
  return writeUnknownReport(places.resultFile, places.outFolder);
}
