import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLineFile } from '../results/result-file.ts';
import { anycastLineSchema } from './anycast-line.ts';
import { anycastPage } from './anycast-page.ts';

/** Makes the page of a file of lines; gives its path. */
export function writeAnycastReport(resultFile: string, outFolder: string): string {
  const lines = readLineFile(resultFile, anycastLineSchema);
  mkdirSync(outFolder, { recursive: true });
  const page = join(outFolder, `${lines.info.startedAt.slice(0, 10)}-anycast.md`);
  writeFileSync(page, anycastPage(lines));
  return page;
}
