import { formatBytes } from '@longhaul/shared';
import { UNKNOWN_WORLDS } from '../experiments/unknown.ts';
import { lineChart } from '../report/line-chart.ts';
import { markdownTable } from '../report/markdown-table.ts';
import { counted } from '../report/numbers.ts';
import { bulletList, commandItem, machineItem, momentsItem } from '../report/run-items.ts';
import type { Lines } from '../results/result-file.ts';
import { max, mean, meanInterval, median, min } from '../results/statistics.ts';
import type { UnknownLine } from './unknown-line.ts';
import {
  directScoreOf,
  firstsAgainstDirect,
  followings,
  hasOracle,
  inGroups,
  LAST,
  predictionError,
  regretOf,
  type Scored,
  scoredDownloads,
  scoreOf,
} from './unknown-scores.ts';

/** What is wanted. */
const TARGET = { first: 0.98, after20: 0.9, after100: 0.95, downloads: 10, seconds: 120 } as const;
const PER_POINT = 10;
const WORST_SHOWN = 12;

export interface UnknownPage {
  readonly markdown: string;
  /** By the name of the file below the folder of pictures. */
  readonly pictures: ReadonlyMap<string, string>;
}

/** What world an experiment is in, as a sentence. */
function worldOf(experiment: string): string {
  const world = Object.entries(UNKNOWN_WORLDS).find(([name]) => name === experiment)?.[1];
  return world ? `The world: ${world.topology.name}. ` : '';
}

/** The page of `npm run lab -- unknown`: how near to the best way an overlay comes that nobody has told anything. */
export function unknownPage({ info, lines }: Lines<UnknownLine>, name: string): UnknownPage {
  const scored = scoredDownloads(lines);
  const oracle = lines.flatMap((line) => (line.kind === 'oracle' ? [line] : []));
  const firsts = firstsAgainstDirect(scored);
  const last = scored.at(-1)?.line;
  const lateness = lines.map(({ latenessMs }) => latenessMs);
  const failed = lines.filter(({ isRight }) => !isRight).length;
  const cut = lines.filter((line) => line.cut).length;
  const pictures = new Map([
    [`${name}-regret.svg`, regretChart(scored)],
    [`${name}-score.svg`, scoreChart(scored)],
  ]);
  const parts = [
    '# An overlay that nobody has told anything',
    'How near to the best way are downloads that a fresh overlay plans, of which nobody has typed in a link, from the first one on, and when the world changes?',
    '## What is seen',
    bulletList([
      `First download of each of ${counted(firsts.length, 'pair')}: ${fixed(median(firsts))} of direct in the median, ${fixed(min(firsts))} at worst (wanted: ${TARGET.first} in the median)`,
      ...windows(scored).map(({ to, own }) => {
        const { value, low, high } = meanInterval(finite(own, scoreOf));
        return `The last ${own.length} of the first ${to}: ${fixed(value)} of the oracle [${fixed(low)}–${fixed(high)}]${wantedAt(to)}; direct would have had ${fixed(mean(finite(own, directScoreOf)))}`;
      }),
      ...followings(scored).map(({ state, firstNumber, after }) =>
        after
          ? `Change before download ${firstNumber} (${state}): followed after ${counted(after.downloads, 'download')}, ${after.seconds.toFixed(0)} s (wanted: ${TARGET.downloads} or ${TARGET.seconds} s)`
          : `Change before download ${firstNumber} (${state}): not followed while it lasted`,
      ),
      ...(last
        ? [
            `Measuring: depots have sent ${formatBytes(last.measuringBytes)} to test links in ${(last.atSeconds / 60).toFixed(0)} min, and brought ${formatBytes(last.carriedBytes)} to clients`,
          ]
        : []),
    ]),
    '## How it was measured',
    bulletList([
      `${worldOf(info.experiment)}One master; links of the topology are told to nobody. The oracle of a pair in a state of the world: the least median of all ways that were measured by hand before, direct and the fastest chains by the true links, over an overlay of its own at the same sites; a way that three planned downloads or more took counts with the median of these where that is less`,
      'Score: the oracle’s time over that of the download, the redirect included, in the mean with its 95 % interval. Regret: the inverse less 1',
      `A change counts as followed from the first of three downloads on that have 0.9 in the median`,
      `${counted(oracle.length, 'download')} by hand, ${scored.length} planned; ${failed} failed${cut > 0 ? `, ${cut} were cut` : ''}. Packets left the emulator up to ${max(lateness).toFixed(0)} ms late, ${median(lateness).toFixed(1)} ms in the median`,
      ...(cut > 0 ? [cutItem(info.options.cutSeconds)] : []),
      commandItem(info),
      momentsItem(info),
      machineItem(info),
    ]),
    '## Over time',
    ...[...pictures.keys()].map(
      (file) => `![${file.endsWith('regret.svg') ? 'Regret' : 'Score'} over downloads](pictures/${file})`,
    ),
    ...besideCharts(scored),
    markdownTable(
      ['downloads', 'states', 'score', 'of direct', 'regret, median', 'chains', 'prediction off by'],
      inGroups(scored, PER_POINT).map((own) => [
        spanOf(own),
        [...new Set(own.map(({ line }) => line.state))].join(', '),
        fixed(mean(finite(own, scoreOf))),
        fixed(mean(finite(own, directScoreOf))),
        percent(median(own.filter(hasOracle).map(regretOf))),
        String(own.filter(({ line }) => line.chain.length > 0).length),
        percent(predictionError(own)),
      ]),
      { textColumns: 2 },
    ),
    '## By pair',
    markdownTable(
      ['client', 'origin', 'state', 'direct', 'oracle', 'over', 'planned', 'score'],
      [
        ...Map.groupBy(scored, ({ line }) => [line.client, line.origin, line.state].join(' ')).values(),
      ].flatMap((own) => {
        const [first] = own;
        if (!first) return [];
        const { line, directSeconds, isDirectBound, oracleSeconds, oracleWay } = first;
        return [
          [
            line.client,
            line.origin,
            line.state,
            seconds(directSeconds, isDirectBound),
            seconds(oracleSeconds),
            hasOracle(first) ? wayText(oracleWay) : '',
            String(own.length),
            fixed(mean(finite(own, scoreOf))),
          ],
        ];
      }),
      { textColumns: 3 },
    ),
    '## The dearest plans',
    `Of those after the first ${LAST}.`,
    markdownTable(
      [
        'download',
        'client',
        'origin',
        'state',
        'over',
        'took',
        'predicted',
        'direct predicted',
        'oracle',
        'over',
        'why',
      ],
      scored
        .slice(LAST)
        .filter(hasOracle)
        .toSorted((one, other) => scoreOf(one) - scoreOf(other))
        .slice(0, WORST_SHOWN)
        .map(({ line, oracleSeconds, oracleWay }) => [
          String(line.number),
          line.client,
          line.origin,
          line.state,
          wayText(line),
          line.isRight ? seconds(line.seconds, line.cut) : 'failed',
          line.plan ? seconds(line.plan.predictedSeconds) : '',
          line.plan ? seconds(line.plan.predictedDirectSeconds) : '',
          seconds(oracleSeconds),
          wayText(oracleWay),
          line.plan?.reason ?? '',
        ]),
      { textColumns: 5 },
    ),
  ];
  return { markdown: `${parts.join('\n\n')}\n`, pictures };
}

/** The last twenty at every twentieth download, and of those at the end. */
function windows(scored: readonly Scored[]): { readonly to: number; readonly own: readonly Scored[] }[] {
  const ends = scored.flatMap((_, at) => ((at + 1) % LAST === 0 || at + 1 === scored.length ? [at + 1] : []));
  return ends.map((to) => ({ to, own: scored.slice(Math.max(0, to - LAST), to) }));
}

function wantedAt(to: number): string {
  if (to < 2 * LAST) return to === LAST ? ` (wanted: ${TARGET.after20})` : '';
  return ` (wanted: ${to > 100 ? TARGET.after100 : TARGET.after20})`;
}

/** What a download that was ended says. */
function cutItem(cutSeconds: number | null): string {
  const after = cutSeconds === null ? '' : ` after ${cutSeconds} s`;
  return `A download that was cut${after} takes longer than that: a way whose median is one (\`>\`) is no oracle, and a planned one counts as if it had ended there`;
}

/** What the charts do not show; nothing where they show all. */
function besideCharts(scored: readonly Scored[]): string[] {
  const failed = scored.filter(({ line }) => !line.isRight).length;
  const cut = scored.filter(({ line }) => line.cut).length;
  const unjudged = scored.filter((one) => !hasOracle(one)).length;
  return [
    ...(failed > 0
      ? [
          `Failed: ${failed} of ${scored.length} planned downloads. Such a one has the score 0, and stands in no regret of the chart.`,
        ]
      : []),
    ...(cut > 0
      ? [
          `Cut: ${cut} of ${scored.length} planned downloads. The score of such a one is at most, and its regret at least, what is shown.`,
        ]
      : []),
    ...(unjudged > 0
      ? [
          `Without an oracle, because no way by hand brought the whole file often enough: ${unjudged} of ${scored.length} planned downloads. These stand in neither chart.`,
        ]
      : []),
  ];
}

function regretChart(scored: readonly Scored[]): string {
  return overDownloads(scored, {
    title: 'Regret over downloads',
    description: 'Mean regret of each ten downloads in a row, with its 95 % interval.',
    yLabel: 'time over the oracle’s, less 1, %',
    series: [{ label: 'planned', of: (one) => 100 * regretOf(one) }],
  });
}

function scoreChart(scored: readonly Scored[]): string {
  return overDownloads(scored, {
    title: 'Score over downloads',
    description:
      'Mean score of each ten downloads in a row, planned and always direct, with its 95 % interval.',
    yLabel: 'the oracle’s time over that of the download',
    series: [
      { label: 'planned', of: scoreOf },
      { label: 'direct', of: directScoreOf },
    ],
    bound: { value: TARGET.after100, label: `wanted after 100: ${TARGET.after100}` },
  });
}

interface OverDownloads {
  readonly title: string;
  readonly description: string;
  readonly yLabel: string;
  readonly series: readonly { readonly label: string; readonly of: (scored: Scored) => number }[];
  readonly bound?: { readonly value: number; readonly label: string };
}

function overDownloads(scored: readonly Scored[], { series, ...chart }: OverDownloads): string {
  const groups = inGroups(scored, PER_POINT);
  return lineChart({
    ...chart,
    xLabel: 'download in this overlay',
    levels: groups.map(spanOf),
    series: series.map(({ label, of }, at) => ({
      label,
      series: at + 1,
      points: groups.flatMap((own) => {
        const values = finite(own, of);
        return values.length > 0 ? [{ level: spanOf(own), ...meanInterval(values) }] : [];
      }),
    })),
  });
}

/** A mean with a download that took for ever in it, or that has no oracle, would say nothing of the others. */
function finite(own: readonly Scored[], of: (scored: Scored) => number): number[] {
  return own.map(of).filter(Number.isFinite);
}

function spanOf(own: readonly Scored[]): string {
  return `${own[0]?.line.number ?? ''}–${own.at(-1)?.line.number ?? ''}`;
}

function wayText({ chain, lanes }: { readonly chain: readonly string[]; readonly lanes: number }): string {
  return chain.length === 0 ? 'direct' : `${chain.join('-')}${lanes > 1 ? ` x${lanes}` : ''}`;
}

function fixed(value: number): string {
  return Number.isFinite(value) ? value.toFixed(3) : '';
}

function percent(share: number): string {
  return Number.isFinite(share) ? `${(100 * share).toFixed(1)} %` : '';
}

function seconds(value: number, isBound = false): string {
  return Number.isFinite(value) ? `${isBound ? '> ' : ''}${value.toFixed(2)} s` : 'never';
}
