import { median } from './statistics.ts';
import type { TransferLine } from './transfer-line.ts';

/** How long a way takes; a bound: longer than that, because its transfers were cut. */
export interface MedianTime {
  readonly seconds: number;
  readonly isBound: boolean;
}

/**
 * The median of transfers of which those that were cut took longer than any other: a time where it is not
 * among these.
 */
export function medianTime(lines: readonly Pick<TransferLine, 'seconds' | 'cut'>[]): MedianTime {
  const whole = lines.filter(({ cut }) => !cut).length;
  return {
    seconds: median(lines.map(({ seconds }) => seconds)),
    // With an even number both in the middle have to be whole.
    isBound: whole <= Math.floor(lines.length / 2),
  };
}
