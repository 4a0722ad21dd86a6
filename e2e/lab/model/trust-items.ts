import { isFailed, isLate, LATE_MS } from '../report/cells.ts';
import { inlineCode } from '../report/markdown-table.ts';
import { counted, listed } from '../report/numbers.ts';
import { max, median } from '../results/statistics.ts';
import type { TransferLine } from '../results/transfer-line.ts';

/** How far the transfers themselves can be trusted: how many failed, were cut, or met a late emulator. */
export function trustItems(lines: readonly TransferLine[]): string[] {
  if (lines.length === 0) return [];
  const lateness = lines.map(({ latenessMs }) => latenessMs);
  const failed = lines.filter(isFailed);
  const reasons = [...new Set(failed.map(({ scenario, error }) => `${scenario}: ${error ?? 'wrong bytes'}`))];
  return [
    `${counted(lines.length, 'transfer')}; ${lines.filter(({ cut }) => cut).length} cut, ${failed.length} failed, which count nowhere${reasons.length > 0 ? ` (${listed(reasons.map(inlineCode))})` : ''}`,
    `In ${lines.filter(isLate).length} packets left the emulator more than ${LATE_MS} ms late (at worst ${max(lateness).toFixed(0)} ms, ${median(lateness).toFixed(1)} ms in the median): these are marked, and tables say what is left without them. The machine’s load was ${median(lines.map(({ load }) => load)).toFixed(1)} in the median`,
  ];
}
