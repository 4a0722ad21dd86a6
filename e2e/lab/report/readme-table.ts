import { median } from '../results/statistics.ts';
import type { TransferLine } from '../results/transfer-line.ts';
import { byScenario, type Cell, cellsOf } from './cells.ts';
import { fastest, isRival, withAsManyConnections } from './compare.ts';
import { markdownTable } from './markdown-table.ts';
import { mbps } from './numbers.ts';
import type { ReportPlan } from './report-plan.ts';

/** A row of the table: a scenario, in words for those who read nothing else. */
export type QuotedRow = readonly [scenario: string, path: string];

const HEAD = [
  'path',
  'one connection',
  '8 ranges',
  '`aria2c -x16`',
  'best rival at the depots’ sites, one client connection',
  'best rival of all',
  'as the planner decides',
];

/**
 * The table of the README: plain tools, the strongest rivals and the planner, in Mbit/s. The rivals are
 * picked by row, and in each row the best is bold, whoever it is. Rows without lines are left out.
 */
export function readmeTable(plan: ReportPlan, lines: readonly TransferLine[], quoted: readonly QuotedRow[]) {
  const rows = byScenario(cellsOf(plan, lines));
  const told = quoted.flatMap(([id, path]) => {
    const found = rows.find(([scenario]) => scenario.id === id);
    return found ? [{ path, cells: found.slice(1) as readonly Cell[] }] : [];
  });
  const counts = told.flatMap(({ cells }) => cells.map((cell) => cell.lines.length));
  return {
    table: markdownTable(
      HEAD,
      told.map(({ path, cells }) => [path, ...rowOf(cells)]),
    ),
    leastTransfers: Math.min(...counts),
    mostTransfers: Math.max(...counts),
  };
}

function rowOf(cells: readonly Cell[]): string[] {
  const named = (id: string) => cells.find(({ variant }) => variant.id === id);
  const auto = named('auto');
  const rivals = cells.filter(isRival);
  const alike = auto && fastest(withAsManyConnections(auto, rivals));
  const shown = [named('direct'), named('ranges8'), named('aria2-16'), alike, fastest(rivals), auto];
  const best = Math.max(...shown.map((cell) => (cell ? median(cell.goodputsBps) : 0)));
  return shown.map((cell, at) => {
    if (!cell) return '–';
    const value = median(cell.goodputsBps);
    const number = value === best ? `**${mbps(value)}**` : mbps(value);
    return at === 3 || at === 4 ? `${number} (${cell.variant.label})` : number;
  });
}
