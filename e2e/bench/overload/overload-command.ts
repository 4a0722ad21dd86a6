import { listOf, readCommand, refuseMistakes, wholeNumber } from '../../lab/options.ts';
import { openRun, placesOf } from '../../lab/results/open-run.ts';
import { fingerprintOf } from '../../lab/results/run-info.ts';
import { overloadLineSchema } from './overload-line.ts';
import { runOverload } from './run-overload.ts';
import { writeOverloadReport } from './write-overload-report.ts';

export interface OverloadCommand {
  readonly kind: 'overload';
  readonly connections: readonly number[];
  readonly repeats: number;
  readonly seconds: number;
  readonly resultFile: string | undefined;
  readonly outFolder: string | undefined;
}

const OPTIONS = {
  connections: { type: 'string' },
  repeat: { type: 'string' },
  seconds: { type: 'string' },
  json: { type: 'string' },
  out: { type: 'string' },
} as const;

const CONNECTIONS = ['250', '1000', '4000'];
/** A master takes no more of one network as the benchmark starts it. */
const MOST_CONNECTIONS = 8_000;
const REPEATS = 5;
const SECONDS = 10;

/** Reads what stands behind `overload`. Throws `lab-input-invalid` that lists every mistake. */
export function readOverloadCommand(args: readonly string[]): OverloadCommand {
  const { values, mistakes } = readCommand(args, OPTIONS, 'bench');
  const whole = (option: string, text: string, most: number) =>
    wholeNumber({ option, text, least: 1, most }, mistakes);
  const asked = listOf(values.connections) ?? CONNECTIONS;
  const command = {
    kind: 'overload' as const,
    connections: asked.map((count) => whole('connections', count, MOST_CONNECTIONS)),
    repeats: whole('repeat', values.repeat ?? String(REPEATS), 1000),
    seconds: whole('seconds', values.seconds ?? String(SECONDS), 600),
    resultFile: values.json,
    outFolder: values.out,
  };
  refuseMistakes(mistakes);
  return command;
}

/** Runs the benchmark and gives its page. */
export async function benchOverload(
  { connections, repeats, seconds, resultFile, outFolder }: OverloadCommand,
  folder: string,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const places = placesOf({ resultFile, outFolder }, folder, 'overload');
  const file = openRun({
    places,
    script: 'bench',
    experiment: 'overload',
    planFingerprint: fingerprintOf({ connections, repeats, seconds }),
    options: { repeat: repeats, seed: 0 },
    schema: overloadLineSchema,
  });
  await runOverload({ connections, repeats, seconds, file, say, signal });
  file.finish();
  return writeOverloadReport(places).page;
}
