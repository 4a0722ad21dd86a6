import { readCommand, refuseMistakes, wholeNumber } from '../../lab/options.ts';
import { openRun, placesOf } from '../../lab/results/open-run.ts';
import { fingerprintOf } from '../../lab/results/run-info.ts';
import { factsLineSchema } from './facts-line.ts';
import { runFacts } from './run-facts.ts';
import { writeFactsReport } from './write-facts-report.ts';

export interface FactsCommand {
  readonly kind: 'facts';
  readonly depots: number;
  readonly links: number;
  readonly repeats: number;
  readonly seconds: number;
  /** Seconds before the first measurement. */
  readonly warmUpSeconds: number;
  readonly resultFile: string | undefined;
  readonly outFolder: string | undefined;
}

const OPTIONS = {
  depots: { type: 'string' },
  links: { type: 'string' },
  repeat: { type: 'string' },
  seconds: { type: 'string' },
  'warm-up': { type: 'string' },
  json: { type: 'string' },
  out: { type: 'string' },
} as const;

/** The overlay of the targets: as many depots as a registry takes. */
const [DEPOTS, LINKS] = [1000, 20];
const REPEATS = 3;
/** With one writing of the file of facts in it. */
const SECONDS = 30;
/** Until what is compiled and learned at the beginning is: of links that nobody knew yet every measurement is news. */
const WARM_UP_SECONDS = 60;

/** Reads what stands behind `facts`. Throws `lab-input-invalid` that lists every mistake. */
export function readFactsCommand(args: readonly string[]): FactsCommand {
  const { values, mistakes } = readCommand(args, OPTIONS, 'bench');
  const whole = (
    option: 'depots' | 'links' | 'repeat' | 'seconds' | 'warm-up',
    preset: number,
    most: number,
  ) => wholeNumber({ option, text: values[option] ?? String(preset), least: 1, most }, mistakes);
  const command = {
    kind: 'facts' as const,
    depots: whole('depots', DEPOTS, DEPOTS),
    links: whole('links', LINKS, 100),
    repeats: whole('repeat', REPEATS, 1000),
    seconds: whole('seconds', SECONDS, 3600),
    warmUpSeconds: whole('warm-up', WARM_UP_SECONDS, 3600),
    resultFile: values.json,
    outFolder: values.out,
  };
  refuseMistakes(mistakes);
  return command;
}

/** Runs the benchmark and gives its page. */
export async function benchFacts(
  { depots, links, repeats, seconds, warmUpSeconds, resultFile, outFolder }: FactsCommand,
  folder: string,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const places = placesOf({ resultFile, outFolder }, folder, 'facts');
  const file = openRun({
    places,
    script: 'bench',
    experiment: 'facts',
    planFingerprint: fingerprintOf({ depots, links, repeats, seconds, warmUpSeconds }),
    options: { repeat: repeats, seed: 1 },
    schema: factsLineSchema,
  });
  await runFacts({ depots, links, seconds, warmUpSeconds, repeats, file, say, signal });
  file.finish();
  return writeFactsReport(places).page;
}
