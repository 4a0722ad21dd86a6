import { readCommand, refuseMistakes, wholeNumber } from '../options.ts';
import { requireProgram } from '../programs.ts';
import { labObstacle } from '../requirements.ts';
import { openRun, placesOf } from '../results/open-run.ts';
import { fingerprintOf } from '../results/run-info.ts';
import { anycastLineSchema } from './anycast-line.ts';
import { type AnycastPlan, runAnycast } from './run-anycast.ts';
import { writeAnycastReport } from './write-anycast-report.ts';

export interface AnycastCommand {
  readonly kind: 'anycast';
  readonly plan: AnycastPlan;
  readonly resultFile: string | undefined;
  readonly outFolder: string | undefined;
}

export const ANYCAST_NAME = 'anycast';

const OPTIONS = {
  repeat: { type: 'string', default: '20' },
  load: { type: 'string', default: '10' },
  json: { type: 'string' },
  out: { type: 'string' },
} as const;

/** What stands in the lab's usage text. */
export const ANYCAST_USAGE = `       npm run lab -- ${ANYCAST_NAME} [--repeat 20] [--load 10] [--json file] [--out folder]

${ANYCAST_NAME}: three sites behind one address: how soon the next one answers when the nearest fails, so many times each way, and
whether so many minutes of full load take its address away.
`;

/** Reads what stands behind `anycast`. Throws `lab-input-invalid` that lists every mistake. */
export function readAnycastCommand(args: readonly string[]): AnycastCommand {
  const { values, mistakes } = readCommand(args, OPTIONS, 'lab');
  const plan = {
    repeats: wholeNumber({ option: 'repeat', text: values.repeat, least: 0, most: 1000 }, mistakes),
    loadMinutes: wholeNumber({ option: 'load', text: values.load, least: 0, most: 1440 }, mistakes),
  };
  refuseMistakes(mistakes);
  return { kind: 'anycast', plan, resultFile: values.json, outFolder: values.out };
}

/** Runs it and gives the path of its page. */
export async function measureAnycast(
  { plan, resultFile, outFolder }: AnycastCommand,
  folder: string,
  say: (text: string) => void,
): Promise<string> {
  const obstacle = labObstacle();
  if (obstacle) throw obstacle;
  for (const program of ['bird', 'exabgp'] as const) requireProgram(program);
  const places = placesOf({ resultFile, outFolder }, folder, 'anycast');
  const file = openRun({
    places,
    script: 'lab',
    experiment: ANYCAST_NAME,
    // Each run is one of its own.
    planFingerprint: fingerprintOf([ANYCAST_NAME, plan, Date.now()]),
    options: { repeat: plan.repeats, seed: 1 },
    schema: anycastLineSchema,
  });
  await runAnycast({ plan, file, say });
  file.finish();
  return writeAnycastReport(places.resultFile, places.outFolder);
}
