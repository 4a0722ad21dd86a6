import { medianOfRatios } from '../results/paired-ratios.ts';
import type { TransferLine } from '../results/transfer-line.ts';
import { byScenario, type Cell } from './cells.ts';
import { pairsOf } from './compare.ts';
import { inlineCode, markdownTable } from './markdown-table.ts';
import { mbpsRange, ratioInterval } from './numbers.ts';
import type { Section } from './page-parts.ts';

/** What others keep beside a download of ours, at least, of what they have beside as many direct connections. */
export const SHARE_LEFT_TO_OTHERS = 0.9;

/**
 * The direct download with as many connections as `line` has on the shared leg: `direct` for one lane, else the plain
 * ranges that are nearest from above. A way with a client of several connections is held against the same.
 */
export function likeOf(line: TransferLine, connections: number, variants: readonly string[]): string {
  const count = Math.max(line.lanes ?? 1, connections);
  const ranges = variants
    .flatMap((id) => {
      const found = /^ranges(\d+)$/.exec(id)?.[1];
      return found === undefined ? [] : [{ id, count: Number(found) }];
    })
    .toSorted((a, b) => a.count - b.count);
  if (count <= 1) return 'direct';
  return (ranges.find((one) => one.count >= count) ?? ranges.at(-1))?.id ?? 'direct';
}

/** What cross traffic has beside each transfer of a cell, by what it has beside its like in the same repeat. */
export function harmOf(cell: Cell, row: readonly Cell[]) {
  const ids = row.map(({ variant }) => variant.id);
  const likes = new Set<string>();
  const pairs = cell.lines.flatMap((line) => {
    const like = likeOf(line, cell.variant.clientConnections ?? 1, ids);
    const other = row.find(({ variant }) => variant.id === like);
    if (!other || other === cell) return [];
    likes.add(like);
    return pairsOf([line], other.lines, ({ crossBps }) => crossBps);
  });
  return { ratio: medianOfRatios(pairs), likes: [...likes] };
}

/** What downloads do to the traffic of others that they share links with. */
export function harmSections(cells: readonly Cell[]): Section[] {
  const shared = byScenario(
    cells.filter(({ lines }) => lines.some(({ crossBps }) => crossBps !== undefined)),
  );
  const rows = shared.flatMap(([scenario, ...row]) =>
    row.map((cell) => {
      const { ratio, likes } = harmOf(cell, row);
      const kept = cell.lines.flatMap(({ crossBps }) => crossBps ?? []);
      const isEnough = ratio && (ratio.value >= SHARE_LEFT_TO_OTHERS ? 'yes' : '**no**');
      return [
        inlineCode(scenario.id),
        inlineCode(cell.variant.id),
        mbpsRange(cell.goodputsBps),
        mbpsRange(kept),
        likes.map(inlineCode).join(', ') || '–',
        ratio ? ratioInterval(ratio) : '–',
        cell.variant.isLonghaul ? (isEnough ?? '–') : '–',
      ];
    }),
  );
  if (rows.length === 0) return [];
  const head = [
    'scenario',
    'variant',
    'its own, Mbit/s',
    'others, Mbit/s',
    'its like',
    'others by that',
    'enough',
  ];
  return [
    {
      title: 'What we do to others',
      text: [
        `What all cross traffic together carried while each download ran, and how that compares with what it had in the same repeat beside a download of the same kind without depots: \`direct\`, or as many plain ranges as there were lanes. It shall be at least ${SHARE_LEFT_TO_OTHERS}. A download that is faster is over sooner, which is not counted here.`,
      ],
      tables: [markdownTable(head, rows, { textColumns: 2 })],
    },
  ];
}
