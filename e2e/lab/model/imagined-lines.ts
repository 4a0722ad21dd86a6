/** Lines that nobody has measured, for tests of what is made of them. */
import type { TransferLine } from '../results/transfer-line.ts';
import { GRID_CELLS, type GridCell, LEG_VARIANT } from './grid-cells.ts';

/** A transfer of this way that took so long. */
export function imaginedLine(
  scenario: string,
  variant: string,
  seconds: number,
  rest: Partial<TransferLine> = {},
): TransferLine {
  return {
    experiment: 'model',
    scenario,
    variant,
    repeat: 1,
    seed: 1,
    sizeBytes: 1,
    seconds,
    goodputBps: 8 / seconds,
    ttfbMs: null,
    sha256Ok: true,
    latenessMs: 1,
    load: 1,
    ...rest,
  };
}

/** One transfer that was cut. */
export const CUT = { cut: true, sha256Ok: null, prefixOk: true, receivedBytes: 1 } as const;

/** Transfers of a cell of the grid, one for each time. */
export function imaginedLegs(cell: GridCell, ...seconds: readonly number[]): TransferLine[] {
  return seconds.map((took, at) => imaginedLine(cell.scenario.id, LEG_VARIANT, took, { repeat: at + 1 }));
}

/** The cell with this id. */
export function cellOf(id: string): GridCell {
  const found = GRID_CELLS.find(({ scenario }) => scenario.id === id);
  if (!found) throw new Error(`the grid has no cell ${id}`);
  return found;
}
