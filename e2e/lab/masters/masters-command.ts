import { listOf, readCommand, refuseMistakes, wholeNumber } from '../options.ts';
import { labObstacle } from '../requirements.ts';
import { openRun, placesOf } from '../results/open-run.ts';
import { fingerprintOf } from '../results/run-info.ts';
import { mastersLineSchema } from './masters-line.ts';
import { DEPOTS } from './masters-network.ts';
import { type MastersPlan, runMasters, WHAT_HAPPENS } from './run-masters.ts';
import { writeMastersReport } from './write-masters-report.ts';

export interface MastersCommand {
  readonly kind: 'masters';
  readonly plan: MastersPlan;
  readonly resultFile: string | undefined;
  readonly outFolder: string | undefined;
}

export const MASTERS_NAME = 'masters';

const OPTIONS = {
  repeat: { type: 'string', default: '20' },
  events: { type: 'string', default: WHAT_HAPPENS.join(',') },
  depots: { type: 'string', default: '1000' },
  links: { type: 'string', default: '20' },
  json: { type: 'string' },
  out: { type: 'string' },
} as const;

/** What stands in the lab's usage text. */
export const MASTERS_USAGE = `       npm run lab -- ${MASTERS_NAME} [--repeat 20] [--events ${WHAT_HAPPENS.join(',')}]
         [--depots 1000] [--links 20] [--json file] [--out folder]

${MASTERS_NAME}: three masters at three sites under downloads: how soon they know everything again when a NATS server or a master is killed, a
site or two are cut off, a clock jumps, or a master joins an overlay of so many depots and links late; so many times each.
`;

/** Reads what stands behind `masters`. Throws `lab-input-invalid` that lists every mistake. */
export function readMastersCommand(args: readonly string[]): MastersCommand {
  const { values, mistakes } = readCommand(args, OPTIONS, 'lab');
  const names = listOf(values.events) ?? [];
  const events = WHAT_HAPPENS.filter((name) => names.includes(name));
  const unknown = names.filter((name) => !events.some((event) => event === name));
  if (unknown.length > 0)
    mistakes.push(`--events ${unknown.join(',')} names none of ${WHAT_HAPPENS.join(', ')}`);
  const whole = (option: 'repeat' | 'depots' | 'links', least: number, most: number) =>
    wholeNumber({ option, text: values[option], least, most }, mistakes);
  const plan = {
    repeats: whole('repeat', 1, 1000),
    events,
    // As many as a registry takes.
    depots: whole('depots', DEPOTS.length + 1, 1000),
    links: whole('links', 1, 100),
  };
  refuseMistakes(mistakes);
  return { kind: 'masters', plan, resultFile: values.json, outFolder: values.out };
}

/** Runs it and gives the path of its page. */
export async function measureMasters(
  { plan, resultFile, outFolder }: MastersCommand,
  folder: string,
  say: (text: string) => void,
): Promise<string> {
  const obstacle = labObstacle();
  if (obstacle) throw obstacle;
  const places = placesOf({ resultFile, outFolder }, folder, 'masters');
  const file = openRun({
    places,
    script: 'lab',
    experiment: MASTERS_NAME,
    // Each run is one of its own.
    planFingerprint: fingerprintOf([MASTERS_NAME, plan, Date.now()]),
    options: { repeat: plan.repeats, seed: 1 },
    schema: mastersLineSchema,
  });
  await runMasters({ plan, file, say });
  file.finish();
  return writeMastersReport(places.resultFile, places.outFolder);
}
