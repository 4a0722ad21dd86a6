import type { Scenario, Variant } from '../experiment.ts';
import { boundBps, predictedBps } from '../experiments/predictions.ts';
import { LONGEST_TRANSFER_SECONDS } from '../transfers/transfer.ts';
import { LEARNING_DOWNLOADS, type RunPlan, type Stint } from './plan-run.ts';

/** Between two transfers: clients start and end, links settle, counters are read. As measured on two cores. */
const BETWEEN_SECONDS = 1.2;
/** More where cross traffic begins anew before each transfer. */
const TRAFFIC_SECONDS = 2.2;
/** A network with its hosts comes up and goes down. */
const SET_UP_SECONDS = 12;
/** Another scenario's turn: its master begins anew. */
const TURN_SECONDS = 2;
/** Where no model knows a way, it takes so many times as long as nothing could. */
const UNKNOWN_FACTOR = 2;

export interface RunEstimate {
  /** As the models have it; about. */
  readonly likelySeconds: number;
  /** If every transfer were cut; Infinity where none shall be. */
  readonly mostSeconds: number;
}

/** How long a run takes: transfers by what each takes or by the cut, and set-up. */
export function estimateRun(plan: RunPlan): RunEstimate {
  const cutSeconds = plan.cutSeconds ?? LONGEST_TRANSFER_SECONDS;
  const overhead = plan.stints.reduce((sum, stint) => sum + overheadOf(stint), 0);
  const transfers = plan.stints.flatMap(({ turns }) => turns.flatMap((turn) => turn.transfers));
  const likely = transfers.reduce((sum, { scenario, variant }) => {
    const way = scenario.variants[variant];
    const runs = scenario.start === 'warm' ? 2 : 1;
    return sum + (way ? runs * Math.min(cutSeconds, secondsOf(scenario, way)) : 0);
  }, 0);
  const mostSeconds =
    plan.cutSeconds === null ? Number.POSITIVE_INFINITY : transfers.length * cutSeconds + overhead;
  return { likelySeconds: likely + overhead, mostSeconds };
}

function secondsOf(scenario: Scenario, variant: Variant): number {
  const bits = scenario.sizeBytes * 8;
  const isModelled = variant.kind === 'direct' || variant.kind === 'chain';
  const knownBps = isModelled ? predictedBps(scenario, variant) : undefined;
  return knownBps === undefined ? (UNKNOWN_FACTOR * bits) / boundBps(scenario) : bits / knownBps;
}

/** A download that the planner leads before those that are measured; where it leads none, nothing. */
function learningSeconds(scenario: Scenario): number {
  return Math.max(
    0,
    ...Object.values(scenario.variants).map((way) => (way.kind === 'auto' ? secondsOf(scenario, way) : 0)),
  );
}

function overheadOf({ turns }: Stint): number {
  return turns.reduce((sum, { scenario, transfers }) => {
    const each = BETWEEN_SECONDS + (scenario.crossTraffic?.length ? TRAFFIC_SECONDS : 0);
    const learned = scenario.isUntold ? LEARNING_DOWNLOADS * (each + learningSeconds(scenario)) : 0;
    return sum + TURN_SECONDS + learned + transfers.length * each;
  }, SET_UP_SECONDS);
}
