import { listOf, readCommand, refuseMistakes, wholeNumber } from '../../lab/options.ts';
import { openRun, placesOf } from '../../lab/results/open-run.ts';
import { fingerprintOf } from '../../lab/results/run-info.ts';
import { BROWSER_CASES, type BrowserCase } from './browser-cases.ts';
import { BROWSER_KINDS, browsersLineSchema } from './browsers-line.ts';
import { runBrowsers } from './run-browsers.ts';
import { writeBrowsersReport } from './write-browsers-report.ts';

export interface BrowsersCommand {
  readonly kind: 'browsers';
  readonly browsers: readonly (typeof BROWSER_KINDS)[number][];
  readonly cases: readonly BrowserCase[];
  readonly repeats: number;
  readonly seed: number;
  readonly resultFile: string | undefined;
  readonly outFolder: string | undefined;
}

const OPTIONS = {
  browsers: { type: 'string' },
  cases: { type: 'string' },
  repeat: { type: 'string', default: '3' },
  seed: { type: 'string', default: '1' },
  json: { type: 'string' },
  out: { type: 'string' },
} as const;

/** Reads what stands behind `browsers`. Throws `lab-input-invalid` that lists every mistake. */
export function readBrowsersCommand(args: readonly string[]): BrowsersCommand {
  const { values, mistakes } = readCommand(args, OPTIONS, 'bench');
  const chosen = <T>(what: string, asked: string | undefined, all: readonly T[], idOf: (one: T) => string) =>
    listOf(asked)?.flatMap((id) => {
      const found = all.find((one) => idOf(one) === id);
      if (!found)
        mistakes.push(`there is no ${what} '${id}'; choose from ${all.map((one) => idOf(one)).join(', ')}`);
      return found ?? [];
    }) ?? all;
  const command = {
    kind: 'browsers' as const,
    browsers: chosen('browser', values.browsers, BROWSER_KINDS, (kind) => kind),
    cases: chosen('case', values.cases, BROWSER_CASES, ({ id }) => id),
    repeats: wholeNumber({ option: 'repeat', text: values.repeat, least: 1, most: 1000 }, mistakes),
    seed: wholeNumber({ option: 'seed', text: values.seed, least: 0, most: 2 ** 32 - 1 }, mistakes),
    resultFile: values.json,
    outFolder: values.out,
  };
  refuseMistakes(mistakes);
  return command;
}

/** Runs the benchmark and gives its page. */
export async function benchBrowsers(
  { browsers, cases, repeats, seed, resultFile, outFolder }: BrowsersCommand,
  folder: string,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const places = placesOf({ resultFile, outFolder }, folder, 'browsers');
  const file = openRun({
    places,
    script: 'bench',
    experiment: 'browsers',
    planFingerprint: fingerprintOf({ browsers, cases: cases.map(({ id }) => id), repeats, seed }),
    options: { repeat: repeats, seed },
    schema: browsersLineSchema,
  });
  await runBrowsers({ browsers, cases, repeats, seed, file, say, signal });
  file.finish();
  return writeBrowsersReport(places).page;
}
