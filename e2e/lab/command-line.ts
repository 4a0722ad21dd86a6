import {
  ANYCAST_NAME,
  ANYCAST_USAGE,
  type AnycastCommand,
  readAnycastCommand,
} from './anycast/anycast-command.ts';
import { EXPERIMENTS } from './experiments/experiments.ts';
import { MATRIX } from './experiments/matrix.ts';
import {
  MASTERS_NAME,
  MASTERS_USAGE,
  type MastersCommand,
  readMastersCommand,
} from './masters/masters-command.ts';
import { MODEL_NAME, MODEL_USAGE, type ModelCommand, readModelCommand } from './model/model-command.ts';
import { listOf, readCommand, refusal, refusalOf } from './options.ts';
import type { RunCommand } from './run/run-command.ts';
import type { SelfTestCommand } from './self-test/self-test-command.ts';
import { readSimCommand, SIM_NAME, SIM_USAGE, type SimCommand } from './simulation/sim-command.ts';
import {
  readUnknownCommand,
  UNKNOWN_NAME,
  UNKNOWN_USAGE,
  type UnknownCommand,
} from './unknown/unknown-command.ts';

export type LabCommand =
  | { readonly kind: 'help' }
  | SimCommand
  | AnycastCommand
  | MastersCommand
  | UnknownCommand
  | ModelCommand
  | SelfTestCommand
  | {
      readonly kind: 'report';
      /** At least one, of the same experiment. */
      readonly resultFiles: readonly string[];
      readonly outFolder: string | undefined;
    }
  | RunCommand;

const OPTIONS = {
  repeat: { type: 'string' },
  quick: { type: 'boolean' },
  set: { type: 'string' },
  'dry-run': { type: 'boolean' },
  json: { type: 'string' },
  out: { type: 'string' },
  scenarios: { type: 'string' },
  variants: { type: 'string' },
  cut: { type: 'string' },
  seed: { type: 'string' },
  links: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

const SETS = Object.keys(MATRIX.sets ?? {}).join(', ');
const NAMES = EXPERIMENTS.map(({ name }) => name);

export const USAGE = `Usage: npm run lab -- <experiment> [options]
       npm run lab -- report <result file>... [--out folder]
       npm run lab -- self-test [--json file] [--out folder]
${SIM_USAGE}
${ANYCAST_USAGE}
${MASTERS_USAGE}
${UNKNOWN_USAGE}
${MODEL_USAGE}
Experiments:
${EXPERIMENTS.map(({ name, title }) => `  ${name.padEnd(12)} ${title}`).join('\n')}

Options:
  --repeat n        transfers of each variant in each scenario
  --quick           fewer repeats, and only what shows the main point
  --set name        a choice of the experiment's own: matrix has ${SETS}
  --dry-run         only says what would be run, and for how long
  --json file       one line of JSON per transfer; an interrupted run goes on when the same command is given again
  --out folder      where the result and its report go (default .longhaul/lab)
  --scenarios a,b   only these
  --variants a,b    only these
  --cut seconds     a transfer is ended after so many seconds
  --links measured  the master is told of no link: each scenario has a fresh overlay, which plans ten downloads before those that count
  --seed n          of the order and of the emulator's random streams (default 1)
`;

/** Reads what the lab is asked to do. Throws `lab-input-invalid` that lists every mistake. */
export function readCommandLine(args: readonly string[]): LabCommand {
  if (args[0] === SIM_NAME && !args.includes('--help')) return readSimCommand(args.slice(1));
  if (args[0] === ANYCAST_NAME && !args.includes('--help')) return readAnycastCommand(args.slice(1));
  if (args[0] === MASTERS_NAME && !args.includes('--help')) return readMastersCommand(args.slice(1));
  if (args[0] === UNKNOWN_NAME && !args.includes('--help')) return readUnknownCommand(args.slice(1));
  if (args[0] === MODEL_NAME && !args.includes('--help')) return readModelCommand(args.slice(1));
  const { values, names, mistakes } = readCommand(args, OPTIONS, 'lab', 1);
  const [name, ...rest] = names;
  if (values.help || args.length === 0) return { kind: 'help' };
  if (name === 'self-test') {
    refuseOptions(name, values, ['json', 'out']);
    if (rest.length > 0) throw refusal(`'${rest.join(' ')}' means nothing here: self-test takes no names.`);
    return { kind: 'self-test', resultFile: values.json, outFolder: values.out };
  }
  if (name === 'report') {
    refuseOptions(name, values, ['out']);
    if (rest.length === 0)
      throw refusal('report needs a result file: npm run lab -- report <result file>...');
    return { kind: 'report', resultFiles: rest, outFolder: values.out };
  }
  const experiment = EXPERIMENTS.find((known) => known.name === name);
  if (name === undefined) mistakes.unshift(`name an experiment: one of ${NAMES.join(', ')}`);
  else if (!experiment)
    mistakes.unshift(`there is no experiment '${name}'; choose one of ${NAMES.join(', ')}`);
  if (values.quick && values.set !== undefined) mistakes.push('give --quick or --set, not both');
  const number = (option: 'repeat' | 'cut' | 'seed', least: number, isWhole: boolean) => {
    const text = values[option];
    if (text === undefined) return undefined;
    const value = Number(text);
    const isGood =
      text.trim() !== '' &&
      Number.isFinite(value) &&
      value >= least &&
      (!isWhole || Number.isSafeInteger(value));
    if (!isGood)
      mistakes.push(`--${option} ${text} must be a ${isWhole ? 'whole ' : ''}number of at least ${least}`);
    return value;
  };
  const repeats = number('repeat', 1, true);
  const cutSeconds = number('cut', 0.1, false);
  const seed = number('seed', 0, true) ?? 1;
  if (!experiment || mistakes.length > 0) throw refusalOf(mistakes);
  const links = (['typed', 'measured'] as const).find((known) => known === (values.links ?? 'typed'));
  if (!links) throw refusal(`--links takes typed or measured, not '${values.links}'.`);
  const scenarios = listOf(values.scenarios);
  const variants = listOf(values.variants);
  return {
    kind: 'run',
    experiment,
    options: {
      quick: values.quick ?? false,
      ...(values.set === undefined ? {} : { set: values.set }),
      seed,
      ...(repeats === undefined ? {} : { repeats }),
      ...(cutSeconds === undefined ? {} : { cutSeconds }),
      ...(links === 'measured' ? { links } : {}),
      ...(scenarios ? { scenarios } : {}),
      ...(variants ? { variants } : {}),
    },
    isDry: values['dry-run'] ?? false,
    resultFile: values.json,
    outFolder: values.out,
  };
}

/** An option that would be passed over is a mistake of who gave it. */
function refuseOptions(command: string, values: object, allowed: readonly string[]): void {
  const useless = Object.keys(values).filter((option) => !allowed.includes(option));
  if (useless.length === 0) return;
  const names = useless.map((option) => `--${option}`).join(' and ');
  throw refusal(`${names} ${useless.length === 1 ? 'means' : 'mean'} nothing to ${command}: leave it out.`);
}
