import { join, resolve } from 'node:path';
import type * as z from 'zod';
import type { Script } from '../options.ts';
import { type LineFile, openLineFile } from './result-file.ts';
import { describeRun, type RunInfo, type RunRequest } from './run-info.ts';

/** Where a run leaves what it finds; absolute paths. */
export interface Places {
  readonly resultFile: string;
  /** Of its page. */
  readonly outFolder: string;
}

/** A run that begins, as the command that was typed asks for it. */
interface TypedRun extends Omit<RunRequest, 'command' | 'programs' | 'options'> {
  readonly script: Script;
  /** Not quick and never cut, where nothing is said of it. */
  readonly options: Pick<RunInfo['options'], 'repeat' | 'seed'> & Partial<RunInfo['options']>;
  /** Programs whose versions matter, node aside. */
  readonly programs?: readonly string[];
}

/** The command that this process was started by, as it can be typed again. */
export function typedCommand(script: Script): string {
  return [`npm run ${script} --`, ...process.argv.slice(2)].join(' ');
}

/** Places as they are asked for; what is not is the default folder, and `<name>.jsonl` in the folder. */
export function placesOf(
  asked: { readonly resultFile: string | undefined; readonly outFolder: string | undefined },
  defaultFolder: string,
  name: string,
): Places {
  const outFolder = resolve(asked.outFolder ?? defaultFolder);
  return { resultFile: resolve(asked.resultFile ?? join(outFolder, `${name}.jsonl`)), outFolder };
}

/** Describes this machine and moment for the run that was typed; members stand in the order that they are given in. */
export function describeTyped({
  script,
  experiment,
  planFingerprint,
  programs = [],
  ...said
}: TypedRun): RunInfo {
  const { repeat, quick = false, set, cutSeconds = null, seed } = said.options;
  const options = { repeat, quick, ...(set === undefined ? {} : { set }), cutSeconds, seed };
  return describeRun({
    experiment,
    planFingerprint,
    command: typedCommand(script),
    ...said,
    options,
    programs,
  });
}

/** Begins the run that was typed, or goes on with it: {@link openLineFile} at its place. */
export function openRun<Line>({
  places,
  schema,
  keeps,
  ...run
}: TypedRun & {
  readonly places: Places;
  readonly schema: z.ZodType<Line>;
  /** Lines of the run before that stay while all others are measured anew; left out, none is. */
  readonly keeps?: ((line: Line) => boolean) | undefined;
}): LineFile<Line> {
  return openLineFile(places.resultFile, describeTyped(run), schema, keeps);
}
