import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { LonghaulError } from '../../errors.ts';

/** What a command line asks for; `values` are those of the options that were given. */
export type Command<Option extends string, Needed extends Option = never> =
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | {
      readonly kind: 'run';
      readonly values: Readonly<Partial<Record<Option, string>> & Record<Needed, string>>;
    };

/**
 * Reads a command line whose options all have a value, beside `--help` (`-h`) and `--version`. Who asks for
 * help gets it, whatever else is there. Throws `command-line-wrong` for what is not understood, and where one
 * of `needed` is missing.
 */
export function readCommandLine<Option extends string, Needed extends Option = never>(
  args: readonly string[],
  options: readonly Option[],
  needed: readonly Needed[] = [],
): Command<Option, Needed> {
  if (args.includes('--help') || args.includes('-h')) return { kind: 'help' };
  if (args.includes('--version')) return { kind: 'version' };
  const values = parse(args, options);
  const missing = needed.find((option) => values[option] === undefined);
  if (missing !== undefined) throw commandLineWrong(`--${missing} is missing`);
  return { kind: 'run', values: values as Partial<Record<Option, string>> & Record<Needed, string> };
}

/** A refusal of a command line, with what is wrong. */
export function commandLineWrong(detail: string, cause?: unknown): LonghaulError {
  return new LonghaulError('command-line-wrong', { detail, cause });
}

function parse<Option extends string>(
  args: readonly string[],
  options: readonly Option[],
): Partial<Record<Option, string>> {
  const config: ParseArgsOptionsConfig = Object.fromEntries(
    options.map((option) => [option, { type: 'string' as const }]),
  );
  try {
    return parseArgs({ args: [...args], options: config }).values as Partial<Record<Option, string>>;
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause);
    // What follows is advice for authors of command lines with positional arguments.
    throw commandLineWrong(text.replace(/\.\s[^]*$/, ''), cause);
  }
}
