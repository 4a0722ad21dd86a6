import { escapeMarkdown, inlineCode, markdownTable } from '../report/markdown-table.ts';
import type { Choice } from './regret.ts';

/** One row for each drawn topology, the dearest choice first. */
export function regretTable(choices: readonly Choice[]): string {
  const time = (value: number, isBound = false) => `${isBound ? '> ' : ''}${value.toFixed(2)} s`;
  return markdownTable(
    [
      'topology',
      'from the client on',
      'chosen',
      'predicted',
      'measured',
      'best',
      'predicted',
      'measured',
      'regret',
    ],
    choices
      .toSorted((one, other) => other.regret - one.regret)
      .map(({ scenario, chosen, best, regret }) => [
        inlineCode(scenario.id),
        escapeMarkdown(scenario.label),
        inlineCode(chosen.way.variant),
        time(chosen.predicted),
        time(chosen.measured, chosen.isBound),
        inlineCode(best.way.variant),
        time(best.predicted),
        time(best.measured),
        `${(100 * regret).toFixed(1)} %`,
      ]),
    { textColumns: 3 },
  );
}
