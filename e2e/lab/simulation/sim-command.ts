import { resolve } from 'node:path';
import { listOf, readCommand, refuseMistakes, wholeNumber } from '../options.ts';
import { openRun, placesOf } from '../results/open-run.ts';
import { fingerprintOf } from '../results/run-info.ts';
import { openDecisionFile } from './decision-file.ts';
import { finishedKnowledge, runSim, type SimPlan } from './run-sim.ts';
import { KNOWLEDGE, KNOWLEDGE_IDS, RESTART_IDS, RESTARTS, simLineSchema } from './sim-line.ts';
import { USUAL_SHAPE } from './world.ts';
import { writeSimReport } from './write-sim-report.ts';

export interface SimCommand {
  readonly kind: 'sim';
  readonly plan: SimPlan;
  readonly resultFile: string | undefined;
  readonly outFolder: string | undefined;
  /** Where each decision goes, with what was believed and what was true. */
  readonly decisionsFile: string | undefined;
}

export const SIM_NAME = 'sim:map';

const OPTIONS = {
  depots: { type: 'string' },
  prefixes: { type: 'string' },
  origins: { type: 'string' },
  downloads: { type: 'string' },
  hours: { type: 'string' },
  seed: { type: 'string' },
  'content-percent': { type: 'string' },
  'local-percent': { type: 'string' },
  'depot-cities': { type: 'string' },
  knowledge: { type: 'string' },
  restart: { type: 'string' },
  json: { type: 'string' },
  out: { type: 'string' },
  decisions: { type: 'string' },
} as const;

type NumberOption = Exclude<keyof typeof OPTIONS, 'knowledge' | 'restart' | 'json' | 'out' | 'decisions'>;

/** What is simulated when nothing is said: as much as is over in a minute. */
const PRESETS: Readonly<Record<NumberOption, number>> = {
  depots: 12,
  prefixes: 2000,
  origins: 500,
  downloads: 2000,
  hours: 48,
  seed: 1,
  'content-percent': USUAL_SHAPE.contentPercent,
  'local-percent': USUAL_SHAPE.localPercent,
  'depot-cities': USUAL_SHAPE.depotCities,
};

/** What stands in the lab's usage text. */
export const SIM_USAGE = `       npm run lab -- ${SIM_NAME} [options]

${SIM_NAME}: a drawn internet without packets, through the real planner: regret against an oracle. Options, with their defaults:
${Object.entries(PRESETS)
  .map(([name, preset]) => `  --${name} ${preset}`)
  .join('\n')}
  --knowledge a,b   what the planner goes by (default all):
${KNOWLEDGE_IDS.map((id) => `    ${id.padEnd(9)} ${KNOWLEDGE[id]}`).join('\n')}
  --decisions file  one line of JSON per decision: what was believed, what was true, what it cost
  --restart keep    what becomes of the master in the middle:
${RESTART_IDS.map((id) => `    ${id.padEnd(9)} ${RESTARTS[id]}`).join('\n')}
`;

/** Reads what stands behind `sim:map`. Throws `lab-input-invalid` that lists every mistake. */
export function readSimCommand(args: readonly string[]): SimCommand {
  const { values, mistakes } = readCommand(args, OPTIONS, 'lab');
  const whole = (option: NumberOption, least: number, most: number) =>
    wholeNumber({ option, text: values[option] ?? String(PRESETS[option]), least, most }, mistakes);
  const knowledge = (listOf(values.knowledge) ?? KNOWLEDGE_IDS).flatMap((name) => {
    const known = KNOWLEDGE_IDS.find((id) => id === name);
    if (!known) mistakes.push(`there is no knowledge '${name}'; choose from ${KNOWLEDGE_IDS.join(', ')}`);
    return known ?? [];
  });
  const restart = RESTART_IDS.find((id) => id === (values.restart ?? 'keep'));
  if (!restart) mistakes.push(`--restart takes ${RESTART_IDS.join(', ')}, not '${values.restart}'`);
  const plan = {
    depots: whole('depots', 1, 1000),
    prefixes: whole('prefixes', 1, 1_000_000),
    origins: whole('origins', 1, 100_000),
    downloads: whole('downloads', 20, 10_000_000),
    hours: whole('hours', 1, 10_000),
    seed: whole('seed', 0, 2 ** 32 - 1),
    shape: {
      contentPercent: whole('content-percent', 0, 100),
      localPercent: whole('local-percent', 0, 100),
      depotCities: whole('depot-cities', 1, USUAL_SHAPE.depotCities),
    },
    knowledge,
    restart: restart ?? 'keep',
  };
  refuseMistakes(mistakes);
  return {
    kind: 'sim',
    plan,
    resultFile: values.json,
    outFolder: values.out,
    decisionsFile: values.decisions,
  };
}

/** Runs the simulation and gives its page. */
export async function simulate(
  { plan, resultFile, outFolder, decisionsFile }: SimCommand,
  folder: string,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const places = placesOf({ resultFile, outFolder }, folder, 'sim-map');
  const file = openRun({
    places,
    script: 'lab',
    experiment: SIM_NAME,
    planFingerprint: fingerprintOf(plan),
    options: { repeat: 1, seed: plan.seed },
    schema: simLineSchema,
  });
  const decisions =
    decisionsFile === undefined
      ? undefined
      : await openDecisionFile(resolve(decisionsFile), finishedKnowledge(file.lines));
  try {
    await runSim({ plan, file, say, signal, onDecision: decisions?.append });
    file.finish();
  } finally {
    decisions?.close();
    file.close();
  }
  return writeSimReport(places.resultFile, places.outFolder);
}
