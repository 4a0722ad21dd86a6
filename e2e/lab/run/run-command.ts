import { type Experiment, rivalOf } from '../experiment.ts';
import { reportPlanOf } from '../experiments/report-plan-of.ts';
import { writeReport } from '../report/write-report.ts';
import { labObstacle } from '../requirements.ts';
import { openRun, placesOf } from '../results/open-run.ts';
import { progressLine, secondsLeft } from '../results/progress.ts';
import { transferLineSchema } from '../results/read-lines.ts';
import { checkPrograms } from './check-programs.ts';
import { checkScenarios } from './check-scenarios.ts';
import { estimateRun } from './estimate-run.ts';
import { type PlannedTransfer, planRun, type RunOptions, type RunPlan } from './plan-run.ts';
import { runExperiment } from './run-experiment.ts';

export interface RunCommand {
  readonly kind: 'run';
  readonly experiment: Experiment;
  readonly options: RunOptions;
  /** Only tells what would be run, and for how long. */
  readonly isDry: boolean;
  readonly resultFile: string | undefined;
  readonly outFolder: string | undefined;
}

const RIVALS_NOTE =
  'Rivals at the depots’ sites: `haproxy3` is HAProxy in TCP mode with splice, TLS passes through it; `haproxy3-kept` is HAProxy in HTTP mode with splice, and `nginx3` nginx with buffers for far paths: both keep their connections to the next relay and to the origin from one transfer to the next, and end the client’s TLS as depots do. `-ranges8` and `-aria2-16` are eight ranges and `aria2c -x16 -s16` through them; each of these has relays of its own.';
const MEASURED_NOTE =
  'No link was told to the master, nor what the origin sends with. Each scenario had a fresh overlay, which planned ten downloads that are not shown; then it knew what its depots had measured by all transfers so far, chains by hand among them.';

/** Runs the experiment and gives the path of its page; undefined where nothing was to be run. */
export async function measureExperiment(
  { experiment, options, isDry, resultFile, outFolder }: RunCommand,
  folder: string,
  say: (text: string) => void,
  signal: AbortSignal,
): Promise<string | undefined> {
  const plan = planRun(experiment, options);
  checkScenarios(plan.scenarios);
  say(estimated(plan));
  if (isDry) return undefined;
  const programs = checkPrograms(plan);
  const obstacle = labObstacle();
  if (obstacle) throw obstacle;
  const places = placesOf({ resultFile, outFolder }, folder, experiment.name);
  const result = openRun({
    places,
    script: 'lab',
    experiment: experiment.name,
    planFingerprint: plan.fingerprint,
    ...notesOf(plan),
    options: {
      repeat: plan.repeats,
      quick: options.quick,
      ...(options.set === undefined ? {} : { set: options.set }),
      cutSeconds: plan.cutSeconds,
      seed: options.seed,
    },
    programs,
    schema: transferLineSchema,
  });
  const done = [...result.lines];
  const keyOf = ({ scenario, variant, repeat }: { scenario: string; variant: string; repeat: number }) =>
    JSON.stringify([scenario, variant, repeat]);
  const known = new Set(done.map(keyOf));
  const isDone = ({ scenario, variant, repeat }: PlannedTransfer) =>
    known.has(keyOf({ scenario: scenario.id, variant, repeat }));
  const pending = plan.stints
    .flatMap(({ turns }) => turns.flatMap(({ transfers }) => transfers))
    .filter((transfer) => !isDone(transfer))
    .map(({ scenario, variant }) => ({ scenario: scenario.id, variant }));
  if (done.length > 0) say(`going on after ${done.length} of ${plan.transferCount} transfers`);

  let overheadSeconds = 0;
  const started = performance.now();
  await runExperiment(plan, isDone, {
    signal,
    onPhase: say,
    onTransfer: (line) => {
      result.append(line);
      done.push(line);
      pending.splice(
        pending.findIndex(({ scenario, variant }) => scenario === line.scenario && variant === line.variant),
        1,
      );
      const made = done.slice(result.lines.length);
      const transferring = made.reduce((sum, { seconds }) => sum + seconds, 0);
      overheadSeconds = ((performance.now() - started) / 1000 - transferring) / made.length;
      say(progressLine(line, done.length, plan.transferCount, secondsLeft(done, pending, overheadSeconds)));
    },
  });
  result.finish();
  const { resultFile: file, outFolder: out } = places;
  return writeReport({ resultFiles: [file], plan: reportPlanOf(experiment), outFolder: out }).page;
}

/**
 * What stands for this run and not for those before it: how rivals are configured, see `hosts`, and what the
 * master is told.
 */
function notesOf({ stints, scenarios }: RunPlan): { notes?: string[] } {
  const used = new Set(stints.flatMap(({ variants }) => variants));
  const ways = scenarios.flatMap(({ variants }) => Object.entries(variants));
  const hasRivals = ways.some(([id, way]) => used.has(id) && rivalOf(way) !== undefined);
  const isMeasured = scenarios.some(({ isUntold }) => isUntold);
  const notes = [...(hasRivals ? [RIVALS_NOTE] : []), ...(isMeasured ? [MEASURED_NOTE] : [])];
  return notes.length > 0 ? { notes } : {};
}

/** Said before anything begins, so that nobody is surprised. */
function estimated(plan: RunPlan): string {
  const { likelySeconds, mostSeconds } = estimateRun(plan);
  const most = Number.isFinite(mostSeconds)
    ? `, at most ${formatHours(mostSeconds)} if every one were cut`
    : '';
  return `${plan.transferCount} transfers in ${plan.scenarios.length} scenarios: about ${formatHours(likelySeconds)}${most}`;
}

function formatHours(seconds: number): string {
  const minutes = Math.max(1, Math.round(seconds / 60));
  return minutes < 90 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
