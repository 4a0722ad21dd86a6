import { LonghaulError } from '../../errors.ts';

/** Of a program that does not understand its command line, as programs have it by custom. */
const USAGE_EXIT_CODE = 2;
const FAILURE_EXIT_CODE = 1;

interface Explanation {
  /** For standard error. */
  readonly text: string;
  readonly exitCode: number;
}

/**
 * Why a program could not do what it was asked for: one sentence with its code, and `usage` where the command
 * line is to blame. Nothing for failures that are not registered: those are bugs, and belong into the log
 * with their stack.
 */
export function explainFailure(program: string, usage: string, failure: unknown): Explanation | undefined {
  if (!(failure instanceof LonghaulError) || failure.code === 'internal') return undefined;
  const sentence = `${program}: ${failure.code}: ${failure.message}\n`;
  if (failure.code === 'command-line-wrong')
    return { text: `${sentence}${synopsis(usage)}\n`, exitCode: USAGE_EXIT_CODE };
  return { text: sentence, exitCode: FAILURE_EXIT_CODE };
}

/** The first paragraph of a usage text. */
function synopsis(usage: string): string {
  return usage.split('\n\n')[0] ?? usage;
}
