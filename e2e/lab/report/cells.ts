import { LabRefusal } from '../refusal.ts';
import type { TransferLine } from '../results/transfer-line.ts';
import type { ReportPlan, ReportScenario, ReportVariant } from './report-plan.ts';

/** All transfers of one variant in one scenario. */
export interface Cell {
  readonly scenario: ReportScenario;
  readonly variant: ReportVariant;
  /** Place of the variant in the plan, which decides its colour and mark. */
  readonly series: number;
  /** At least one. */
  readonly lines: readonly TransferLine[];
  /** Goodput of each; 0 for the failed ones. */
  readonly goodputsBps: readonly number[];
}

/** Above this the emulator was so late that the transfer saw another network than it should. */
export const LATE_MS = 10;

/** Whether the emulator was too late at least once while the transfer ran. */
export function isLate(line: TransferLine): boolean {
  return line.latenessMs > LATE_MS;
}

/** Whether the transfer saw another network than it should: packets late, or dropped by a device's own queue. */
export function isMarked(line: TransferLine): boolean {
  return isLate(line) || (line.deviceDrops ?? 0) > 0;
}

/** Whether wrong bytes arrived or too few; a transfer that was only cut has not failed. */
export function isFailed(line: TransferLine): boolean {
  return line.error !== undefined || line.sha256Ok === false || line.prefixOk === false;
}

/** What a transfer counts: nothing when it failed, so that a failure never makes a variant look better. */
export function creditedBps(line: TransferLine): number {
  return isFailed(line) ? 0 : line.goodputBps;
}

/**
 * Sorts lines into cells, in the plan's order; a cell without lines is left out. Throws a refusal when a line
 * belongs to no cell: a page must not pass over what was measured.
 */
export function cellsOf(plan: ReportPlan, lines: readonly TransferLine[]): Cell[] {
  const byCell = Map.groupBy(lines, ({ scenario, variant }) => cellKey(scenario, variant));
  const cells = plan.scenarios.flatMap((scenario) =>
    plan.variants.flatMap((variant, series): Cell[] => {
      const own = byCell.get(cellKey(scenario.id, variant.id));
      byCell.delete(cellKey(scenario.id, variant.id));
      return own ? [{ scenario, variant, series, lines: own, goodputsBps: own.map(creditedBps) }] : [];
    }),
  );
  const [unknown] = [...byCell.values()].flat();
  if (unknown) {
    throw new LabRefusal(
      'lab-result-file',
      `The result has a transfer of ${unknown.variant} in ${unknown.scenario}, which the experiment no longer knows: run it again, or report it with the version that measured it.`,
    );
  }
  return cells;
}

/** Cells of one scenario each, in the plan's order. */
export function byScenario(cells: readonly Cell[]): (readonly [ReportScenario, ...Cell[]])[] {
  return [...Map.groupBy(cells, (cell) => cell.scenario)].map(
    ([scenario, own]) => [scenario, ...own] as const,
  );
}

/** Cells whose scenarios share a group, under its name; the empty name for scenarios without one. */
export function byGroup(cells: readonly Cell[]): Map<string, Cell[]> {
  return Map.groupBy(cells, (cell) => cell.scenario.group ?? '');
}

const cellKey = (scenario: string, variant: string) => JSON.stringify([scenario, variant]);
