import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readLineFile } from '../results/result-file.ts';
import { unknownLineSchema } from './unknown-line.ts';
import { unknownPage } from './unknown-page.ts';

/** Makes the page of a file of lines, with its charts; gives its path. */
export function writeUnknownReport(resultFile: string, outFolder: string): string {
  const lines = readLineFile(resultFile, unknownLineSchema);
  const name = `${lines.info.startedAt.slice(0, 10)}-${lines.info.experiment}`;
  const { markdown, pictures } = unknownPage(lines, name);
  mkdirSync(join(outFolder, 'pictures'), { recursive: true });
  for (const [file, svg] of pictures) writeFileSync(join(outFolder, 'pictures', file), svg);
  const page = join(outFolder, `${name}.md`);
  writeFileSync(page, markdown);
  return page;
}
