import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { joinResults } from '../results/join-results.ts';
import { type Cell, cellsOf } from './cells.ts';
import { failoverReport } from './failover-report.ts';
import { matrixReport } from './matrix-report.ts';
import { pageMarkdown } from './page.ts';
import { pictureFile, type ReportBody } from './page-parts.ts';
import type { ReportKind, ReportPlan } from './report-plan.ts';
import { rnpReport } from './rnp-report.ts';
import { signallingReport } from './signalling-report.ts';
import { splitReport } from './split-report.ts';

export interface ReportPaths {
  readonly page: string;
  readonly pictures: readonly string[];
}

/** Where the charts of all pages of a folder stand, below it. */
const PICTURE_FOLDER = 'pictures';

const REPORTS: Readonly<Record<ReportKind, (plan: ReportPlan, cells: readonly Cell[]) => ReportBody>> = {
  matrix: matrixReport,
  rnp: rnpReport,
  split: splitReport,
  signalling: signallingReport,
  failover: failoverReport,
};

/**
 * Makes a page of one result or of several of the same experiment: `<date>-<experiment>.md`, with `-quick`
 * when all runs were quick, and its charts beside it. A page of the same day and experiment is replaced.
 * Throws a refusal when a result cannot be read, when they do not go together, are empty, or do not belong to
 * the plan.
 */
export function writeReport(request: {
  readonly resultFiles: readonly string[];
  readonly plan: ReportPlan;
  readonly outFolder: string;
}): ReportPaths {
  const { resultFiles, plan, outFolder } = request;
  const { experiment, runs, lines } = joinResults(resultFiles);
  const cells = cellsOf(plan, lines);
  const date = runs.map(({ info }) => info.startedAt.slice(0, 10)).toSorted()[0] ?? '';
  const isQuick = runs.every(({ info }) => info.options.quick);
  const name = `${date}-${experiment}${isQuick ? '-quick' : ''}`;
  const body = REPORTS[plan.kind](plan, cells);
  const markdown = pageMarkdown({ plan, runs, cells, body, pictureFolder: PICTURE_FOLDER, name });

  mkdirSync(join(outFolder, PICTURE_FOLDER), { recursive: true });
  const pictures = body.sections.flatMap(({ picture }) => {
    if (!picture) return [];
    const path = join(outFolder, PICTURE_FOLDER, pictureFile(picture, name));
    writeFileSync(path, picture.svg);
    return [path];
  });
  const page = join(outFolder, `${name}.md`);
  writeFileSync(page, markdown);
  return { page, pictures };
}
