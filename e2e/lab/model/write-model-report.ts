import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readResults } from '../results/result-file.ts';
import { modelPage } from './model-page.ts';

/** Makes the page of a file of lines; gives its path. */
export function writeModelReport(resultFile: string, outFolder: string): string {
  const results = readResults(resultFile);
  const { startedAt, options } = results.info;
  mkdirSync(outFolder, { recursive: true });
  const page = join(outFolder, `${startedAt.slice(0, 10)}-model${options.quick ? '-quick' : ''}.md`);
  writeFileSync(page, modelPage(results));
  return page;
}
