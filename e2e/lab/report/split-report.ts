import { median } from '../results/statistics.ts';
import { byGroup, byScenario, type Cell } from './cells.ts';
import { chosenChains } from './chosen-chains.ts';
import { compareCells, type Verdict } from './compare.ts';
import { intervalChart } from './interval-chart.ts';
import { escapeMarkdown, inlineCode, markdownTable } from './markdown-table.ts';
import { againstDirect } from './matrix-findings.ts';
import { goodputPanel, goodputText, MEDIAN_LEGEND } from './matrix-report.ts';
import { counted, listed, mbps, ratio, ratioInterval } from './numbers.ts';
import { type ReportBody, type Section, slug } from './page-parts.ts';
import type { ReportPlan } from './report-plan.ts';

/** A prediction within this factor of the median, either way, is called good. */
const GOOD_FACTOR = 1.5;

/** What a model predicted against what was measured, and where a chain must not be chosen. */
export function splitReport(_plan: ReportPlan, cells: readonly Cell[]): ReportBody {
  const sections = [...byGroup(cells)].map(([group, own]): Section => {
    const title = group === '' ? 'Predicted and measured' : `Predicted and measured, ${group}`;
    return {
      title,
      picture: {
        name: slug('predicted', group),
        title,
        svg: intervalChart({
          title,
          description:
            'Median goodput in Mbit/s of each variant with its interval, and as a hollow mark what the model predicted.',
          xLabel: 'goodput, Mbit/s',
          panels: byScenario(own).map(([scenario, ...row]) => goodputPanel(scenario.label, row)),
          hasOwnScales: true,
          legend: [...MEDIAN_LEGEND, 'Large hollow mark: what the model predicted.'],
        }),
      },
      tables: ['Median and [least–most] of all transfers, Mbit/s:', table(own)],
    };
  });
  const perScenario = byScenario(cells).map(
    ([scenario, ...own]) =>
      `**${escapeMarkdown(scenario.label)}**: ${againstDirect(own.filter(({ variant }) => variant.id !== 'auto'))}${autoChose(own)}`,
  );
  return {
    findings: [mustNot(cells), modelSentence(cells), choiceSentence(cells), ...perScenario].filter(Boolean),
    sections,
  };
}

function table(cells: readonly Cell[]): string {
  const head = [
    'scenario',
    'variant',
    'n',
    'predicted',
    'measured',
    'measured / predicted',
    '× `direct`',
    'choose it?',
  ];
  const rows = byScenario(cells).flatMap(([scenario, ...own]) => {
    const direct = own.find(({ variant }) => variant.id === 'direct');
    return own.map((cell) => {
      const predicted = scenario.predictedBps?.[cell.variant.id];
      const compared = direct && cell !== direct ? compareCells(cell, direct) : null;
      return [
        inlineCode(scenario.id),
        inlineCode(cell.variant.id),
        String(cell.lines.length),
        predicted === undefined ? '–' : mbps(predicted),
        goodputText(cell),
        predicted === undefined ? '–' : ratio(median(cell.goodputsBps) / predicted),
        compared ? ratioInterval(compared.ratio) : '–',
        compared && cell.variant.isLonghaul ? ADVICE[compared.verdict] : '',
      ];
    });
  });
  return markdownTable(head, rows, { textColumns: 2 });
}

const ADVICE: Readonly<Record<Verdict, string>> = {
  faster: 'yes',
  slower: '**no**',
  unclear: 'no gain seen',
  untold: 'too few',
};

/** Chains that were made by hand: what `auto` chose is its own affair. */
function chainsAgainstDirect(cells: readonly Cell[]) {
  return byScenario(cells).flatMap(([scenario, ...own]) => {
    const direct = own.find(({ variant }) => variant.id === 'direct');
    if (!direct) return [];
    return own
      .filter(({ variant }) => variant.isLonghaul && variant.id !== 'auto')
      .flatMap((cell) => {
        const compared = compareCells(cell, direct);
        return compared ? [{ scenario, cell, ...compared }] : [];
      });
  });
}

function mustNot(cells: readonly Cell[]): string {
  const compared = chainsAgainstDirect(cells);
  const name = ({ scenario, cell, ratio: times }: (typeof compared)[number]) =>
    `${escapeMarkdown(scenario.label)} (${inlineCode(cell.variant.id)}: ${ratioInterval(times)} times \`direct\`)`;
  const told = compared.filter(({ verdict }) => verdict !== 'untold');
  const slower = told.filter(({ verdict }) => verdict === 'slower').map(name);
  const unclear = told.filter(({ verdict }) => verdict === 'unclear').map(name);
  const untold = compared.length - told.length;
  const sentences = [
    told.length === 0
      ? ''
      : slower.length > 0
        ? `A chain must **not** be chosen in ${slower.length} of ${counted(told.length, 'case')}: ${slower.join('; ')}.`
        : `In none of ${counted(told.length, 'case')} is a chain measurably slower than \`direct\`.`,
    unclear.length > 0
      ? `No gain can be seen, so it does not pay, in ${unclear.length}: ${unclear.join('; ')}.`
      : '',
    untold > 0
      ? `In ${counted(untold, 'case')} there are too few transfers to say whether a chain pays.`
      : '',
  ];
  return sentences.filter(Boolean).join(' ');
}

function modelSentence(cells: readonly Cell[]): string {
  const judged = cells.flatMap((cell) => {
    const predicted = cell.scenario.predictedBps?.[cell.variant.id];
    const factor = predicted === undefined ? Number.NaN : median(cell.goodputsBps) / predicted;
    return factor > 0 ? [{ cell, factor }] : [];
  });
  const far = judged.toSorted((a, b) => Math.abs(Math.log(b.factor)) - Math.abs(Math.log(a.factor)))[0];
  if (!far) return '';
  const good = judged.filter(({ factor }) => Math.abs(Math.log(factor)) <= Math.log(GOOD_FACTOR)).length;
  return `The model is within a factor of ${GOOD_FACTOR} in ${good} of ${counted(judged.length, 'case')}; it is furthest off for ${inlineCode(far.cell.variant.id)} in ${inlineCode(far.cell.scenario.id)}, measured ${ratio(far.factor)} times what it predicts.`;
}

/** Whether the model would have chosen the faster of chain and `direct`; a tie cannot be wrong. */
function choiceSentence(cells: readonly Cell[]): string {
  const judged = chainsAgainstDirect(cells).flatMap(({ scenario, cell, verdict }) => {
    const direct = scenario.predictedBps?.['direct'];
    const chain = scenario.predictedBps?.[cell.variant.id];
    if (direct === undefined || chain === undefined || (verdict !== 'faster' && verdict !== 'slower'))
      return [];
    return [{ name: inlineCode(scenario.id), isRight: chain > direct === (verdict === 'faster') }];
  });
  if (judged.length === 0) return '';
  const wrong = judged.filter(({ isRight }) => !isRight).map(({ name }) => name);
  const which = wrong.length > 0 ? `; wrong in ${listed(wrong)}` : '';
  return `Where chain and \`direct\` differ measurably, the model chooses the faster one in ${judged.length - wrong.length} of ${judged.length}${which}.`;
}

function autoChose(cells: readonly Cell[]): string {
  const auto = cells.find(({ variant }) => variant.id === 'auto');
  const chose = auto ? chosenChains(auto) : '';
  return chose ? ` \`auto\` ${chose}.` : '';
}
