import { type Estimate, ratioOfMedians } from '../results/statistics.ts';
import type { Cell } from './cells.ts';

/** What may be said of two variants: `unclear` when the interval of their ratio holds 1, `untold` with too few transfers. */
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

/** What the interval of a ratio allows to say, when the smaller side has `count` values. */
export function verdictOf(ratio: Estimate, count: number): Verdict {
  if (count < FEWEST_FOR_A_VERDICT) return 'untold';
  if (ratio.low > 1) return 'faster';
  return ratio.high < 1 ? 'slower' : 'unclear';
}
