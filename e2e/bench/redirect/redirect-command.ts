import { listOf, readCommand, refuseMistakes, wholeNumber } from '../../lab/options.ts';
import { openRun, placesOf } from '../../lab/results/open-run.ts';
import { fingerprintOf } from '../../lab/results/run-info.ts';
import { REDIRECT_CASE_IDS, type RedirectCaseId } from './redirect-case.ts';
import { redirectLineSchema } from './redirect-line.ts';
import { runRedirect } from './run-redirect.ts';
import { writeRedirectReport } from './write-redirect-report.ts';

export interface RedirectCommand {
  readonly kind: 'redirect';
  readonly cases: readonly RedirectCaseId[];
  readonly repeats: number;
  readonly requests: number;
  readonly resultFile: string | undefined;
  readonly outFolder: string | undefined;
}

const OPTIONS = {
  cases: { type: 'string' },
  repeat: { type: 'string' },
  requests: { type: 'string' },
  json: { type: 'string' },
  out: { type: 'string' },
} as const;

const REPEATS = 7;
const REQUESTS = 40_000;

/** Reads what stands behind `redirect`. Throws `lab-input-invalid` that lists every mistake. */
export function readRedirectCommand(args: readonly string[]): RedirectCommand {
  const { values, mistakes } = readCommand(args, OPTIONS, 'bench');
  const asked = listOf(values.cases) ?? REDIRECT_CASE_IDS;
  for (const id of asked)
    if (!REDIRECT_CASE_IDS.some((known) => known === id))
      mistakes.push(`there is no case '${id}'; choose from ${REDIRECT_CASE_IDS.join(', ')}`);
  const whole = (option: 'repeat' | 'requests', preset: number, least: number, most: number) =>
    wholeNumber({ option, text: values[option] ?? String(preset), least, most }, mistakes);
  const command = {
    kind: 'redirect' as const,
    cases: REDIRECT_CASE_IDS.filter((id) => asked.includes(id)),
    repeats: whole('repeat', REPEATS, 1, 1000),
    requests: whole('requests', REQUESTS, 100, 10_000_000),
    resultFile: values.json,
    outFolder: values.out,
  };
  refuseMistakes(mistakes);
  return command;
}

/** Runs the benchmark and gives its page. */
export async function benchRedirect(
  { cases, repeats, requests, resultFile, outFolder }: RedirectCommand,
  folder: string,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const places = placesOf({ resultFile, outFolder }, folder, 'redirect');
  const file = openRun({
    places,
    script: 'bench',
    experiment: 'redirect',
    planFingerprint: fingerprintOf({ cases, repeats, requests }),
    options: { repeat: repeats, seed: 0 },
    programs: ['nginx'],
    schema: redirectLineSchema,
  });
  await runRedirect({ cases, repeats, requests, file, say, signal });
  file.finish();
  return writeRedirectReport(places).page;
}
