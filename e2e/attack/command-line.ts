import { listOf, readCommand, refusal, refuseMistakes } from '../lab/options.ts';
import type { AttackOptions } from './run/plan-attacks.ts';

export type AttackCommand =
  | { readonly kind: 'help' | 'list' }
  | { readonly kind: 'report'; readonly resultFile: string; readonly outFolder: string | undefined }
  | {
      readonly kind: 'run';
      readonly options: AttackOptions;
      /** Left out: another one in each run. */
      readonly seed: number | undefined;
      readonly path: string | undefined;
      readonly resultFile: string | undefined;
      readonly outFolder: string | undefined;
    };

const OPTIONS = {
  quick: { type: 'boolean' },
  only: { type: 'string' },
  worlds: { type: 'string' },
  seed: { type: 'string' },
  path: { type: 'string' },
  json: { type: 'string' },
  out: { type: 'string' },
  list: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

export const USAGE = `Usage: npm run test:attack -- [options]
       npm run test:attack -- report <result file> [--out folder]

Attacks a master, three depots and their clients on this machine, one attack after the other, and looks whether
everybody else is served, and whether everything is as it was afterwards. As root: it makes networks of its own.

Options:
  --quick        as npm test does: what can be told in minutes
  --only a,b     only these attacks, in all their worlds
  --worlds a,b   only in these: splice, streams, tls
  --seed n       of everything that is left to chance; printed by every run
  --path p       only this case of the one attack, as a failure named it
  --json file    one line of JSON for each strike (default .longhaul/attack/attacks.jsonl)
  --out folder   where the report goes (default .longhaul/attack)
  --list         says what is tried
`;

/** Reads what is asked for. Throws `lab-input-invalid` that lists every mistake. */
export function readCommandLine(args: readonly string[]): AttackCommand {
  const { values, names, mistakes } = readCommand(args, OPTIONS, 'test:attack');
  const [name, ...rest] = names;
  if (values.help) return { kind: 'help' };
  if (values.list) return { kind: 'list' };
  if (name === 'report') {
    const [resultFile] = rest;
    if (resultFile === undefined || rest.length > 1)
      throw refusal('report needs one result file: npm run test:attack -- report <result file>');
    return { kind: 'report', resultFile, outFolder: values.out };
  }
  const only = listOf(values.only);
  const worlds = listOf(values.worlds);
  const seed = values.seed === undefined ? undefined : Number(values.seed);
  if (seed !== undefined && !(Number.isSafeInteger(seed) && seed >= 0))
    mistakes.push(`--seed ${values.seed} must be a whole number of at least 0`);
  if (values.path !== undefined && !(only?.length === 1 && seed !== undefined))
    mistakes.push('--path needs --seed, and --only with the one attack that it is of');
  refuseMistakes(mistakes);
  return {
    kind: 'run',
    options: { quick: values.quick ?? false, ...(only ? { only } : {}), ...(worlds ? { worlds } : {}) },
    seed,
    path: values.path,
    resultFile: values.json,
    outFolder: values.out,
  };
}
