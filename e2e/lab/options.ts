import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { LabRefusal } from './refusal.ts';

/** Options and names of a command line. Throws `lab-input-invalid` that points to the help of `command`. */
export function parseOptions<Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Options,
  command: string,
) {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch (failure) {
    const text = failure instanceof Error ? failure.message : String(failure);
    throw refusal(`${text}. See ${command} --help`);
  }
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
