import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { LabRefusal } from './refusal.ts';

/** What of this folder and its neighbours is run as `npm run <script> -- …`. */
export type Script = 'lab' | 'bench' | 'test:attack';

/**
 * Options and names of a command line, and the mistakes in it so far: names beyond the first `mostNames`. Throws
 * `lab-input-invalid` that points to the help of the script where an option is not known, or has no value.
 */
export function readCommand<Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Options,
  script: Script,
  mostNames = 0,
) {
  const { values, positionals: names } = parseOptions(args, options, script);
  const rest = names.slice(mostNames);
  return { values, names, mistakes: rest.length > 0 ? [`'${rest.join(' ')}' means nothing here`] : [] };
}

function parseOptions<Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Options,
  script: Script,
) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (failure) {
    const text = failure instanceof Error ? failure.message : String(failure);
    throw refusal(`${text}. See npm run ${script} -- --help`);
  }
}

/** Throws {@link refusalOf} the mistakes, where there are any. */
export function refuseMistakes(mistakes: readonly string[]): void {
  if (mistakes.length > 0) throw refusalOf(mistakes);
}

/** All that is wrong with a command line, as one sentence. */
export function refusalOf(mistakes: readonly string[]): LabRefusal {
  return refusal(`${mistakes.join('; ')}.`);
}

/** What is wrong with a command line, as a sentence. */
export function refusal(text: string): LabRefusal {
  return new LabRefusal('lab-input-invalid', text.charAt(0).toUpperCase() + text.slice(1));
}

/** The items of `a,b`. */
export function listOf(text: string | undefined): readonly string[] | undefined {
  return text?.split(',').map((item) => item.trim());
}

interface WholeNumber {
  /** The option's name. */
  readonly option: string;
  readonly text: string;
  readonly least: number;
  readonly most: number;
}

/** The number that an option's text is; a text that is none within these bounds is added to the mistakes. */
export function wholeNumber({ option, text, least, most }: WholeNumber, mistakes: string[]): number {
  const value = Number(text);
  if (!/^[0-9]+$/.test(text) || value < least || value > most)
    mistakes.push(`--${option} ${text} must be a whole number from ${least} to ${most}`);
  return value;
}
