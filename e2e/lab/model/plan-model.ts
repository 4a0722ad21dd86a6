import { refusal } from '../options.ts';
import { seededRandom } from '../results/seeded-random.ts';
import type { TransferLine } from '../results/transfer-line.ts';
import { estimateRun } from '../run/estimate-run.ts';
import { type PlannedTransfer, planRun, type RunPlan, shuffled } from '../run/plan-run.ts';
import { assignLinks, type LegTransfer } from './assign-links.ts';
import { drawnExperiment } from './drawn-chains.ts';
import { GRID_CELLS, type GridCell, LEG_VARIANT } from './grid-cells.ts';

export interface ModelOptions {
  readonly isQuick: boolean;
  /** Transfers of each cell of the grid. */
  readonly repeats: number;
  /** Transfers of each way of a drawn topology. */
  readonly drawnRepeats: number;
  readonly topologies: number;
  /** Only conditions whose id has one of these in it; left out: all. */
  readonly scenarios?: readonly string[];
  readonly cutSeconds: number;
  readonly atOnce: number;
  readonly seed: number;
}

/** What is run, and in which order. */
export interface ModelPlan {
  readonly options: ModelOptions;
  readonly legs: readonly LegTransfer[];
  /** Of the drawn topologies; undefined where none is wanted. */
  readonly drawn: RunPlan | undefined;
  readonly transferCount: number;
}

/** Decides it; throws a refusal where nothing is left. */
export function planModel(options: ModelOptions): ModelPlan {
  const isWanted = (id: string) => options.scenarios?.some((part) => id.includes(part)) ?? true;
  const cells = GRID_CELLS.filter(
    (cell) => isWanted(cell.scenario.id) && (!options.isQuick || isQuick(cell)),
  );
  const random = seededRandom(options.seed);
  const legs = Array.from({ length: options.repeats }, (_, at) => at + 1).flatMap((repeat) =>
    shuffled(cells, random).map((cell) => ({ cell, repeat })),
  );
  const experiment = drawnExperiment(options.seed, options.topologies);
  const scenarios = experiment.scenarios.filter(({ id }) => isWanted(id));
  const { drawnRepeats, cutSeconds, seed } = options;
  const drawn =
    scenarios.length > 0
      ? planRun({ ...experiment, scenarios }, { quick: false, repeats: drawnRepeats, cutSeconds, seed })
      : undefined;
  const transferCount = legs.length + (drawn?.transferCount ?? 0);
  if (transferCount === 0) throw refusal('none of the conditions that are left has such an id.');
  return { options, legs, drawn, transferCount };
}

/** A file of 3 MB tells most, in little time. */
function isQuick({ sizeBytes, rttMs }: GridCell): boolean {
  return sizeBytes > 1e6 && sizeBytes < 10e6 && (rttMs === 10 || rttMs === 80);
}

/** What of a plan is left when these lines are there. */
export function leftOf(plan: ModelPlan, lines: readonly TransferLine[]) {
  const keyOf = (scenario: string, variant: string, repeat: number) => `${scenario} ${variant} ${repeat}`;
  const done = new Set(lines.map(({ scenario, variant, repeat }) => keyOf(scenario, variant, repeat)));
  return {
    legs: plan.legs.filter(({ cell, repeat }) => !done.has(keyOf(cell.scenario.id, LEG_VARIANT, repeat))),
    isDone: ({ scenario, variant, repeat }: PlannedTransfer) => done.has(keyOf(scenario.id, variant, repeat)),
  };
}

/** Seconds that a plan takes, about: of the grid and of the drawn topologies. */
export function estimateModel({ legs, drawn, options }: ModelPlan): {
  readonly grid: number;
  readonly drawn: number;
} {
  return {
    grid: Math.max(0, ...assignLinks(legs, options.atOnce).map(({ seconds }) => seconds)),
    drawn: drawn ? estimateRun(drawn).likelySeconds : 0,
  };
}
