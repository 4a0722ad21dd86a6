import { ANYCAST_NAME } from './anycast/anycast-command.ts';
import { writeAnycastReport } from './anycast/write-anycast-report.ts';
import { EXPERIMENTS } from './experiments/experiments.ts';
import { reportPlanOf } from './experiments/report-plan-of.ts';
import { UNKNOWN_WORLDS } from './experiments/unknown.ts';
import { MASTERS_NAME } from './masters/masters-command.ts';
import { writeMastersReport } from './masters/write-masters-report.ts';
import { MODEL_NAME } from './model/model-command.ts';
import { writeModelReport } from './model/write-model-report.ts';
import { LabRefusal } from './refusal.ts';
import { writeReport } from './report/write-report.ts';
import { joinResults } from './results/join-results.ts';
import { readRunInfo } from './results/result-file.ts';
import { SELF_TEST_NAME } from './self-test/self-test-line.ts';
import { writeSelfTestReport } from './self-test/write-self-test-report.ts';
import { SIM_NAME } from './simulation/sim-command.ts';
import { writeSimReport } from './simulation/write-sim-report.ts';
import { writeUnknownReport } from './unknown/write-unknown-report.ts';

interface OwnPage {
  readonly write: (resultFile: string, outFolder: string) => string;
  /** Whether the page itself says of an unfinished run that it is one. */
  readonly saysUnfinished?: true;
}

/** What makes a page of lines of its own kind, by the name of the experiment: of one file each. */
const OWN_PAGES: ReadonlyMap<string, OwnPage> = new Map<string, OwnPage>([
  [SELF_TEST_NAME, { write: writeSelfTestReport }],
  [SIM_NAME, { write: writeSimReport }],
  [ANYCAST_NAME, { write: writeAnycastReport }],
  [MASTERS_NAME, { write: writeMastersReport }],
  [MODEL_NAME, { write: writeModelReport, saysUnfinished: true }],
  ...Object.keys(UNKNOWN_WORLDS).map((name): [string, OwnPage] => [name, { write: writeUnknownReport }]),
]);

/**
 * Makes the page of a result of any kind, or of several of the same experiment of transfers; gives its path. Throws a
 * refusal when a result cannot be read, is not finished and its page would not say so, or when they do not go together.
 */
export function reportResults(resultFiles: readonly string[], outFolder: string): string {
  const [file, ...others] = resultFiles;
  const info = file === undefined ? undefined : readRunInfo(file);
  const own = info && OWN_PAGES.get(info.experiment);
  if (file === undefined || !info || !own) return reportTransfers(resultFiles, outFolder);
  if (others.length > 0)
    throw refusal(
      `${file} is of '${info.experiment}', whose pages are made of one file: make a report of each.`,
    );
  if (info.finishedAt === null && !own.saysUnfinished)
    throw refusal(
      `${file} is not finished: its page can be made when \`${info.command}\` has come to its end.`,
    );
  return own.write(file, outFolder);
}

function reportTransfers(resultFiles: readonly string[], outFolder: string): string {
  const { experiment: name } = joinResults(resultFiles);
  const experiment = EXPERIMENTS.find((known) => known.name === name);
  if (!experiment) throw refusal(`${resultFiles.join(', ')}: the experiment '${name}' is not known here.`);
  return writeReport({ resultFiles, plan: reportPlanOf(experiment), outFolder }).page;
}

function refusal(text: string): LabRefusal {
  return new LabRefusal('lab-result-file', text);
}
