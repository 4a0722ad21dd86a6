import { readCommand, refuseMistakes, wholeNumber } from '../../lab/options.ts';
import { openRun, placesOf } from '../../lab/results/open-run.ts';
import { fingerprintOf } from '../../lab/results/run-info.ts';
import { prefixesLineSchema } from './prefixes-line.ts';
import { runPrefixes } from './run-prefixes.ts';
import { writePrefixesReport } from './write-prefixes-report.ts';

export interface PrefixesCommand {
  readonly kind: 'prefixes';
  readonly prefixes: number;
  readonly repeats: number;
  readonly seed: number;
  readonly resultFile: string | undefined;
  readonly outFolder: string | undefined;
}

const OPTIONS = {
  prefixes: { type: 'string' },
  repeat: { type: 'string' },
  seed: { type: 'string' },
  json: { type: 'string' },
  out: { type: 'string' },
} as const;

const PREFIXES = 1_000_000;
const REPEATS = 5;

/** Reads what stands behind `prefixes`. Throws `lab-input-invalid` that lists every mistake. */
export function readPrefixesCommand(args: readonly string[]): PrefixesCommand {
  const { values, mistakes } = readCommand(args, OPTIONS, 'bench');
  const whole = (option: 'prefixes' | 'repeat' | 'seed', preset: number, least: number, most: number) =>
    wholeNumber({ option, text: values[option] ?? String(preset), least, most }, mistakes);
  const command = {
    kind: 'prefixes' as const,
    prefixes: whole('prefixes', PREFIXES, 100, 1_500_000),
    repeats: whole('repeat', REPEATS, 1, 1000),
    seed: whole('seed', 1, 0, 2 ** 32 - 1),
    resultFile: values.json,
    outFolder: values.out,
  };
  refuseMistakes(mistakes);
  return command;
}

/** Runs the benchmark and gives its page. */
export async function benchPrefixes(
  { prefixes, repeats, seed, resultFile, outFolder }: PrefixesCommand,
  folder: string,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const places = placesOf({ resultFile, outFolder }, folder, 'prefixes');
  const file = openRun({
    places,
    script: 'bench',
    experiment: 'prefixes',
    planFingerprint: fingerprintOf({ prefixes, repeats, seed }),
    options: { repeat: repeats, seed },
    schema: prefixesLineSchema,
  });
  await runPrefixes({ prefixes, repeats, seed, file, say, signal });
  file.finish();
  return writePrefixesReport(places).page;
}
