import { join, resolve } from 'node:path';
import { listOf, parseOptions, refusal } from '../../lab/options.ts';
import { openLineFile } from '../../lab/results/result-file.ts';
import { describeRun, fingerprintOf } from '../../lab/results/run-info.ts';
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
  const { values, positionals } = parseOptions(args, OPTIONS, 'npm run bench --');
  const mistakes = positionals.length > 0 ? [`'${positionals.join(' ')}' means nothing here`] : [];
  const whole = (option: string, text: string, most: number): number => {
    const value = Number(text);
    if (!/^[0-9]+$/.test(text) || value < 1 || value > most)
      mistakes.push(`--${option} ${text} must be a whole number from 1 to ${most}`);
    return value;
  };
  const asked = listOf(values.connections) ?? CONNECTIONS;
  const command = {
    kind: 'overload' as const,
    connections: asked.map((count) => whole('connections', count, MOST_CONNECTIONS)),
    repeats: whole('repeat', values.repeat ?? String(REPEATS), 1000),
    seconds: whole('seconds', values.seconds ?? String(SECONDS), 600),
    resultFile: values.json,
    outFolder: values.out,
  };
  if (mistakes.length > 0) throw refusal(`${mistakes.join('; ')}.`);
  return command;
}

/** Runs the benchmark and gives its page. */
export async function benchOverload(
  { connections, repeats, seconds, resultFile, outFolder }: OverloadCommand,
  folder: string,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const out = outFolder ?? folder;
  const path = resolve(resultFile ?? join(out, 'overload.jsonl'));
  const info = describeRun({
    experiment: 'overload',
    planFingerprint: fingerprintOf({ connections, repeats, seconds }),
    command: ['npm run bench --', ...process.argv.slice(2)].join(' '),
    options: { repeat: repeats, quick: false, cutSeconds: null, seed: 0 },
    programs: [],
  });
  const file = openLineFile(path, info, overloadLineSchema);
  await runOverload({ connections, repeats, seconds, file, say, signal });
  file.finish();
  return writeOverloadReport({ resultFile: path, outFolder: resolve(out) }).page;
}
