import { FITTED, type FittedConstants } from '@longhaul/shared';
import { inlineCode, markdownTable } from '../report/markdown-table.ts';
import { counted } from '../report/numbers.ts';
import { bulletList, commandItem, machineItem, momentsItem } from '../report/run-items.ts';
import type { Results } from '../results/result-file.ts';
import { mean, meanInterval } from '../results/statistics.ts';
import { groupTable, partTable, size } from './error-tables.ts';
import { fitConstants, RANGES } from './fit-constants.ts';
import { type MeasuredWay, measuredWays } from './measured-ways.ts';
import { choicesOf } from './regret.ts';
import { regretTable } from './regret-table.ts';
import { trustItems } from './trust-items.ts';
import { errorsOf, spreadOfErrors } from './way-errors.ts';
import { PARTS, partsOf } from './way-groups.ts';
import { allWaysTable, worstTable } from './way-tables.ts';

/** What is wanted. */
const TARGET = { median: 0.05, p90: 0.2, regret: 0.05 } as const;

/** The page of `npm run lab -- model`: how far predicted times are from measured ones, and what that costs. */
export function modelPage({ info, lines }: Results): string {
  const ways = measuredWays(info.options.seed, lines);
  const fitted = fitConstants(ways.filter(({ part }) => part === 'fitting'));
  const parts = [
    '# Predicted times beside measured ones',
    'How far is the planner’s model of a transfer’s time from what real TCP takes: over a grid of single legs, and over topologies that were drawn? And what do its errors cost?',
    ...(info.finishedAt === null
      ? [`**This run is not finished**: the page holds the ${counted(lines.length, 'transfer')} made so far.`]
      : []),
    '## Targets',
    targetTable(ways),
    '## How it was measured',
    bulletList([
      'Error: e = |ln(median of the measured seconds / predicted seconds)| of each way: 0.05 is 5 %. Predicted with the planner’s own functions from the links as they were set, the redirect of the master included where there is one',
      'Grid: one direct connection at 100 Mbit/s by sender, round trip, loss in each direction, client’s buffer (`big`: 6 MiB, `limited`: 256 KiB), queue (half and twice the product of rate and round trip) and size. Several links that share nothing but the machine go on at the same time',
      'Of two cells of the grid that differ by one step of one condition one is in the half that constants may be fitted on, the other one in the half that judges',
      'Drawn: rows of one to three depots and the ways over them, by a master that is told the links as they are; depots send with BBR, and may have connections ready from one transfer to the next, of which the model knows nothing',
      `A transfer that was cut (after ${info.options.cutSeconds} s) is a lower bound: where the median is one, a prediction below it is off by at least so much, and one above it is not counted`,
      '“By spread alone”: the median e that a model without any error would have, because a median of so few transfers is not known better; from the width of the 95 % intervals of measured / predicted, by bootstrap over the transfers. “Holds 1”: ways whose interval does, so that nobody can see whether they are off',
      ...trustItems(lines),
      commandItem(info),
      momentsItem(info),
      machineItem(info),
    ]),
    '## Errors',
    partTable(ways),
    '## By condition',
    groupTable(ways),
    '## Furthest off',
    worstTable(ways),
    ...regretParts(ways),
    '## Constants',
    'Fitted on the first half of the grid alone, by the least mean error; nothing was changed by that.',
    constantTable(fitted),
    fitTable(ways, fitted),
    `<details><summary>All ${counted(ways.length, 'way')}</summary>\n\n${allWaysTable(ways)}\n\n</details>`,
  ];
  return `${parts.join('\n\n')}\n`;
}

function targetTable(ways: readonly MeasuredWay[]): string {
  const judged = partsOf(ways).filter(([part]) => part !== 'fitting');
  const regrets = choicesOf(ways).map(({ regret }) => regret);
  const rows = [
    ...judged.flatMap(([part, own]) => {
      const { median, p90 } = spreadOfErrors(errorsOf(own));
      return [
        { what: `${PARTS[part]}: e, median`, measured: median, wanted: TARGET.median },
        { what: `${PARTS[part]}: e, nine of ten`, measured: p90, wanted: TARGET.p90 },
      ];
    }),
    ...(regrets.length > 0
      ? [{ what: 'mean regret of choices', measured: mean(regrets), wanted: TARGET.regret }]
      : []),
  ];
  return markdownTable(
    ['target', 'measured', 'wanted at most', 'met'],
    rows.map(({ what, measured, wanted }) => [
      what,
      size(measured),
      String(wanted),
      Number.isNaN(measured) ? 'not measured' : measured <= wanted ? 'yes' : '**no**',
    ]),
  );
}

function regretParts(ways: readonly MeasuredWay[]): string[] {
  const choices = choicesOf(ways);
  if (choices.length === 0) return [];
  const { value, low, high } = meanInterval(choices.map(({ regret }) => regret));
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  return [
    '## Regret',
    `Time of what the planner would take of the measured ways, over that of the best of them, less 1: ${percent(value)} in the mean [${percent(low)}–${percent(high)}] over ${choices.length} drawn ${choices.length === 1 ? 'topology' : 'topologies'}. The master’s redirect counts for direct, too.`,
    regretTable(choices),
  ];
}

function constantTable(fitted: FittedConstants): string {
  return markdownTable(
    ['constant', 'present', 'fitted', 'tried'],
    (Object.keys(RANGES) as (keyof FittedConstants)[]).map((name) => [
      inlineCode(name),
      size(FITTED[name]),
      size(fitted[name]),
      `${RANGES[name].least} to ${RANGES[name].most}`,
    ]),
  );
}

function fitTable(ways: readonly MeasuredWay[], fitted: FittedConstants): string {
  const cells = (own: readonly MeasuredWay[], constants: FittedConstants) => {
    const { median, p90, mean: average } = spreadOfErrors(errorsOf(own, constants));
    return [size(median), size(p90), size(average)];
  };
  const regretWith = (constants: FittedConstants) =>
    size(mean(choicesOf(ways, constants).map(({ regret }) => regret)));
  return markdownTable(
    ['with', 'present: median', 'p90', 'mean', 'fitted: median', 'p90', 'mean'],
    [
      ...partsOf(ways).map(([part, own]) => [PARTS[part], ...cells(own, FITTED), ...cells(own, fitted)]),
      ['regret', '', '', regretWith(FITTED), '', '', regretWith(fitted)],
    ],
  );
}
