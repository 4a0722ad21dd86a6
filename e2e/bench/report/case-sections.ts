import { inlineCode, markdownTable } from '../../lab/report/markdown-table.ts';
import type { Section } from '../../lab/report/page-parts.ts';
import { max, median, min } from '../../lab/results/statistics.ts';
import { CASE_ACCOUNTS, CASE_IDS } from '../cases/case-id.ts';
import type { CaseLine } from '../cases/case-line.ts';

/** A table for each case that was measured: a row for each party, a column for each of its figures. */
export function caseSections(lines: readonly CaseLine[]): Section[] {
  return CASE_IDS.flatMap((id): Section[] => {
    const own = lines.filter((line) => line.case === id);
    if (own.length === 0) return [];
    const { title, text } = CASE_ACCOUNTS[id];
    const names = [...new Set(own.flatMap(({ values }) => Object.keys(values)))];
    const rows = [...Map.groupBy(own, ({ party }) => party)].map(([party, runs]) => [
      party,
      String(runs.length),
      ...names.map((name) => rangeText(runs.flatMap(({ values }) => values[name] ?? []))),
    ]);
    const table = markdownTable(['', 'n', ...names.map(inlineCode)], rows);
    return [{ title, text: [`${text} Median and [least–most]; case \`${id}\`.`], tables: [table] }];
  });
}

function rangeText(values: readonly number[]): string {
  if (values.length === 0) return '–';
  return `${figure(median(values))} [${figure(min(values))}–${figure(max(values))}]`;
}

/** Three digits, and no fewer than a whole number has. */
function figure(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
