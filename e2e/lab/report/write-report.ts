import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LabRefusal } from '../refusal.ts';
import { readResults } from '../results/result-file.ts';
import { type Cell, cellsOf } from './cells.ts';
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
};

/**
 * Makes a page of a result: `<date>-<experiment>.md`, with `-quick` for a quick run, and its charts beside it. A page of
 * the same day and experiment is replaced. Throws a refusal when the result cannot be read, is empty, or does not belong
 * to the plan.
 */
export function writeReport(request: {
  readonly resultFile: string;
  readonly plan: ReportPlan;
  readonly outFolder: string;
}): ReportPaths {
  const { resultFile, plan, outFolder } = request;
  const { info, lines } = readResults(resultFile);
  if (lines.length === 0) {
    throw new LabRefusal(
      'lab-result-file',
      `${resultFile} holds no transfer yet: let the experiment run longer.`,
    );
  }
  const cells = cellsOf(plan, lines);
  const name = `${info.startedAt.slice(0, 10)}-${info.experiment}${info.options.quick ? '-quick' : ''}`;
  const body = REPORTS[plan.kind](plan, cells);
  const markdown = pageMarkdown({ plan, info, cells, body, pictureFolder: PICTURE_FOLDER, name });

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
