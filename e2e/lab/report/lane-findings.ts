import { median } from '../results/statistics.ts';
import type { Cell } from './cells.ts';
import { compareCells } from './compare.ts';
import { inlineCode } from './markdown-table.ts';
import { listed, ratio, ratioRange } from './numbers.ts';

/** What each variant that differs in one thing from another makes of it; empty where there is no such pair. */
export function againstBaselines(cells: readonly Cell[]): string {
  const told = cells.flatMap((cell) => {
    const baseline = cells.find(({ variant }) => variant.id === cell.variant.baseline);
    // Of two that carry nothing there is nothing to say.
    if (!baseline || median(cell.goodputsBps) === 0) return [];
    const compared = compareCells(cell, baseline);
    const name = inlineCode(cell.variant.id);
    const other = inlineCode(baseline.variant.id);
    if (!compared) return [`${name} carries something where ${other} carries nothing`];
    const doubt = compared.verdict === 'unclear' ? ', so far not to be told apart' : '';
    return [
      `${name} is ${ratio(compared.ratio.value)} times as fast as ${other} ${ratioRange(compared.ratio)}${doubt}`,
    ];
  });
  return told.length === 0 ? '' : `${listed(told)}.`;
}
