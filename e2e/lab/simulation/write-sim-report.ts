import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLineFile } from '../results/result-file.ts';
import { simLineSchema } from './sim-line.ts';
import { simPage } from './sim-page.ts';

/** Makes the page of a file of lines; gives its path. */
export function writeSimReport(resultFile: string, outFolder: string): string {
  const results = readLineFile(resultFile, simLineSchema);
  mkdirSync(outFolder, { recursive: true });
  const page = join(outFolder, `${results.info.startedAt.slice(0, 10)}-sim-map.md`);
  writeFileSync(page, simPage(results));
  return page;
}
