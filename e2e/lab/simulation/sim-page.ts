import { formatBytes } from '@longhaul/shared';
import { markdownTable } from '../report/markdown-table.ts';
import { bulletList, commandItem, machineItem, momentsItem } from '../report/run-items.ts';
import type { Lines } from '../results/result-file.ts';
import { max, mean } from '../results/statistics.ts';
import { RESTART_BEFORE } from './run-sim.ts';
import {
  isTold,
  KNOWLEDGE,
  KNOWLEDGE_IDS,
  type Knowledge,
  RESTARTS,
  type SimLine,
  type ToldLine,
} from './sim-line.ts';
import { HEAP_MB } from './simulated-master.ts';
import { USUAL_SHAPE } from './world.ts';

/** Parts of a run, at its end, that show what is learned. */
const LAST = 5;
/** Windows before and behind a restart that are held against each other. */
const AROUND = 3;
/** What is wanted of a master and its overlay. */
const TARGET = {
  /** A master that was started again is ready within so long. */
  readySeconds: 5,
  residentBytes: 512e6,
  /** Of a core, whatever downloads there are. */
  cores: 0.1,
  /** Of the bytes that downloads carried, and so many an hour for each depot. */
  measuring: { share: 0.01, bytesPerDepotHour: 20e6 },
  /** Of the score, by lies of others. */
  lost: 0.1,
} as const;

const percent = (share: number) => fixed(100 * share, 1, ' %');

/** Nothing where there is nothing to tell. */
function fixed(value: number, decimals: number, unit = ''): string {
  return Number.isFinite(value) ? `${value.toFixed(decimals)}${unit}` : '';
}

/** The page of a simulation: regret by knowledge, and over time. */
export function simPage({ info, lines }: Lines<SimLine>): string {
  const [first] = lines;
  if (!first) throw new Error('there is nothing to make a page of');
  const { world } = first;
  const of = (knowledge: Knowledge) => lines.filter((line) => line.knowledge === knowledge);
  const told = (knowledge: Knowledge) => of(knowledge).filter(isTold);
  const untold = lines.filter((line) => !isTold(line)).length;
  const ids = KNOWLEDGE_IDS.filter((id) => of(id).length > 0);
  const windows = [...new Set(lines.map(({ window }) => window))];
  const parts = [
    '# A drawn internet, planned by the real planner',
    `How far from the best way are plans for ${world.downloads} downloads in ${world.hours} hours, over ${world.depots} depots, from ${world.origins} origins to ${world.prefixes} client networks, by what the planner goes by?`,
    ...seen(lines),
    '## How it was made',
    bulletList([
      'No packets: times come from the models that the planner has, too, so that regret is of knowledge and search alone',
      'Regret: time of the plan over time of the best way that the oracle found at that moment (direct, and chains of up to three of the depots that lie best), less 1; score: the inverse, in the mean',
      ...shapeItems(world),
      ...ids.map((id) => `\`${id}\`: ${KNOWLEDGE[id]}`),
      ...(untold > 0
        ? [`In ${untold} of ${lines.length} parts nobody downloaded who does not lie: these have no figures`]
        : []),
      `The master is a process of its own with a heap of ${HEAP_MB} MB, and keeps what it learns as masters do. In the middle: ${RESTARTS[world.restart]}`,
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
        const average = (figure: (line: ToldLine) => number) => mean(told(id).map(figure));
        return [
          id,
          percent(average(({ regret }) => regret.mean)),
          percent(average(({ regret }) => regret.median)),
          percent(average(({ regret }) => regret.p90)),
          fixed(
            average(({ score }) => score),
            3,
          ),
          fixed(
            average(({ directScore }) => directScore),
            3,
          ),
          percent(average(({ chainShare }) => chainShare)),
          percent(average(({ bestChainShare }) => bestChainShare)),
          percent(average(({ predictionError }) => predictionError)),
          fixed(
            average(({ planMs }) => planMs.median),
            2,
            ' ms',
          ),
          fixed(max(told(id).map(({ planMs }) => planMs.worst)), 0, ' ms'),
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
          const met = told(id).filter(({ byOrigin }) => byOrigin[sends] > 0);
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
        ...ids.map((id) =>
          percent(told(id).find((line) => line.window === window)?.regret.mean ?? Number.NaN),
        ),
      ]),
      { textColumns: 0 },
    ),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** What is not as usual of where depots and origins stand. */
function shapeItems({ shape = USUAL_SHAPE }: SimLine['world']): string[] {
  const { contentPercent, localPercent, depotCities } = shape;
  return [
    ...(contentPercent > 0
      ? [
          `Of a hundred origins ${contentPercent} are content networks: everybody meets the nearest of their servers`,
        ]
      : []),
    ...(localPercent > 0
      ? [
          `Of a hundred origins ${localPercent} stand in the city of a client network that often asks for them`,
        ]
      : []),
    ...(depotCities < USUAL_SHAPE.depotCities ? [`Depots stand in no more than ${depotCities} cities`] : []),
  ];
}

/** What a master that measures came to, beside what is wanted; nothing where none did. */
function seen(lines: readonly SimLine[]): string[] {
  const of = (knowledge: Knowledge) => lines.filter((line) => line.knowledge === knowledge);
  const [own, honest] = [of('measured'), of('honest')];
  const told = own.filter(isTold);
  const windows = new Set(told.map(({ window }) => window));
  const [first] = told;
  if (!first) return [];
  const sum = (figure: (line: SimLine) => number) => own.reduce((all, line) => all + figure(line), 0);
  const scoreOf = (some: readonly ToldLine[]) => mean(some.map(({ score }) => score));
  const { depots, hours } = first.world;
  const { share, bytesPerDepotHour } = TARGET.measuring;
  const mayMeasure = share * sum(({ carriedBytes }) => carriedBytes) + bytesPerDepotHour * depots * hours;
  const measured = sum(({ measuringBytes }) => measuringBytes);
  const resident = Math.max(...own.map(({ residentBytes }) => residentBytes));
  const cores = sum(({ cpuSeconds }) => cpuSeconds) / (hours * 3600);
  const restart = own.find((line) => line.restart)?.restart;
  const last = told.slice(-LAST);
  const besides = honest.filter(isTold).filter(({ window }) => windows.has(window));
  const lost = 1 - scoreOf(told) / scoreOf(besides);
  return [
    '## What is seen',
    bulletList([
      `With nothing typed in, plans of the last ${last.length} of ${told.length} parts have ${scoreOf(last).toFixed(2)} of what the oracle has in the mean, always direct ${mean(last.map(({ directScore }) => directScore)).toFixed(2)}; regret ${percent(mean(last.map(({ regret }) => regret.median)))} in the median`,
      ...(honest.length === own.length
        ? [
            `Lies cost those who do not lie ${percent(lost)} of that (at most ${percent(TARGET.lost)} wanted): ${verdict(lost <= TARGET.lost)}`,
          ]
        : []),
      `Measuring took ${formatBytes(measured)} (at most ${formatBytes(mayMeasure)} wanted): ${verdict(measured <= mayMeasure)}`,
      `The master held ${formatBytes(resident)} (at most ${formatBytes(TARGET.residentBytes)} wanted): ${verdict(resident <= TARGET.residentBytes)}`,
      `It took ${cores.toFixed(4)} of a core, plans included (at most ${TARGET.cores} wanted): ${verdict(cores <= TARGET.cores)}`,
      ...(restart
        ? [
            `Started again it was ready after ${restart.readySeconds.toFixed(2)} s, with ${restart.facts} facts (at most ${TARGET.readySeconds} s wanted): ${verdict(restart.readySeconds <= TARGET.readySeconds)}`,
          ]
        : []),
    ]),
  ];
}

const verdict = (isMet: boolean): string => (isMet ? 'met' : 'missed');

/** What a restart cost; nothing where there was none. */
function restartParts(lines: readonly SimLine[], ids: readonly Knowledge[]): string[] {
  const rows = ids.flatMap((id) => {
    const own = lines.filter(({ knowledge }) => knowledge === id);
    const restart = own.find((line) => line.window === RESTART_BEFORE)?.restart;
    if (!restart) return [];
    const told = own.filter(isTold);
    const around = (from: number, figure: (line: ToldLine) => number) =>
      percent(mean(told.filter(({ window }) => window >= from && window < from + AROUND).map(figure)));
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
    `Regret in the median, and chains, in the ${AROUND} windows before it and behind it; ready again within ${TARGET.readySeconds} s is the target.`,
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
