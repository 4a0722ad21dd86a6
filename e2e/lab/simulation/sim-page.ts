import { formatBytes } from '@longhaul/shared';
import { markdownTable } from '../report/markdown-table.ts';
import { bulletList, commandItem, machineItem, momentsItem } from '../report/run-items.ts';
import type { Lines } from '../results/result-file.ts';
import { mean } from '../results/statistics.ts';
import { RESTART_BEFORE, type SimPlan } from './run-sim.ts';
import { KNOWLEDGE, type Knowledge, RESTARTS, type SimLine } from './sim-line.ts';

/** Windows before and behind a restart that are held against each other. */
const AROUND = 3;
/** A master that was started again is to be ready within so long. */
const MOST_READY_SECONDS = 5;

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;

/** The page of a simulation: regret by knowledge, and over time. */
export function simPage({ info, lines }: Lines<SimLine>, plan: SimPlan): string {
  const of = (knowledge: Knowledge) => lines.filter((line) => line.knowledge === knowledge);
  const ids = plan.knowledge;
  const windows = [...new Set(lines.map(({ window }) => window))];
  const parts = [
    '# A drawn internet, planned by the real planner',
    `How far from the best way are plans for ${plan.downloads} downloads in ${plan.hours} hours, over ${plan.depots} depots, from ${plan.origins} origins to ${plan.prefixes} client networks, by what the planner goes by?`,
    '## How it was made',
    bulletList([
      'No packets: times come from the models that the planner has, too, so that regret is of knowledge and search alone',
      'Regret: time of the plan over time of the best way that the oracle found at that moment (direct, and chains of up to three of the depots that lie best), less 1; score: the inverse, in the mean',
      ...ids.map((id) => `\`${id}\`: ${KNOWLEDGE[id]}`),
      `The master is a process of its own, and keeps what it learns as masters do. In the middle: ${RESTARTS[plan.restart]}`,
      commandItem(info),
      momentsItem(info),
      machineItem(info),
    ]),
    '## By knowledge',
    markdownTable(
      [
        'knowledge',
        'regret, mean',
        'median',
        'p90',
        'score',
        'score of direct',
        'chains',
        'best chains',
        'prediction off by',
        'plan',
        'worst plan',
        'CPU',
        'memory',
        'measuring',
      ],
      ids.map((id) => {
        const own = of(id);
        const average = (figure: (line: SimLine) => number) => mean(own.map(figure));
        return [
          id,
          percent(average(({ regret }) => regret.mean)),
          percent(average(({ regret }) => regret.median)),
          percent(average(({ regret }) => regret.p90)),
          average(({ score }) => score).toFixed(3),
          average(({ directScore }) => directScore).toFixed(3),
          percent(average(({ chainShare }) => chainShare)),
          percent(average(({ bestChainShare }) => bestChainShare)),
          percent(average(({ predictionError }) => predictionError)),
          `${average(({ planMs }) => planMs.median).toFixed(2)} ms`,
          `${Math.max(...own.map(({ planMs }) => planMs.worst)).toFixed(0)} ms`,
          `${own.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0).toFixed(1)} s`,
          formatBytes(Math.max(...own.map(({ residentBytes }) => residentBytes))),
          formatBytes(own.reduce((sum, { measuringBytes }) => sum + measuringBytes, 0)),
        ];
      }),
      { textColumns: 1 },
    ),
    ...restartParts(lines, ids),
    '## Mean regret by how the origin sends',
    markdownTable(
      ['knowledge', 'CUBIC', 'BBR', 'holds connections back'],
      ids.map((id) => [
        id,
        ...(['cubic', 'bbr', 'held'] as const).map((sends) => {
          const met = of(id).filter(({ byOrigin }) => byOrigin[sends] > 0);
          return percent(mean(met.map(({ byOrigin }) => byOrigin[sends])));
        }),
      ]),
      { textColumns: 1 },
    ),
    '## Mean regret over time',
    markdownTable(
      ['hours', ...ids],
      windows.map((window) => [
        String(Math.round(lines.find((line) => line.window === window)?.toHours ?? 0)),
        ...ids.map((id) => percent(of(id).find((line) => line.window === window)?.regret.mean ?? Number.NaN)),
      ]),
      { textColumns: 0 },
    ),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** What a restart cost; nothing where there was none. */
function restartParts(lines: readonly SimLine[], ids: readonly Knowledge[]): string[] {
  const rows = ids.flatMap((id) => {
    const own = lines.filter(({ knowledge }) => knowledge === id);
    const restart = own.find((line) => line.window === RESTART_BEFORE)?.restart;
    if (!restart) return [];
    const around = (from: number, figure: (line: SimLine) => number) =>
      percent(mean(own.filter(({ window }) => window >= from && window < from + AROUND).map(figure)));
    const [before, after] = [RESTART_BEFORE - AROUND, RESTART_BEFORE];
    return [
      [
        id,
        `${restart.readySeconds.toFixed(2)} s`,
        String(restart.facts),
        String(restart.refused),
        formatBytes(restart.fileBytes),
        `${restart.saveSeconds.toFixed(2)} s`,
        ...[before, after].map((from) => around(from, ({ regret }) => regret.median)),
        ...[before, after].map((from) => around(from, ({ chainShare }) => chainShare)),
      ],
    ];
  });
  if (rows.length === 0) return [];
  return [
    '## The restart',
    `Regret in the median, and chains, in the ${AROUND} windows before it and behind it; ready again within ${MOST_READY_SECONDS} s is the target.`,
    markdownTable(
      [
        'knowledge',
        'ready again',
        'facts kept',
        'refused',
        'file',
        'written in',
        'regret before',
        'behind',
        'chains before',
        'behind',
      ],
      rows,
      { textColumns: 1 },
    ),
  ];
}
