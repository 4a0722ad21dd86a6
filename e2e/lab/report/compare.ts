import { medianOfRatios, type Pair, type PairedRatio } from '../results/paired-ratios.ts';
import { type Estimate, median, ratioOfMedians } from '../results/statistics.ts';
import type { TransferLine } from '../results/transfer-line.ts';
import { type Cell, creditedBps } from './cells.ts';

/**
 * What may be said of two variants: `unclear` when the interval of their ratio holds 1, `untold` with too few
 * transfers.
 */
export type Verdict = 'faster' | 'slower' | 'unclear' | 'untold';

export interface Comparison {
  readonly ratio: Estimate;
  readonly verdict: Verdict;
}

/** With fewer transfers of a variant nothing is said of more or less. */
const FEWEST_FOR_A_VERDICT = 3;

/** Compares medians of goodput; null where there is nothing to divide by. */
export function compareCells(ours: Cell, other: Cell): Comparison | null {
  const ratio = ratioOfMedians(ours.goodputsBps, other.goodputsBps);
  if (!ratio) return null;
  return { ratio, verdict: verdictOf(ratio, Math.min(ours.lines.length, other.lines.length)) };
}

/**
 * Values of transfers that shared a repeat and the random numbers of their links, which those of runs with
 * different seeds do not.
 */
export function pairsOf(
  ours: readonly TransferLine[],
  others: readonly TransferLine[],
  valueOf: (line: TransferLine) => number | undefined,
): Pair[] {
  const byRepeat = new Map(others.map((line) => [line.repeat, line]));
  return ours.flatMap((line): Pair[] => {
    const other = byRepeat.get(line.repeat);
    if (other?.seed !== line.seed) return [];
    const [above, below] = [valueOf(line), valueOf(other)];
    return above === undefined || below === undefined ? [] : [[above, below]];
  });
}

/** Goodput of one variant by another's, within repeats. */
export function pairedRatio(ours: Cell, other: Cell): PairedRatio | null {
  return medianOfRatios(pairsOf(ours.lines, other.lines, creditedBps));
}

/** The cell with the greatest median. */
export function fastest(cells: readonly Cell[]): Cell | undefined {
  return cells.toSorted((a, b) => median(b.goodputsBps) - median(a.goodputsBps))[0];
}

/** Neither ours nor a plain connection. */
export function isRival({ variant }: Cell): boolean {
  return !variant.isLonghaul && variant.id !== 'direct';
}

/** Cells whose client has as many connections as that of `cell`, itself left out. */
export function withAsManyConnections(cell: Cell, cells: readonly Cell[]): Cell[] {
  const countOf = ({ variant: { clientConnections = 1 } }: Cell) => clientConnections;
  return cells.filter((other) => other !== cell && countOf(other) === countOf(cell));
}

/** What the interval of a ratio allows to say, when the smaller side has `count` values. */
export function verdictOf(ratio: Estimate, count: number): Verdict {
  if (count < FEWEST_FOR_A_VERDICT) return 'untold';
  if (ratio.low > 1) return 'faster';
  return ratio.high < 1 ? 'slower' : 'unclear';
}
