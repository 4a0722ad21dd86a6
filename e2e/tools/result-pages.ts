/**
 * Makes the pages of docs/results, and the table of the README, of the committed lines that
 * docs/results/pages.json names; with `--check` only compares. No figure of theirs is without a line.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MATRIX, README_ROWS } from '../lab/experiments/matrix.ts';
import { reportPlanOf } from '../lab/experiments/report-plan-of.ts';
import { readmeTable } from '../lab/report/readme-table.ts';
import { busySentence } from '../lab/report/trust-section.ts';
import { joinResults } from '../lab/results/join-results.ts';
import { checkPublishedPages, readPublishedPages } from './published-pages.ts';
import { root } from './run-steps.ts';

const isCheck = process.argv.includes('--check');
const folder = join(root, 'docs', 'results');
const wrong = [...checkPublishedPages(folder, !isCheck), ...checkReadme()];
if (wrong.length > 0) {
  process.stderr.write(`${wrong.join('\n')}\n`);
  process.exitCode = 1;
}

function checkReadme(): string[] {
  const { page, data } = readPublishedPages(folder).readme;
  const { lines } = joinResults(data.map((name) => join(folder, 'data', name)));
  const { table, leastTransfers, mostTransfers } = readmeTable(reportPlanOf(MATRIX), lines, README_ROWS);
  const counts = leastTransfers === mostTransfers ? leastTransfers : `${leastTransfers} to ${mostTransfers}`;
  const source = `Mbit/s, medians of ${counts} transfers over emulated links ([the lines behind it](docs/results/${page})). ${busySentence(lines)}`;
  const file = join(root, 'README.md');
  const text = readFileSync(file, 'utf8');
  const parts = /^([^]*<!-- table -->\n)[^]*(<!-- end -->[^]*)$/.exec(text);
  if (!parts) throw new Error('README.md has no place for its table');
  const updated = `${parts[1]}\n${table}\n\n${source}\n\n${parts[2]}`;
  if (updated === text) return [];
  if (isCheck) return ['the table of README.md is not what its lines make: run `npm run fix`'];
  writeFileSync(file, updated);
  return [];
}
