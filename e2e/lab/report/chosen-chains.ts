import type { Cell } from './cells.ts';
import { inlineCode } from './markdown-table.ts';
import { listed } from './numbers.ts';

/**
 * Which chains a planned variant went through: ``went through `near`, `far` ``, with counts when it changed its mind.
 * Empty when no transfer says.
 */
export function chosenChains({ lines }: Cell): string {
  const told = lines.flatMap(({ chain }) => (chain ? [chain] : []));
  const ways = [...Map.groupBy(told, (chain) => JSON.stringify(chain)).values()];
  const words = ways
    .toSorted((a, b) => b.length - a.length)
    .map((same) => {
      const [chain = []] = same;
      const way = chain.length === 0 ? 'went direct' : `went through ${chain.map(inlineCode).join(', ')}`;
      return ways.length === 1 ? way : `${way} (${same.length} of ${told.length})`;
    });
  return listed(words);
}

/**
 * What of a cell went through a chain: of the planner's own choices only the transfers that say so, for
 * `auto` may as well go direct, and then it says nothing about chains. Undefined when nothing is left.
 */
export function throughChain(cell: Cell): Cell | undefined {
  if (cell.variant.id !== 'auto') return cell;
  const kept = cell.lines.map(({ chain }) => (chain?.length ?? 0) > 0);
  if (!kept.includes(true)) return undefined;
  return {
    ...cell,
    lines: cell.lines.filter((_, at) => kept[at]),
    goodputsBps: cell.goodputsBps.filter((_, at) => kept[at]),
  };
}
