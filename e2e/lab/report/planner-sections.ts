import { median, quantile } from '../results/statistics.ts';
import type { TransferLine } from '../results/transfer-line.ts';
import { byScenario, type Cell, isFailed } from './cells.ts';
import { fastest, withAsManyConnections } from './compare.ts';
import { inlineCode, markdownTable } from './markdown-table.ts';
import { counted, mbps } from './numbers.ts';
import type { Section } from './page-parts.ts';

/** |ln(measured / predicted)| of goodput; undefined where nothing was predicted or nothing came. */
export function predictionError(line: TransferLine): number | undefined {
  const { predictedSeconds, sizeBytes, goodputBps } = line;
  if (!predictedSeconds || goodputBps <= 0 || isFailed(line)) return undefined;
  return Math.abs(Math.log((goodputBps * predictedSeconds) / (sizeBytes * 8)));
}

/** How near the predictions of plans came, of the planner's own choices and of chains chosen by hand. */
export function predictionSections(cells: readonly Cell[]): Section[] {
  const told = cells.filter(({ lines }) => lines.some((line) => predictionError(line) !== undefined));
  if (told.length === 0) return [];
  const errorsOf = (chosen: readonly Cell[]) =>
    chosen.flatMap(({ lines }) => lines.flatMap((line) => predictionError(line) ?? []));
  const summary = (name: string, chosen: readonly Cell[]) => {
    const errors = errorsOf(chosen);
    return errors.length === 0
      ? ''
      : `${name}: median ${median(errors).toFixed(2)}, 90 % below ${quantile(errors, 0.9).toFixed(2)}, of ${errors.length} transfers.`;
  };
  const isAuto = ({ variant }: Cell) => variant.id === 'auto';
  const rows = told.map((cell) => {
    const predicted = cell.lines.flatMap(({ predictedSeconds, sizeBytes }) =>
      predictedSeconds ? [(sizeBytes * 8) / predictedSeconds] : [],
    );
    const lanes = [...new Set(cell.lines.flatMap((line) => line.lanes ?? []))].toSorted((a, b) => a - b);
    return [
      inlineCode(cell.scenario.id),
      inlineCode(cell.variant.id),
      lanes.join(', '),
      mbps(median(predicted)),
      mbps(median(cell.goodputsBps)),
      median(errorsOf([cell])).toFixed(2),
    ];
  });
  const head = [
    'scenario',
    'variant',
    'lanes',
    'predicted, Mbit/s',
    'measured, Mbit/s',
    'median of \\|ln\\|',
  ];
  return [
    {
      title: 'Predicted and measured',
      text: [
        'What the master predicted with the very plan that a transfer had, by |ln(measured / predicted)| of its goodput; the prediction leaves the redirect out, the measurement does not.',
        [
          summary('`auto`', told.filter(isAuto)),
          summary(
            'Chosen by hand',
            told.filter((cell) => !isAuto(cell)),
          ),
        ]
          .filter(Boolean)
          .join(' '),
      ],
      tables: [
        `<details><summary>By scenario and variant</summary>\n\n${markdownTable(head, rows, { textColumns: 2 })}\n\n</details>`,
      ],
    },
  ];
}

/** How much slower `auto` is than the best of all ways whose client has as many connections. */
export function regretSections(cells: readonly Cell[]): Section[] {
  const told = byScenario(cells).flatMap(([scenario, ...row]) => {
    const auto = row.find(({ variant }) => variant.id === 'auto');
    const best = auto && fastest(withAsManyConnections(auto, row));
    if (!auto || !best || median(best.goodputsBps) === 0) return [];
    const share = median(auto.goodputsBps) / median(best.goodputsBps);
    return [{ scenario, auto, best, regret: Math.max(0, 1 - share), share }];
  });
  if (told.length === 0) return [];
  const regrets = told.map(({ regret }) => regret);
  const worst = told.toSorted((a, b) => b.regret - a.regret)[0];
  const percent = (share: number) => `${(share * 100).toFixed(0)} %`;
  const mean = regrets.reduce((sum, regret) => sum + regret, 0) / regrets.length;
  const rows = told.map(({ scenario, auto, best, share }) => [
    inlineCode(scenario.id),
    mbps(median(auto.goodputsBps)),
    inlineCode(best.variant.id),
    mbps(median(best.goodputsBps)),
    percent(share),
  ]);
  return [
    {
      title: 'Regret of the planner',
      text: [
        `How much less \`auto\` carries than the best of all ways with as many client connections, rivals included, each picked after the measurement: ${percent(mean)} in the mean of ${counted(regrets.length, 'scenario')}, at worst ${percent(worst?.regret ?? 0)}${worst ? ` (${inlineCode(worst.scenario.id)})` : ''}.`,
      ],
      tables: [markdownTable(['scenario', '`auto`, Mbit/s', 'best way', 'Mbit/s', '`auto` of that'], rows)],
    },
  ];
}
