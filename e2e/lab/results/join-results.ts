import { LabRefusal } from '../refusal.ts';
import { readResults } from './result-file.ts';
import type { RunInfo } from './run-info.ts';
import type { TransferLine } from './transfer-line.ts';

/** One result among several of the same experiment. */
export interface Run {
  readonly file: string;
  readonly info: RunInfo;
  readonly lines: readonly TransferLine[];
}

/** Results that stand on one page. */
export interface JoinedResults {
  readonly experiment: string;
  /** At least one, in the order in which they began. */
  readonly runs: readonly Run[];
  /** Of all runs; at least one. */
  readonly lines: readonly TransferLine[];
}

/**
 * Reads results of one experiment. Throws a refusal when one cannot be read, when they are of several experiments, when
 * a transfer is in two of them (which one counts?), and when they hold none.
 */
export function joinResults(files: readonly string[]): JoinedResults {
  const runs = files
    .map((file): Run => ({ file, ...readResults(file) }))
    .toSorted((a, b) => Date.parse(a.info.startedAt) - Date.parse(b.info.startedAt));
  const [first, ...others] = runs;
  if (!first) throw refusal('There is no result file: name at least one.');
  const { experiment } = first.info;
  const stranger = others.find(({ info }) => info.experiment !== experiment);
  if (stranger)
    throw refusal(
      `${first.file} is of the experiment '${experiment}' and ${stranger.file} of '${stranger.info.experiment}': make a report of each.`,
    );
  refuseTwice(runs);
  const lines = runs.flatMap((run) => run.lines);
  if (lines.length === 0)
    throw refusal(
      `${files.join(', ')} ${files.length === 1 ? 'holds' : 'hold'} no transfer yet: let the experiment run longer.`,
    );
  return { experiment, runs, lines };
}

/** Within one file a transfer is there twice only if somebody put it there; that is refused as well. */
function refuseTwice(runs: readonly Run[]): void {
  const seen = new Map<string, string>();
  for (const { file, lines } of runs)
    for (const { scenario, variant, repeat } of lines) {
      const key = JSON.stringify([scenario, variant, repeat]);
      const before = seen.get(key);
      if (before !== undefined)
        throw refusal(
          `Repeat ${repeat} of ${variant} in ${scenario} is in ${before === file ? `${file} twice` : `both ${before} and ${file}`}: leave one of them out.`,
        );
      seen.set(key, file);
    }
}

function refusal(text: string): LabRefusal {
  return new LabRefusal('lab-result-file', text);
}
