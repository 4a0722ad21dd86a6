import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLineFile } from '../results/result-file.ts';
import { mastersLineSchema } from './masters-line.ts';
import { mastersPage } from './masters-page.ts';

/** Makes the page of a file of lines; gives its path. */
export function writeMastersReport(resultFile: string, outFolder: string): string {
  const lines = readLineFile(resultFile, mastersLineSchema);
  mkdirSync(outFolder, { recursive: true });
  const page = join(outFolder, `${lines.info.startedAt.slice(0, 10)}-masters.md`);
  writeFileSync(page, mastersPage(lines));
  return page;
}
